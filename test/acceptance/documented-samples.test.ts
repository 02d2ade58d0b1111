// The code samples of /openapi.json, which /docs shows, are run as they stand against the server that gave them out: those
// for a shell by `sh` with `ledgerctl` and curl, those for Node.js with the package's client. Each has a ledger of its own.
import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LedgerClient } from "../../src/client/ledger-client.ts";
import { openApiDocument } from "../../src/contract/openapi/document.ts";
import { routes } from "../../src/contract/routes.ts";
import { scopes } from "../../src/core/ledger.ts";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { programCommand } from "../support/server-process.ts";
import type { Credentials } from "../support/signed-request.ts";
import { until } from "../support/until.ts";

interface Operation {
  readonly operationId: keyof typeof routes;
  readonly "x-codeSamples": readonly Sample[];
}

interface Sample {
  readonly lang: "Shell" | "JavaScript";
  readonly source: string;
}

type Samples = readonly (readonly [route: keyof typeof routes, source: string])[];

const settings = { version: "", clockWindowSeconds: 300, limits: [] };

function samplesOf(document: unknown, lang: Sample["lang"]): Samples {
  const { paths } = document as { paths: Record<string, Record<string, Operation>> };
  return Object.values(paths)
    .flatMap((item) => Object.values(item))
    .flatMap((operation) =>
      operation["x-codeSamples"]
        .filter((sample) => sample.lang === lang)
        .map(({ source }) => [operation.operationId, source] as const),
    );
}

let server: BinaryServer;
let key: Credentials;
let client: LedgerClient;
let path: string;

beforeAll(async () => {
  server = await startBinaryServer({
    LEDGERCTL_LOG_KEY: randomBytes(32).toString("base64"),
    LEDGERCTL_CHECKPOINT_INTERVAL_MS: "50",
  });
  key = await server.books.createKey({ scopes });
  client = new LedgerClient({ url: server.url, ...key });
  const bin = join(server.home, "bin");
  mkdirSync(bin);
  const command = programCommand.map((word) => `"${word}"`).join(" ");
  writeFileSync(join(bin, "ledgerctl"), `#!/bin/sh\nexec ${command} "$@"\n`);
  chmodSync(join(bin, "ledgerctl"), 0o755);
  path = `${bin}:${process.env["PATH"] ?? ""}`;
});

afterAll(async () => {
  await client.close();
  expect(await server.stop()).toBe(0);
});

/** What samples name. */
interface Names {
  readonly ledgerId: string;
  readonly entryId: string;
  readonly closeId: string;
  readonly holdId: string;
  readonly deliveryId: string;
}

/** A ledger with all that a sample names, and nothing that it makes. */
async function makeNames(source: string): Promise<Names> {
  const ledgerId = await server.books.createLedger();
  const post = (externalId: string) =>
    client.postEntry(ledgerId, {
      externalId,
      transactionDate: "2026-03-10T00:00:00Z",
      lines: [
        { glAccountCode: "1100", functionalAmount: "700" },
        { glAccountCode: "4000", functionalAmount: "-700" },
      ],
    });
  const { journalId: entryId } = await post("there-1");
  await post("there-2");
  const alice = { ledgerId, callerKey: "alice" };
  await client.creditWallet(alice, { amount: "12500", assetCode: "USD" });
  const hold = { amount: "2500", assetCode: "USD" };
  const { holdId } = await client.reserveFunds(alice, hold);
  const delivery = { url: "https://books.example.com/ledger", events: ["entry"] as const };
  const { id: deliveryId } = await client.createDelivery(ledgerId, {
    ...delivery,
    events: [...delivery.events],
  });
  const names = { ledgerId, entryId, holdId, deliveryId };
  if (!/CLOSE|closeId/.test(source)) return { ...names, closeId: "" };
  const { closeId } = await client.closePeriod(ledgerId, { periodId: "2026-03" });
  return { ...names, closeId };
}

/** Waits until the logs have what a sample about them asks for. */
async function logged({ ledgerId }: Names): Promise<void> {
  await until("a checkpoint of both entries", async () => {
    const { size } = await client.getLog(ledgerId, "journal");
    return size >= 2;
  });
}

