// Sessions on a host that hangs: it accepts what is sent, and answers nothing.
import { afterAll, beforeAll, expect, test } from "vitest";
import { hostsOf } from "../../../src/store/database/hosts.ts";
import { isUnavailable } from "../../../src/store/database/errors.ts";
import { openSession, startedAtText } from "../../../src/store/database/session.ts";
import { openCuttingProxy, type CuttingProxy } from "../../support/cutting-proxy.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";

let database: TestDatabase;
let proxy: CuttingProxy;

beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await openCuttingProxy(database.url);
});

afterAll(async () => {
  await proxy.close();
  await database.drop();
});

const open = (url = proxy.url, nodeStartedAt: string | null = null) =>
  openSession({
    hosts: hostsOf(url),
    applicationName: "test",
    settings: {},
    driver: {},
    detectsDisconnects: false,
    nodeStartedAt,
  });

test("one can be ended, and one that is being opened fails", async () => {
  const session = await open();
  proxy.freeze();
  const [, failed] = await Promise.all([session.end(), open().catch((error: unknown) => error)]);
  proxy.thaw();
  expect(isUnavailable(failed)).toBe(true);
  expect(String(failed)).toContain("it did not answer within 5 s");
});

test("one that needs a password says that its URL has none", async () => {
  const url = new URL(database.url);
  url.password = "";
  await expect(open(url.href)).rejects.toThrow(
    "the database asks for a password, and its URL has none",
  );
});

test("one to a node of a cluster is refused by any server but that", async () => {
  const started = await open(database.url);
  const { rows } = await started.query<{ at: string }>(`SELECT ${startedAtText} AS at`);
  await started.end();
  const node = await open(database.url, rows[0]?.at ?? "");
  await node.end();
  await expect(open(database.url, "1795801726.563447")).rejects.toThrow(
    "it is another server than the coordinator has under this name",
  );
});
