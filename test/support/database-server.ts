// vitest's global setup: one database server for a test run, with a migrated template that tests are cloned from.
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { openEmbeddedDatabase } from "../../src/store/embedded/embedded-database.ts";
import { isHome } from "../../src/store/embedded/system-directory.ts";
import { migrate } from "../../src/store/migrate.ts";
import { runStatement, withDatabase } from "./database.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** A server where databases may be made and dropped; its own database is nobody's. */
    databaseUrl: string;
    /** The name of a migrated database that nobody connects to. */
    templateDatabase: string;
  }
}

const migrations = fileURLToPath(new URL("../../migrations", import.meta.url));

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await findServer();
  try {
    project.provide("databaseUrl", server.url);
    project.provide("templateDatabase", await makeTemplate(server.url));
  } catch (error) {
    await server.remove();
    throw error;
  }
  return server.remove;
}

/**
 * LEDGERCTL_TEST_DATABASE_URL's server, or one that lasts as long as the run: of the embedded version,
 * or of the PostgreSQL whose bin, lib and share are in LEDGERCTL_TEST_POSTGRES_DIR.
 */
async function findServer(): Promise<{ url: string; remove: () => Promise<void> }> {
  const given = process.env["LEDGERCTL_TEST_DATABASE_URL"];
  if (given) return { url: given, remove: () => Promise.resolve() };
  const dataDir = await mkdtemp(join(tmpdir(), "ledgerctl-test-"));
  const binariesDir = process.env["LEDGERCTL_TEST_POSTGRES_DIR"];
  const database = await openEmbeddedDatabase({
    dataDir,
    supervise: false,
    ...(binariesDir ? { binariesDir } : {}),
  });
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