/** What a route's reply says beside its schema. */
function expectReply(route: keyof typeof routes, reply: string): void {
  const {
    isText,
    isNdjson,
    reply: schema,
  } = routes[route] as {
    isText?: true;
    isNdjson?: true;
    reply: { safeParse: (value: unknown) => { success: boolean; error?: unknown } };
  };
  if (isText === true) expect(reply).toMatch(/^(c2sp\.org\/tlog-proof@v1|ledgerctl\.invalid\/)/);
  else if (isNdjson === true) expect(reply.trimEnd()).toMatch(/"kind":"trailer".*$/);
  else {
    const value: unknown = JSON.parse(reply, (name, member: unknown) =>
      route === "getBalance" && name === "balance" ? BigInt(member as number) : member,
    );
    const { error, success } = schema.safeParse(value);
    expect(success, `${reply}\n${String(error)}`).toBe(true);
  }
}

const hasCurl = spawnSync("curl", ["--version"]).status === 0;

describe.runIf(hasCurl)("the sample for a shell of", () => {
  test.each(samplesOf(openApiDocument(settings), "Shell"))("%s", async (route, source) => {
    const names = await makeNames(source);
    if (/\/logs\//.test(source)) await logged(names);
    const env = {
      ...server.env,
      PATH: path,
      LEDGERCTL_API_KEY: key.apiKey,
      LEDGERCTL_API_SECRET: key.apiSecret,
      LEDGER: names.ledgerId,
      ENTRY: names.entryId,
      CLOSE: names.closeId,
      HOLD: names.holdId,
      DELIVERY: names.deliveryId,
    };
    const child = spawn("sh", ["-ec", source], { env, stdio: ["ignore", "pipe", "pipe"] });
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect(stderr).toBe("");
    if (routes[route].status === 101) expect(stdout).toMatch(/^X-Signature: [0-9a-f]{64}$/m);
    else expectReply(route, stdout);
  });
});

const AsyncFunction = (async () => Promise.resolve()).constructor as new (
  ...args: string[]
) => (...args: unknown[]) => Promise<void>;

/** Ends a sample that goes on for ever. */
const enough = new Error("it has shown what it follows");

describe("the sample for Node.js of", () => {
  test.each(samplesOf(openApiDocument(settings), "JavaScript"))("%s", async (route, source) => {
    const names = await makeNames(source);
    if (/client\.(getLog|getCheckpoint|getConsistency|listCheckpoints)/.test(source)) {
      await logged(names);
    }
    const printed: unknown[] = [];
    const isEndless = routes[route].status === 101;
    const print = (value: unknown) => {
      printed.push(value);
      if (isEndless) throw enough;
    };
    const given = {
      client,
      ...names,
      console: { log: print },
      process: { stdout: { write: print } },
    };
    const run = new AsyncFunction(...Object.keys(given), source);
    const ended = run(...Object.values(given));
    if (!isEndless) await ended;
    else {
      const hasEnded = expect(ended).rejects.toBe(enough);
      await until("a message", async () => {
        const wallet = { ledgerId: names.ledgerId, callerKey: "alice" };
        await client.creditWallet(wallet, { amount: "1", assetCode: "USD" });
        await client.postEntry(names.ledgerId, {
          lines: [
            { glAccountCode: "1100", functionalAmount: "1" },
            { glAccountCode: "4000", functionalAmount: "-1" },
          ],
        });
        return printed.length > 0;
      });
      await hasEnded;
    }
    expect(printed.length).toBeGreaterThan(0);
    expect(printed[0]).toBeDefined();
  });
});

test("are those that the server gives out, on its page too", async () => {
  const document: unknown = await (await fetch(`${server.url}/openapi.json`)).json();
  const page = await (await fetch(`${server.url}/docs`)).text();
  for (const lang of ["Shell", "JavaScript"] as const) {
    const samples = samplesOf(document, lang);
    expect(samples.map(([route]) => route).sort()).toEqual(Object.keys(routes).sort());
    expect(samples).toEqual(samplesOf(openApiDocument(settings), lang));
    for (const [, source] of samples) {
      const shown = source.replace(/[&<>"]/g, (mark) => `&#${mark.charCodeAt(0)};`);
      expect(page).toContain(shown);
    }
  }
});
