// `bench` of the built binary: that it measures, and that it would find what a service loses. The liar
// in these tests is a proxy between the two.
import { once } from "node:events";
import { createServer, request as forward, type IncomingMessage } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { steadyRate } from "../../src/cli/commands/bench/schedule.ts";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { runStatement } from "../support/database.ts";
import { runCli, startCli, type CliResult } from "../support/cli.ts";

interface Report {
  entries?: number;
  messagesAfterReplyMs?: Record<string, number>;
  overload?: Record<string, number>;
  serverMemoryMib?: Record<string, number>;
  bench: string;
  run: string;
  acknowledged: number;
  requestsPerSecond: number;
  errors: Record<string, number>;
  unsent: number;
  latencyMs: Record<string, number>;
  verification: {
    ok: boolean;
    checks: { name: string; ok: boolean; checked: number; findings: string[] }[];
    notChecked: string[];
  };
}

let server: BinaryServer;

beforeAll(async () => {
  server = await startBinaryServer();
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

const brief = ["--duration", "1s", "--connections", "8"];

function run(args: readonly string[], env = {}): Promise<CliResult> {
  return runCli(["bench", ...args], { env: { ...server.env, ...env } });
}

/** Runs, and gives the report and the exit code. */
async function bench(args: readonly string[], url = server.url): Promise<[Report, number | null]> {
  const { code, stdout, stderr } = await run([...args, "--json"], { LEDGERCTL_URL: url });
  expect(stdout.trim().split("\n"), stderr).toHaveLength(1);
  return [JSON.parse(stdout) as Report, code];
}

describe("measuring and verifying", () => {
  // Before others have posted: a close takes everything up to now.
  it("closes a filled journal while others write, and recomputes the close from its bundle", async () => {
    const pid = ["--server-pid", String(process.pid)];
    const [report, code] = await bench(["closes", "--entries", "1050", ...pid]);
    expect(code).toBe(0);
    expect(report.entries).toBeGreaterThanOrEqual(1_050);
    expect(report.verification.checks.map(({ checked }) => checked)).toEqual([1_050, 1]);
    expect(report.serverMemoryMib?.max).toBeGreaterThan(0);
  });

  it("posts entries at full speed, and finds all of them in the journal and the balances", async () => {
    const [report, code] = await bench(["entries", ...brief, "--accounts", "1000,4000"]);
    expect(code).toBe(0);
    expect(report).toMatchObject({ bench: "entries", errors: {}, unsent: 0, rate: null });
    expect(report).toMatchObject({ accounts: ["1000", "4000"], connections: 8 });
    expect(report.acknowledged).toBeGreaterThan(0);
    const { p50 = 0, p90 = 0, p99 = 0, max = 0 } = report.latencyMs;
    // The last answers come when the second is over, and no later than the slowest takes.
    expect(report.requestsPerSecond).toBeLessThanOrEqual(report.acknowledged);
    expect(report.requestsPerSecond).toBeGreaterThan(report.acknowledged / (1 + max / 1000) - 1);
    expect([0, p50, p90, p99, report.latencyMs["p99.9"], max]).toEqual(
      [0, p50, p90, p99, report.latencyMs["p99.9"] ?? 0, max].sort((a, b) => a - b),
    );
    const { ok, checks, notChecked } = report.verification;
    expect([ok, notChecked]).toEqual([true, []]);
    expect(checks.map(({ checked }) => checked)).toEqual([report.acknowledged, 2]);
    const ours = "SELECT FROM journal_entries WHERE external_id LIKE $1";
    const { LEDGERCTL_DATABASE_URL: url = "" } = server.env;
    expect(await runStatement(url, ours, [`bench-${report.run}-%`])).toBe(report.acknowledged);
  });

  it("writes wallets at a rate, replays their logs and holds them against the ledger", async () => {
    const args = ["wallets", ...brief, "--rate", "100", "--wallets", "20"];
    const [report, code] = await bench(args);
    expect(code).toBe(0);
    expect(report).toMatchObject({ acknowledged: 100, errors: {}, unsent: 0, rate: 100 });
    expect(report).toMatchObject({ wallets: 20 });
    const { ok, checks, notChecked } = report.verification;
    expect([ok, notChecked]).toEqual([true, []]);
    // 20 more: what the wallets were funded with.
    expect(checks.map(({ checked }) => checked)).toEqual([100, 20, 120, 1]);
  });

  it("writes one wallet with --hot, and tells people what they want to know", async () => {
    const { code, stdout, stderr } = await run(["wallets", ...brief, "--hot"]);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^writing to ledger \S+ for real/)]);
    expect(stdout).toMatch(/^load {10}full speed for 1 s on 8 connections$/m);
    expect(stdout).toMatch(/^acknowledged {2}\d+, [\d.]+\/s$/m);
    expect(stdout).toMatch(/^errors {8}none$/m);
    expect(stdout).toMatch(/^latency {7}p50 \S+ ms, p90 .*, p99 .*, p99\.9 .*, max \S+ ms$/m);
    expect(stdout).toMatch(/^verification {2}ok$/m);
    expect(stdout).toMatch(/^ {2}ok {6}logs have no gaps and give the balances \(1\)$/m);
  });

  it("writes in bulk, and looks for every write of a bulk", async () => {
    const args = ["wallets", ...brief, "--rate", "5", "--bulk", "30", "--wallets", "10"];
    const [report, code] = await bench(args);
    expect([code, report.acknowledged, report.errors]).toEqual([0, 5, {}]);
    expect(report).toMatchObject({ bulk: 30 });
    expect(report.verification.checks.map(({ checked }) => checked)).toEqual([150, 10, 160, 1]);
  });

  it("moves amounts between wallets, and finds each transfer in the logs of both", async () => {
    const args = ["transfers", ...brief, "--rate", "100", "--wallets", "20"];
    const [report, code] = await bench(args);
    expect(code).toBe(0);
    expect(report).toMatchObject({
      bench: "transfers",
      acknowledged: 100,
      errors: {},
      wallets: 20,
    });
    const { ok, checks, notChecked } = report.verification;
    expect([ok, notChecked]).toEqual([true, []]);
    // What the wallets were funded with is posted, and nothing else; a transfer has two sides.
    expect(checks.map(({ checked }) => checked)).toEqual([100, 20, 20, 1, 200]);
  });

  it("moves amounts in atomic bulks, and needs two wallets", async () => {
    const bulks = ["--rate", "5", "--bulk", "30", "--atomic", "--wallets", "10"];
    const [report, code] = await bench(["transfers", ...brief, ...bulks]);
    expect([code, report.acknowledged, report.errors]).toEqual([0, 5, {}]);
    expect(report).toMatchObject({ bulk: 30, atomic: true });
    expect(report.verification.checks.map(({ checked }) => checked)).toEqual([150, 10, 10, 1, 300]);
    const alone = await run(["transfers", "--wallets", "1"]);
    expect(alone).toMatchObject({ code: 2, stdout: "" });
  });

  it("posts entries in bulk, and looks for every entry of a bulk", async () => {
    const args = ["entries", ...brief, "--rate", "5", "--bulk", "30"];
    const [report, code] = await bench(args);
    expect([code, report.acknowledged, report.errors]).toEqual([0, 5, {}]);
    expect(report).toMatchObject({ bulk: 30 });
    expect(report.verification.checks.map(({ checked }) => checked)).toEqual([150, 2]);
  });

  it("reads balances without writing", async () => {
    const args = ["wallets", ...brief, "--rate", "50", "--balances", "--wallets", "10"];
    const [report, code] = await bench(args);
    expect([code, report.acknowledged, report.errors]).toEqual([0, 50, {}]);
    expect(report.verification.checks.map(({ checked }) => checked)).toEqual([0, 10, 10, 1]);
  });

  it("reads the streams of the wallets that it writes, and gets a message for each write", async () => {
    const args = ["streams", "--duration", "1s", "--rate", "50", "--wallets", "5"];
    const [report, code] = await bench(args);
    expect([code, report.acknowledged]).toEqual([0, 50]);
    expect(report.verification.checks.at(-1)).toMatchObject({ ok: true, checked: 50 });
    expect(Object.keys(report.messagesAfterReplyMs ?? {})).toEqual(["p50", "p99", "max"]);
  });

  it("sends no write before every wallet's stream is connected", async () => {
    const seen: string[] = [];
    const proxy = await openProxy(server.url, {
      answer: (number) => {
        if (number === 1) seen.push("write");
        return null;
      },
      refuseUpgrade: (number) => {
        seen.push("upgrade");
        return number <= 3;
      },
    });
    const args = ["streams", "--duration", "1s", "--rate", "20", "--wallets", "1"];
    const [report, code] = await bench(args, proxy.url);
    expect([code, report.acknowledged]).toEqual([0, 20]);
    expect(seen).toEqual([...Array<string>(4).fill("upgrade"), "write"]);
  });

  it("overloads with a multiple of what it sustains, and loses nothing by it", async () => {
    const args = ["overload", "--duration", "1s", "--connections", "20", "--wallets", "50"];
    const [report, code] = await bench(args);
    expect(code).toBe(0);
    const { sustainedBefore, overloaded, sustainedAfter, kept } = report.overload ?? {};
    expect(report).toMatchObject({ rate: 2 * Number(sustainedBefore), connections: 20 });
    expect(kept).toBeCloseTo(Number(overloaded) / Number(sustainedBefore), 1);
    expect(sustainedAfter).toBeGreaterThan(0);
    const [lost] = report.verification.checks;
    expect(lost).toMatchObject({ ok: true, findings: [] });
    expect(lost?.checked).toBeGreaterThan(report.acknowledged);
  });

  it("measures from when a request was due: one slow answer is felt by all that wait behind it", async () => {
    const proxy = await openProxy(server.url, {
      delayMs: (number) => (number === 10 ? 1_000 : 0),
    });
    const steady = ["--rate", "50", "--duration", "2s", "--connections", "1"];
    const [report, code] = await bench(["entries", ...steady], proxy.url);
    expect([code, report.acknowledged]).toEqual([0, 100]);
    // Half of all were due within the second in which nothing was answered.
    expect(report.latencyMs["p90"]).toBeGreaterThan(500);
    expect(report.latencyMs["max"]).toBeGreaterThanOrEqual(1_000);
  });
});

