// Bundles whose connection breaks before their end: a service that cuts it in the middle of a reply's body.
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LedgerClient, ServiceUnreachable } from "../../src/client/ledger-client.ts";
import { runHere } from "../support/program.ts";

const ledgerId = "01980000-0000-7000-8000-000000000001";
const credentials = { apiKey: "lk_x", apiSecret: "ls_x" };
const folder = mkdtempSync(join(tmpdir(), "ledgerctl-cut-bundles-"));

/** Of the bundle's reply. */
let status = 200;
let isCut = true;
const server = createServer((request: IncomingMessage, response: ServerResponse) => {
  if (request.url?.includes("/bundle") !== true) {
    const closes = [{ closeId: "c1", periodId: "2026-10" }];
    response.end(JSON.stringify({ closes, total: 1, hasMore: false }));
    return;
  }
  response.writeHead(status, { "content-type": "application/x-ndjson" });
  response.write('{"kind":"header"}\n', () => {
    if (isCut) request.socket.destroy();
  });
});
let url = "";
let client: LedgerClient;

beforeAll(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  client = new LedgerClient({ url, ...credentials, retryForMs: 0 });
});

afterAll(async () => {
  await client.close();
  server.close();
  rmSync(folder, { recursive: true });
});

async function readBundle(pauseMs: number): Promise<void> {
  const bytes = await client.streamBundle(ledgerId, "c1");
  await sleep(pauseMs);
  for await (const chunk of bytes) expect(chunk.length).toBeGreaterThan(0);
}

test.each([
  [200, 0],
  [200, 100],
  [503, 0],
])("reading one of status %d after %d ms rejects with ServiceUnreachable", async (given, ms) => {
  status = given;
  await expect(readBundle(ms)).rejects.toThrow(ServiceUnreachable);
});

test("what its reader fails with stays as it is", async () => {
  status = 200;
  isCut = false;
  const bytes = await client.streamBundle(ledgerId, "c1");
  const reader = bytes[Symbol.asyncIterator]();
  await reader.next();
  await expect(reader.throw?.(new RangeError("full"))).rejects.toThrow(RangeError);
  isCut = true;
});

test.each([200, 503])(
  "the command ends with 7 where the status is %d, and leaves no file",
  async (given) => {
    status = given;
    const out = join(folder, "2026-10.ndjson");
    const service = ["--url", url, "--ledger", ledgerId];
    const { code, stderr } = await runHere(["bundle", "2026-10", "--out", out, ...service], {
      LEDGERCTL_API_KEY: credentials.apiKey,
      LEDGERCTL_API_SECRET: credentials.apiSecret,
    });
    expect([code, stderr]).toEqual([7, expect.stringContaining(`no answer from ${url}`)]);
    expect(readdirSync(folder)).toEqual([]);
  },
);
