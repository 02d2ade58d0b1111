// A benchmark's load: what it measures of a service that answers nothing in time.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it, vi } from "vitest";
import { Load } from "../../../src/cli/commands/bench/load.ts";
import { OutcomeLog } from "../../../src/cli/commands/bench/outcome-log.ts";
import { SignedRequests } from "../../../src/cli/commands/bench/signed-requests.ts";
import type { BenchRequest } from "../../../src/cli/commands/bench/workload.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** Sends 1,000 requests; when the first is answered, a minute has passed. */
async function loadWithoutTime(status: number): Promise<Load> {
  const now = performance.now.bind(performance);
  const server = createServer((_, outgoing) => {
    vi.spyOn(performance, "now").mockImplementation(() => now() + 60_000);
    outgoing.writeHead(status).end("{}");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const request = (): BenchRequest => ({ method: "GET", target: "/", body: "" });
  const connection = { url, apiKey: "key", apiSecret: "secret", ledger: null };
  const requests = new SignedRequests(connection, request);
  const workload = {
    described: {},
    writesPerRequest: 1,
    request,
    verify: () => Promise.resolve({ checks: [], notChecked: [] }),
  };
  const settings = { rate: 1_000, durationMs: 1_000, connections: 1 };
  const outcomes = new OutcomeLog(1);
  const load = new Load(settings, { url: new URL(url), requests, outcomes, workload });
  await load.run();
  server.close();
  return load;
}

it("counts the waits of requests that were never sent", async () => {
  const load = await loadWithoutTime(200);
  expect([load.acknowledged, load.unsent]).toEqual([1, 999]);
  expect(load.latencyMs.p50).toBeGreaterThan(59_000);
  expect(load.latencyMs.max).toBeGreaterThanOrEqual(load.latencyMs.p50);
});

it("has latencies of 0 where nothing was acknowledged", async () => {
  const load = await loadWithoutTime(500);
  expect([load.acknowledged, load.unsent]).toEqual([0, 999]);
  expect(load.latencyMs).toEqual({ p50: 0, p90: 0, p99: 0, "p99.9": 0, max: 0 });
});
