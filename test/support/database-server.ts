// vitest's global setup: one database server for a test run, with a migrated template that databases of tests are
// cloned from. It starts when the first test file asks for it, so that pure tests start none.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { openEmbeddedDatabase } from "../../src/store/embedded/embedded-database.ts";
import { isHome } from "../../src/store/embedded/system-directory.ts";
import { migrate } from "../../src/store/migrate.ts";
import { findNodes, makeDistributedTemplate } from "./citus-cluster.ts";
import { dropFrom, runStatement, withDatabase } from "./database.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** A socket that answers whoever connects with a DatabaseServer as JSON, or with its `error`. */
    databaseServerSocket: string;
  }
}

export interface DatabaseServer {
  /** A server where databases may be made and dropped; its own database belongs to no test. */
  readonly url: string;
  /** The name of a migrated database that nobody connects to. */
  readonly template: string;
  /** The server, and with Citus the others of its cluster: a database is made on each. */
  readonly nodes: readonly string[];
}

interface RunningServer extends DatabaseServer {
  remove(): Promise<void>;
}

const migrations = fileURLToPath(new URL("../../migrations", import.meta.url));

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "ledgerctl-test-socket-"));
  let starting: Promise<RunningServer> | undefined;
  const door = createServer((socket) => {
    starting ??= startServer();
    starting.then(
      ({ url, template, nodes }) => socket.end(JSON.stringify({ url, template, nodes })),
      (error: unknown) => socket.end(JSON.stringify({ error: String(error) })),
    );
  });
  const path = join(folder, "socket");
  await once(door.listen(path), "listening");
  project.provide("databaseServerSocket", path);
  return async () => {
    door.close();
    const running = await starting?.catch(() => undefined);
    await running?.remove();
    await rm(folder, { recursive: true });
  };
}

async function startServer(): Promise<RunningServer> {
  const server = await findServer();
  try {
    const nodes = await findNodes(server.url);
    if (nodes.length === 1) return { ...server, nodes, template: await makeTemplate(server.url) };
    const template = `ledgerctl_template_${process.pid}`;
    const remove = async () => {
      await dropFrom(nodes, template);
      await server.remove();
    };
    await makeDistributedTemplate(nodes, template);
    return { ...server, nodes, template, remove };
  } catch (error) {
    await server.remove();
    throw error;
  }
}

/**
 * LEDGERCTL_TEST_DATABASE_URL's server, or one that lasts as long as the run: of the embedded version,
 * or of the PostgreSQL whose bin, lib and share are in LEDGERCTL_TEST_POSTGRES_DIR.
 */
async function findServer(): Promise<Omit<RunningServer, "template" | "nodes">> {
  const given = process.env["LEDGERCTL_TEST_DATABASE_URL"];
  if (given) return { url: given, remove: () => Promise.resolve() };
  const dataDir = await mkdtemp(join(tmpdir(), "ledgerctl-test-"));
  const binariesDir = process.env["LEDGERCTL_TEST_POSTGRES_DIR"];
  const database = await openEmbeddedDatabase({
    dataDir,
    supervise: true,
    ...(binariesDir ? { binariesDir } : {}),
  });
  // Nothing here outlives the run. What is about durability (test/acceptance/crash, test/store/embedded) starts
  // clusters of its own.
  for (const setting of ["fsync", "full_page_writes", "autovacuum"]) {
    await runStatement(database.url, `ALTER SYSTEM SET ${setting} = off`);
  }
  await runStatement(database.url, "SELECT pg_reload_conf()");
  return {
    url: database.url,
    remove: async () => {
      await database.stop();
      // As root, under a 0700 folder of root's, the cluster is elsewhere, and the marker says where.
      const marker = JSON.parse(await readFile(join(dataDir, "ledgerctl.json"), "utf8")) as {
        home?: string;
      };
      if (marker.home !== undefined && isHome(marker.home))
        await rm(marker.home, { recursive: true });
      await rm(dataDir, { recursive: true });
    },
  };
}

/** Made under another name and renamed, so that runs that share a server never clone half a template. */
async function makeTemplate(serverUrl: string): Promise<string> {
  const template = `ledgerctl_template_${await hashMigrations()}`;
  const found = await runStatement(serverUrl, "SELECT FROM pg_database WHERE datname = $1", [
    template,
  ]);
  if (found > 0) return template;
  const draft = `${template}_${process.pid}`;
  await runStatement(serverUrl, `DROP DATABASE IF EXISTS ${draft} WITH (FORCE)`);
  await runStatement(serverUrl, `CREATE DATABASE ${draft} TEMPLATE template0 ENCODING 'UTF8'`);
  try {
    await migrate(withDatabase(serverUrl, draft));
    await runStatement(serverUrl, `ALTER DATABASE ${draft} RENAME TO ${template}`);
  } catch (error) {
    await runStatement(serverUrl, `DROP DATABASE ${draft} WITH (FORCE)`);
    // 42P04 duplicate_database: another run was faster.
    if (!(error instanceof Error && "code" in error && error.code === "42P04")) throw error;
  }
  return template;
}

async function hashMigrations(): Promise<string> {
  const hash = createHash("sha256");
  for (const name of (await readdir(migrations)).sort()) {
    hash.update(`${name}\n`).update(await readFile(join(migrations, name)));
  }
  return hash.digest("hex").slice(0, 12);
}