describe("what a service does wrong", () => {
  it("ends with 3 and names an entry that was acknowledged and is not there", async () => {
    const made = JSON.stringify({ journalId: "j", persistedAt: "p" });
    const proxy = await openProxy(server.url, { answer: (number) => (number === 7 ? made : null) });
    const [report, code] = await bench(["entries", ...brief, "--rate", "50"], proxy.url);
    expect([code, report.verification.ok]).toEqual([3, false]);
    const [entries, balances] = report.verification.checks;
    expect(entries?.findings).toEqual([
      expect.stringMatching(/^entry \d+ was acknowledged and is lost$/),
    ]);
    // The balances agree with what is there.
    expect(balances?.ok).toBe(true);
  });

  it("ends with 3 and names a wallet write that was acknowledged and is not there", async () => {
    const made = JSON.stringify({ status: "accepted", balance: "1", available: "1" });
    const proxy = await openProxy(server.url, { answer: (number) => (number === 7 ? made : null) });
    const { code, stdout } = await run(["wallets", ...brief, "--rate", "50", "--wallets", "3"], {
      LEDGERCTL_URL: proxy.url,
    });
    expect(code).toBe(3);
    expect(stdout).toMatch(/^verification {2}FAILED$/m);
    expect(stdout).toMatch(/^ {10}write \d+ was acknowledged and is lost$/m);
  });

  it("ends with 3 where a log says something else than was sent", async () => {
    const proxy = await openProxy(server.url, {
      change: (target, text) =>
        target.includes("/history") ? text.replace(/"amount":"2"/, '"amount":"3"') : text,
    });
    const args = ["wallets", ...brief, "--rate", "50", "--hot"];
    const [changed, code] = await bench(args, proxy.url);
    expect(code).toBe(3);
    const findings = changed.verification.checks.flatMap((check) => check.findings).join("\n");
    expect(findings).toMatch(/holds write 1 otherwise than it was sent/);
    expect(findings).toMatch(/says \d+ at seq \d+, replayed \d+/);
    expect(findings).toMatch(/account wallets:USD moved by -\d+, the logs sum to \d+/);
  });

  it("ends with 3 where the log of the wallet that is paid has not what the other one has", async () => {
    const proxy = await openProxy(server.url, {
      change: (target, text) =>
        target.includes("/history")
          ? text.replace('"type":"transfer-in","amount":"2"', '"type":"transfer-in","amount":"3"')
          : text,
    });
    const args = ["transfers", ...brief, "--rate", "20", "--wallets", "2"];
    const [changed, code] = await bench(args, proxy.url);
    expect([code, changed.verification.ok]).toEqual([3, false]);
    const findings = changed.verification.checks.flatMap((check) => check.findings).join("\n");
    // Either log may be read first.
    expect(findings).toMatch(
      /^transfer \S+ has a (?:transfer-in of 3 in (\S+), with (\S+), and not a transfer-in of 2 in \1, with \2|transfer-out of 2 in (\S+), with (\S+), and not a transfer-out of 3 in \3, with \4)$/m,
    );
    expect(findings).toMatch(/says \d+ at seq \d+, replayed \d+/);
  });

  it("ends with 3 where a bundle holds other entries than were closed", async () => {
    const proxy = await openProxy(server.url, {
      change: (target, text) =>
        target.endsWith("/bundle")
          ? text.replaceAll('"externalId":"bench-', '"externalId":"other-')
          : text,
    });
    const [report, code] = await bench(["closes", "--entries", "10"], proxy.url);
    expect([code, report.verification.checks.map(({ ok }) => ok)]).toEqual([3, [false, false]]);
  });

  it("counts an answer that is lost as an error, and lets its write be there or not", async () => {
    const proxy = await openProxy(server.url, { cut: (number) => number === 5 });
    const args = ["wallets", ...brief, "--rate", "50", "--wallets", "20"];
    const [report, code] = await bench(args, proxy.url);
    expect([code, report.errors]).toEqual([0, { "no answer": 1 }]);
    expect(report.acknowledged).toBe(49);
  });

  it("counts errors by status, and ends with 1 where nothing at all was acknowledged", async () => {
    await runCli(["account", "deactivate", "5000"], { env: server.env });
    const args = ["entries", ...brief, "--rate", "20", "--accounts", "1000,5000"];
    const { code, stdout, stderr } = await run([...args, "--json"]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/the first error: 400: .*inactive/)]);
    const report = JSON.parse(stdout) as Report;
    expect([report.acknowledged, report.errors]).toEqual([0, { "400": 20 }]);
    expect(report.verification.ok).toBe(true);
  });
});

