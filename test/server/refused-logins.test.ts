// The database refuses the service's login while it runs: that is an outage like any other, but for what the log says.
import { randomBytes } from "node:crypto";
import { Writable } from "node:stream";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runStatement } from "../support/database.ts";
import { entry, postEntry } from "../support/entries.ts";
import { createBooks, startService, type TestBooks, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly cause?: string;
  readonly remedy?: string;
}

const role = `ledgerctl_role_${randomBytes(6).toString("hex")}`;
const lines: Line[] = [];
let books: TestBooks;
let service: TestService;
let databaseUrl: string;

beforeAll(async () => {
  books = await createBooks();
  await runStatement(books.databaseUrl, `CREATE ROLE ${role} LOGIN SUPERUSER PASSWORD 'first'`);
  const url = new URL(books.databaseUrl);
  url.username = role;
  url.password = "first";
  databaseUrl = url.href;
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(JSON.parse(chunk.toString()) as Line);
      done();
    },
  });
  service = await startService(books, {
    databaseUrl,
    log: pino({ level: "warn" }, destination),
    variables: { LEDGERCTL_POST_INTERVAL_MS: "50" },
  });
});

afterAll(async () => {
  await service.stop();
  await runStatement(books.databaseUrl, `DROP ROLE ${role}`);
  await books.drop();
});

const databaseName = () => new URL(books.databaseUrl).pathname.slice(1);

/** The role's connections have to be opened anew. */
const cutConnections = (url: string) =>
  runStatement(
    url,
    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = $1",
    [role],
  );

/** A login that was under way when the role was changed may still come about: such a connection is cut, too. */
async function untilRefused(url: string, isRefused: () => Promise<boolean>): Promise<void> {
  await until("logins are refused", async () => {
    await cutConnections(url);
    return isRefused();
  });
}

const remedies = () => lines.filter(({ remedy }) => remedy !== undefined);

test("a password that was changed is an outage, and the log says what to do", async () => {
  await postEntry(service, entry());
  await runStatement(books.databaseUrl, `ALTER ROLE ${role} PASSWORD 'second'`);
  const target = `/v1/ledgers/${books.ledgerId}/journal-entries`;
  await untilRefused(books.databaseUrl, async () => {
    const replies = await Promise.all([service.post(target, entry()), service.get(target)]);
    for (const { status, body } of replies.filter(({ status }) => status > 201)) {
      expect({ status, body }).toMatchObject({ status: 503, body: { code: "UNAVAILABLE" } });
    }
    return replies.every(({ status }) => status === 503);
  });
  const failed = () => remedies().filter(({ msg }) => msg.startsWith("posting wallets fails"));
  const succeeded = () => lines.filter(({ msg }) => msg.startsWith("posting wallets succeeds"));
  // With a login that was under way it may have succeeded once more, before it failed again.
  await until("each outage is told once", () => failed().length === succeeded().length + 1);
  for (const line of failed()) {
    expect(line).toMatchObject({
      level: 50,
      cause: `password authentication failed for user "${role}"`,
      remedy: expect.stringContaining("LEDGERCTL_DATABASE_URL") as string,
    });
  }
  await runStatement(books.databaseUrl, `ALTER ROLE ${role} PASSWORD 'first'`);
  await postEntry(service, entry());
});

test.each([
  [
    "a role that may not log in",
    () => `ALTER ROLE ${role} NOLOGIN`,
    () => `ALTER ROLE ${role} LOGIN`,
  ],
  [
    "a database that takes no connections",
    () => `ALTER DATABASE ${databaseName()} ALLOW_CONNECTIONS false`,
    () => `ALTER DATABASE ${databaseName()} ALLOW_CONNECTIONS true`,
  ],
])("%s is an outage", async (_, refuse, allow) => {
  // The statements that mend it go through another database.
  const elsewhere = new URL(books.databaseUrl);
  elsewhere.pathname = "/postgres";
  await runStatement(elsewhere.href, refuse());
  await untilRefused(elsewhere.href, async () => {
    const { status, body } = await service.get("/v1/ledgers");
    if (status !== 200) expect(body).toMatchObject({ status: 503, code: "UNAVAILABLE" });
    return status === 503;
  });
  await runStatement(elsewhere.href, allow());
  await until("it is served again", async () => (await service.get("/v1/ledgers")).status === 200);
});
