// Deliveries by real servers to real receivers: what comes, in which order, and what happens where receivers or servers fail.
import { mkdtempSync, rmSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LedgerClient, type Delivery, type DeliveryInput } from "../../src/client/ledger-client.ts";
import type { OpenBooks } from "../support/books.ts";
import { documents, runCli } from "../support/cli.ts";
import { createTestDatabase, runStatement, type TestDatabase } from "../support/database.ts";
import { startDeliveringServers, type DeliveringServers } from "../support/delivering-servers.ts";
import { runHere } from "../support/program.ts";
import {
  acceptingAfter,
  answering,
  onceEach,
  openReceiver,
  type Receiver,
} from "../support/receiver.ts";
import type { ServerProcess } from "../support/server-process.ts";
import { isCluster } from "../support/cluster.ts";
import { dayBefore } from "../support/tampering.ts";
import { until } from "../support/until.ts";

let running: DeliveringServers;
let database: TestDatabase;
let books: OpenBooks;
let servers: ServerProcess[];
let client: LedgerClient;
let env: Record<string, string>;

beforeAll(async () => {
  running = await startDeliveringServers();
  ({ database, books, servers, client, env } = running);
});

afterAll(() => running.end());

const entryOf = (amount: number, transactionDate?: string) => ({
  lines: [
    { glAccountCode: "1000", functionalAmount: String(amount) },
    { glAccountCode: "4000", functionalAmount: String(-amount) },
  ],
  ...(transactionDate === undefined ? {} : { transactionDate }),
});

const deliverTo: DeliveringServers["deliverTo"] = (...given) => running.deliverTo(...given);
const find: DeliveringServers["find"] = (...given) => running.find(...given);

/** A ledger with the accounts that entries here use. */
const newLedger = () => books.createLedger();
const post = (ledgerId: string, amount: number) => client.postEntry(ledgerId, entryOf(amount));
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

const sequencesOf = (receiver: Receiver) =>
  onceEach(receiver.events).map(({ data }) => ("sequence" in data ? data.sequence : null));

