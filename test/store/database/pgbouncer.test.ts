// The real PgBouncer, where this machine has one, with nothing set but how it pools.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Pool } from "../../../src/store/database/pool.ts";
import { sql } from "../../../src/store/database/statement.ts";
import { databaseAccount } from "../../../src/store/embedded/account.ts";
import { spawnOptions } from "../../../src/store/embedded/run-program.ts";
import { migrate } from "../../../src/store/migrate.ts";
import { createTestDatabase, runStatement, type TestDatabase } from "../../support/database.ts";
import { freePort } from "../../support/free-port.ts";
import { until } from "../../support/until.ts";

const program = ["pgbouncer", "/usr/sbin/pgbouncer"].find(
  (name) => spawnSync(name, ["--version"]).status === 0,
);

let database: TestDatabase;
let folder: string;
let bouncer: ChildProcess;
let port: number;

describe.skipIf(program === undefined)("behind PgBouncer", () => {
  beforeAll(async () => {
    database = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), "ledgerctl-test-bouncer-"));
    port = await freePort();
    const url = new URL(database.url);
    const backend = [
      `host=${decodeURIComponent(url.hostname)} port=${url.port || "5432"} dbname=${url.pathname.slice(1)}`,
      `user=${url.username} password=${url.password}`,
    ].join(" ");
    const lines = [
      "[databases]",
      `session = ${backend} pool_mode=session`,
      `transaction = ${backend} pool_mode=transaction`,
      "[pgbouncer]",
      `listen_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =\nauth_type = any`,
    ];
    const file = join(folder, "pgbouncer.ini");
    await writeFile(file, `${lines.join("\n")}\n`);
    // It refuses to run as root, as PostgreSQL does.
    const account = await databaseAccount({ uid: process.getuid?.() ?? 0, gid: 0 });
    if (account) {
      await chown(folder, account.uid, account.gid);
      await chown(file, account.uid, account.gid);
    }
    const { env, ...options } = spawnOptions(account);
    const search = { ...env, PATH: process.env["PATH"] };
    bouncer = spawn(program ?? "", [file], { ...options, env: search, stdio: "ignore" });
    await until("PgBouncer answers", () =>
      runStatement(urlOf("session"), "SELECT 1").catch(() => false),
    );
  });

  afterAll(async () => {
    const ended = once(bouncer, "exit");
    bouncer.kill("SIGTERM");
    await ended;
    await rm(folder, { recursive: true });
    await database.drop();
  });

  const urlOf = (name: string) => `postgresql://anybody:x@127.0.0.1:${port}/${name}`;

  test("in session mode all works, with our settings", async () => {
    expect(await migrate(urlOf("session"))).toEqual([]);
    const pool = new Pool({
      databaseUrl: urlOf("session"),
      connectionsMax: 3,
      answerTimeoutMs: 10_000,
      keepsPlans: true,
    });
    const setting = sql.type(z.object({ mode: z.string() }))`
      SELECT current_setting('plan_cache_mode') AS mode`;
    const modes = await Promise.all(Array.from({ length: 12 }, () => pool.one(setting)));
    expect(new Set(modes.map(({ mode }) => mode))).toEqual(new Set(["force_generic_plan"]));
    await pool.end();
  });

  test("transaction mode is refused", async () => {
    await expect(migrate(urlOf("transaction"))).rejects.toThrow(
      "Set pool_mode = session for this database",
    );
  });
});