describe("how it ends", () => {
  it("ends with 7 where nothing answers, 5 for an unknown ledger or account, 130 on Ctrl-C", async () => {
    const away = await run(["wallets"], { LEDGERCTL_URL: "http://127.0.0.1:1" });
    expect(away).toMatchObject({ code: 7, stdout: "" });
    const nobody = "0190b6a0-0000-7000-8000-000000000001";
    expect((await run(["entries"], { LEDGERCTL_LEDGER: nobody })).code).toBe(5);
    expect((await run(["streams", "--read-url", "http://127.0.0.1:1"])).code).toBe(7);
    expect((await run(["entries", "--accounts", "1000,nowhere"])).code).toBe(5);
    const { child, result } = startCli(["bench", "entries", "--rate", "5"], { env: server.env });
    await once(child.stderr ?? child, "data");
    child.kill("SIGINT");
    expect(await result).toMatchObject({ code: 130, stdout: "" });
  });
});

describe("the schedule", () => {
  it("has requests due at even distances, as many as rate and duration say", () => {
    expect([...steadyRate(1_000, 250, 20)]).toEqual([1_000, 1_050, 1_100, 1_150, 1_200]);
  });

  it("drops what is overdue where that is wanted, and counts it", () => {
    let dropped = 0;
    const schedule = steadyRate(performance.now() - 10_000, 10_000, 20, (count) => {
      dropped += count;
    });
    expect([[...schedule], dropped]).toEqual([[], 200]);
  });
});