describe("a receiver", () => {
  it("gets entries, closes and postings in the order of the journal, from the next one on", async () => {
    const ledgerId = await newLedger();
    await post(ledgerId, 1);
    const receiver = await openReceiver();
    const made = await deliverTo(receiver, ledgerId, { events: ["entry", "close", "posting"] });
    expect(made).toMatchObject({ status: "active", cursor: "1.0", lag: 0, pauseReason: null });
    expect(made.secret).toMatch(/^ds_[A-Za-z0-9_-]{43}$/);
    await client.postEntry(ledgerId, entryOf(7, "2026-01-05T00:00:00Z"));
    const close = await client.closePeriod(ledgerId, { periodId: "2026-01" });
    await client.creditWallet({ ledgerId, callerKey: "a" }, { amount: "5", assetCode: "USD" });
    await receiver.reach(4);
    const [posted, closed, entry, posting] = receiver.events;
    expect(posted).toEqual({
      cursor: "2.0",
      type: "entry",
      data: (await client.listEntries(ledgerId, { after: 1, limit: 1 })).entries[0],
    });
    expect(closed).toEqual({ cursor: "2.1", type: "close", data: close });
    expect([entry?.type, posting?.type, entry?.cursor, posting?.cursor]).toEqual([
      ...["entry", "posting", "3.1", "3.1"],
    ]);
    expect(posting?.data).toEqual(entry?.data);
    await until("the cursor", async () => (await find(ledgerId, made.id)).cursor === "3.1");
    expect(await find(ledgerId, made.id)).toMatchObject({ lag: 0, secret: null, failure: null });
    await receiver.goAway();
  });

  it("gets only the kinds that it asked for, behind the cursor that it named", async () => {
    const ledgerId = await newLedger();
    for (const count of upTo(250))
      if (count % 50 === 0)
        await client.postEntries(
          ledgerId,
          upTo(50).map(() => entryOf(1)),
        );
    await client.closePeriod(ledgerId, { periodId: "2025" });
    const [closes, some] = [await openReceiver(), await openReceiver()];
    const made = await deliverTo(closes, ledgerId, { events: ["close"], since: "0.0" });
    await deliverTo(some, ledgerId, { since: "245.0" });
    await Promise.all([closes.reach(1), some.reach(5)]);
    expect(closes.events.map(({ type, cursor }) => [type, cursor])).toEqual([["close", "0.1"]]);
    expect(sequencesOf(some)).toEqual([246, 247, 248, 249, 250]);
    await until("the end", async () => (await find(ledgerId, made.id)).lag === 0);
    const beyond = client.createDelivery(ledgerId, {
      ...{ url: closes.url, events: ["entry"], since: "251.0" },
    });
    await expect(beyond).rejects.toMatchObject({ status: 400, code: "VALIDATION_ERROR" });
    await Promise.all([closes.goAway(), some.goAway()]);
  });

  it("that is away, answers 500, redirects, changes the protocol, hangs or is slow gets all in order, and holds up no other", async () => {
    const ledgerId = await newLedger();
    const receivers = await Promise.all(upTo(7).map(() => openReceiver()));
    const [away, failing, redirecting, changing, hanging, slow, well] = receivers as [
      ...[Receiver, Receiver, Receiver, Receiver, Receiver, Receiver, Receiver],
    ];
    for (const receiver of receivers) await deliverTo(receiver, ledgerId);
    failing.answer = answering(500);
    redirecting.answer = answering(307, { location: well.url });
    changing.answer = answering(101, { connection: "Upgrade", upgrade: "other" });
    let openRequests = 0;
    hanging.answer = (response) => {
      openRequests += 1;
      response.on("close", () => (openRequests -= 1));
    };
    slow.answer = acceptingAfter(400);
    await away.goAway();
    let posted = 30;
    for (const amount of upTo(posted)) await post(ledgerId, amount);
    await well.reach(posted);
    await until("one to arrive while another receiver hangs", async () => {
      const [hung, requests] = [openRequests, hanging.requestCount()];
      if (hung === 0) return false;
      await post(ledgerId, (posted += 1));
      await well.reach(posted);
      return openRequests === hung && hanging.requestCount() === requests;
    });
    expect(sequencesOf(well)).toEqual(upTo(posted));
    await until(
      "all to have been tried",
      () =>
        [failing, redirecting, hanging].every(({ requestCount }) => requestCount() > 0) &&
        changing.requestCount() > 1,
    );
    // An attempt is told once it has failed, and the first may fail otherwise where the machine is slow.
    await expect
      .poll(async () => {
        const found = await client.listDeliveries(ledgerId);
        return found.map(({ failure }) => failure).slice(0, 4);
      })
      .toEqual(["ECONNREFUSED", "answered 500", "answered 307", "gave no answer"]);
    await away.comeBack();
    for (const receiver of [failing, redirecting, changing, hanging]) receiver.answer = well.answer;
    for (const receiver of receivers) {
      await receiver.reach(posted);
      expect(sequencesOf(receiver)).toEqual(upTo(posted));
      await receiver.goAway();
    }
    for (const { id } of await client.listDeliveries(ledgerId))
      await client.deleteDelivery(ledgerId, id);
  });

  it("may send a few interim answers before its own, and is given up where they do not end", async () => {
    const ledgerId = await newLedger();
    const [few, endless] = [await openReceiver(), await openReceiver()];
    const interim = (count: number) => (response: ServerResponse) => {
      for (let sent = 0; sent < count; sent += 2) {
        response.writeContinue();
        response.writeProcessing();
      }
    };
    few.answer = (response) => {
      interim(4)(response);
      response.writeHead(204).end();
    };
    endless.answer = interim(1000);
    await deliverTo(few, ledgerId);
    const { id } = await deliverTo(endless, ledgerId);
    await post(ledgerId, 1);
    await few.reach(1);
    await until("a failure", async () => (await find(ledgerId, id)).failure !== null);
    expect((await find(ledgerId, id)).failure).toBe("sent more than 10 interim answers");
    await Promise.all([few.goAway(), endless.goAway()]);
  });

  it("misses nothing where the server that delivers is killed", async () => {
    const ledgerId = await newLedger();
    const receiver = await openReceiver();
    receiver.answer = acceptingAfter(30);
    await deliverTo(receiver, ledgerId);
    const writing = (async () => {
      for (const amount of upTo(60)) await post(ledgerId, amount);
    })();
    await receiver.reach(5);
    // Whichever of them has the lease; the other one, and then a new one, go on.
    await running.replaceLast();
    await writing;
    await until("all", () => onceEach(receiver.events).length >= 60);
    expect(sequencesOf(receiver)).toEqual(upTo(60));
    await receiver.goAway();
  });
});

describe("a delivery", () => {
  it("tells its secret in the result alone, not in what --verbose shows", async () => {
    const args = ["delivery", "add", "https://127.0.0.1:9/", "--events", "close", "--verbose"];
    const ledgerEnv = { ...env, LEDGERCTL_LEDGER: await newLedger() };
    for (const form of [[], ["--json"]]) {
      const { stdout, stderr } = await runCli([...args, ...form], { env: ledgerEnv });
      expect(stdout).toMatch(/ds_[\w-]{43}/);
      expect(stderr).toContain("ds_********");
      expect(stderr).not.toMatch(/ds_[\w-]/);
    }
  });

  it("is paused, resumed, replayed and removed by commands, each an act of the key", async () => {
    const ledgerId = await newLedger();
    const receiver = await openReceiver();
    const run = (...args: string[]) =>
      runHere(["delivery", ...args], { ...env, LEDGERCTL_LEDGER: ledgerId });
    const added = await runCli(
      ["delivery", "add", receiver.url, "--events", "entry,close", "--json"],
      {
        env: { ...env, LEDGERCTL_LEDGER: ledgerId },
      },
    );
    expect(added).toMatchObject({ code: 0, stderr: "" });
    const { id, secret } = JSON.parse(added.stdout) as Delivery;
    receiver.secret = secret ?? "";
    await post(ledgerId, 1);
    await receiver.reach(1);
    await until("the cursor", async () => (await find(ledgerId, id)).cursor === "1.0");
    expect((await run("pause", id)).stdout).toMatch(/^paused at /);
    await post(ledgerId, 2);
    const [listed] = documents<Delivery>((await run("list", "--json")).stdout);
    expect(listed).toMatchObject({ id, status: "paused", pauseReason: "asked", secret: null });
    expect((await run("list")).stdout).toMatch(new RegExp(`^${id} +paused +1\\.0 +1 `, "m"));
    expect(receiver.events).toHaveLength(1);
    expect((await run("resume", id)).code).toBe(0);
    await receiver.reach(2);
    expect((await run("replay", id, "--since", "0.0")).stdout).toBe("goes on from 0.0\n");
    await receiver.reach(4);
    expect(sequencesOf(receiver)).toEqual([1, 2]);
    expect((await run("remove", id)).code).toBe(0);
    expect((await run("pause", id)).code).toBe(5);
    const acts = documents<{ subject: string; kind: string; operator: string; ledgerId: string }>(
      (await runHere(["audit", "log", "--json"], env)).stdout,
    ).filter((act) => act.subject === "deliveries" && act.ledgerId === ledgerId);
    expect(acts.map(({ kind }) => kind)).toEqual(["made", "changed", "changed", "removed"]);
    expect(new Set(acts.map(({ operator }) => operator))).toEqual(
      new Set([env["LEDGERCTL_API_KEY"]]),
    );
    await receiver.goAway();
  });

  it("that has failed for a day is paused, and says so", async () => {
    const ledgerId = await newLedger();
    const receiver = await openReceiver();
    receiver.answer = answering(503);
    const { id } = await deliverTo(receiver, ledgerId);
    await post(ledgerId, 1);
    await until("a failure", async () => (await find(ledgerId, id)).failure === "answered 503");
    const ofLedger = { ...env, LEDGERCTL_LEDGER: ledgerId };
    const elsewhere = Object.fromEntries(
      Object.entries(ofLedger).filter(([name]) => name !== "LEDGERCTL_DATABASE_URL"),
    );
    const look = async (where: Record<string, string>) => {
      const { stdout } = await runHere(["doctor", "--json"], where);
      const { checks } = JSON.parse(stdout) as { checks: { name: string; detail: string }[] };
      return checks.filter(({ name }) => name === "deliveries");
    };
    const failing = new RegExp(
      `${id} of ledger ${ledgerId} fails since .*, 1 event behind: answered`,
    );
    for (const where of [env, elsewhere]) {
      expect(await look(where)).toMatchObject([
        { ok: true, note: true, detail: expect.stringMatching(failing) as string },
      ]);
    }
    await runStatement(
      database.url,
      `UPDATE delivery_progress SET failing_since = ${dayBefore("failing_since")}, due_at = now()
        WHERE delivery_id = $1`,
      [id],
    );
    await until("a pause", async () => (await find(ledgerId, id)).status === "paused");
    expect((await find(ledgerId, id)).pauseReason).toBe("failing");
    expect(await look(elsewhere)).toMatchObject([
      {
        ok: false,
        detail: expect.stringMatching(
          /was paused, 1 event behind: it had failed for a day/,
        ) as string,
        remedy: expect.stringContaining("ledgerctl delivery resume") as string,
      },
    ]);
    await until("the log", () =>
      servers.some((server) => server.stderr().includes("has failed for a day and was paused")),
    );
    receiver.answer = acceptingAfter(0);
    await client.resumeDelivery(ledgerId, id);
    await receiver.reach(1);
    expect(await find(ledgerId, id)).toMatchObject({ status: "active", pauseReason: null });
    await until("doctor", async () => {
      const [check] = await look(elsewhere);
      return check?.detail === "1 active, 0 events behind at most";
    });
    await receiver.goAway();
  });

  it("is refused where nothing may be sent to its URL, and with every fault", async () => {
    const ledgerId = await newLedger();
    const make = (url: string) => client.createDelivery(ledgerId, { url, events: ["entry"] });
    for (const url of [
      "http://example.com/",
      "ftp://example.com",
      "https://u:p@example.com/",
      "x",
    ]) {
      await expect(make(url)).rejects.toMatchObject({ status: 400 });
    }
    const strict = await running.startServer(["--port", "0"]);
    const outside = new LedgerClient(running.connectionTo(strict));
    for (const host of ["127.0.0.1", "10.1.2.3", "[::1]", "[::ffff:192.168.0.1]", "2130706433"]) {
      await expect(
        outside.createDelivery(ledgerId, { url: `https://${host}/`, events: ["entry"] }),
      ).rejects.toMatchObject({ status: 400 });
    }
    const events = ["entry", "entry", "wallets"] as unknown as DeliveryInput["events"];
    const faulty = outside.createDelivery(ledgerId, {
      url: "https://example.com/",
      events,
      since: "x",
    });
    const [result] = await Promise.allSettled([faulty]);
    expect(result).toMatchObject({
      reason: {
        status: 400,
        problem: {
          errors: [
            { pointer: "#/events/2", detail: "must be one of entry, close, posting, wallet" },
            { pointer: "#/since" },
          ],
        },
      },
    });
    const reader = await books.createKey();
    const lacking = new LedgerClient({ url: servers[0]?.url ?? "", ...reader });
    await expect(lacking.listDeliveries(ledgerId)).rejects.toMatchObject({
      code: "INSUFFICIENT_SCOPE",
    });
    await Promise.all([outside.close(), lacking.close(), strict.end("SIGTERM")]);
  });

  it.skipIf(isCluster)("is paused by a restore, and goes on once it is resumed", async () => {
    const ledgerId = await newLedger();
    const receiver = await openReceiver();
    const { id } = await deliverTo(receiver, ledgerId);
    const folder = mkdtempSync(join(tmpdir(), "ledgerctl-deliveries-"));
    const restored = await createTestDatabase();
    const file = join(folder, "books.backup");
    expect(await runHere(["backup", file], env)).toMatchObject({ code: 0 });
    // Ends with an audit.
    const into = ["restore", file, "--database-url", restored.url];
    expect(await runHere(into, env)).toMatchObject({ code: 0 });
    const paused = "SELECT FROM deliveries WHERE delivery_id = $1 AND pause_reason = 'restored'";
    expect(await runStatement(restored.url, paused, [id])).toBe(1);
    expect(await runStatement(database.url, paused, [id])).toBe(0);
    expect((await find(ledgerId, id)).status).toBe("active");
    await restored.drop();
    rmSync(folder, { recursive: true });
    await receiver.goAway();
  });

  it("leaves nothing that an audit misses", async () => {
    const audit = await runHere(["audit", "--json"], env);
    expect(audit, audit.stdout).toMatchObject({ code: 0 });
  });
});