interface Lies {
  /** Answers a write itself, without passing it on. */
  answer?: (number: number) => string | null;
  /** Passes a write on and cuts the connection instead of answering. */
  cut?: (number: number) => boolean;
  delayMs?: (number: number) => number;
  /** Cuts the connection of a stream, counted from 1. */
  refuseUpgrade?: (number: number) => boolean;
  /** Changes what the service answered. */
  change?: (target: string, text: string) => string;
}

const proxies: { close(): void }[] = [];

afterEach(() => {
  for (const proxy of proxies.splice(0)) proxy.close();
});

/** An HTTP proxy that lies about single writes; they are counted from 1, bulks aside. */
async function openProxy(upstream: string, lies: Lies): Promise<{ url: string }> {
  let writes = 0;
  const proxy = createServer((incoming, outgoing) => {
    void (async () => {
      const target = incoming.url ?? "";
      const body = await buffer(incoming);
      const isWrite = incoming.method === "POST" && !target.endsWith("/wallet-writes");
      if (isWrite) writes += 1;
      const number = isWrite ? writes : 0;
      const own = lies.answer?.(number) ?? null;
      if (own !== null) {
        outgoing.writeHead(200, { "content-length": Buffer.byteLength(own) }).end(own);
        return;
      }
      const reply = await pass(upstream, incoming, body);
      const text = lies.change?.(target, reply.text) ?? reply.text;
      if (lies.cut?.(number) === true) outgoing.destroy();
      setTimeout(
        () => {
          outgoing.writeHead(reply.status, { "content-type": "application/json" }).end(text);
        },
        lies.delayMs?.(number) ?? 0,
      );
    })();
  });
  let upgrades = 0;
  proxy.on("upgrade", (incoming, socket: Socket) => {
    upgrades += 1;
    if (lies.refuseUpgrade?.(upgrades) === true) socket.destroy();
    else passUpgrade(upstream, incoming, socket);
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  proxies.push({
    close: () => {
      proxy.closeAllConnections();
      proxy.close();
    },
  });
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
}

function passUpgrade(upstream: string, { url, rawHeaders }: IncomingMessage, socket: Socket): void {
  const { hostname, port } = new URL(upstream);
  const lines = [`GET ${url ?? ""} HTTP/1.1`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    lines.push(`${rawHeaders[index]}: ${rawHeaders[index + 1]}`);
  }
  const passed = connect(Number(port), hostname);
  passed.write(`${lines.join("\r\n")}\r\n\r\n`);
  socket.pipe(passed).pipe(socket);
  for (const end of [socket, passed]) end.on("error", () => passed.destroy());
}

function pass(
  upstream: string,
  { method, url, headers }: IncomingMessage,
  body: Buffer,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const request = forward(new URL(url ?? "", upstream), { method, headers }, (response) => {
      void buffer(response).then((bytes) => {
        resolve({ status: response.statusCode ?? 0, text: bytes.toString() });
      });
    });
    request.on("error", reject);
    request.end(body);
  });
}
