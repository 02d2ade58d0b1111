// Builds the single executable: Node.js with the built program, the migrations and the embedded PostgreSQL inside.
//   npm run build:executable -- [--out FILE] [--node FILE]
// --node is Node.js of the version below; without it npm fetches it. docs/operations.md says how to use the file.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../import-source.js";
import { collectAssets } from "./assets.js";

const nodeVersion = "24.21.0";

/** Where Node.js marks that something was injected; the same in every version. */
const sentinelFuse = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

const { values } = parseArgs({
  options: {
    out: { type: "string", default: join(root, "dist", "ledgerctl") },
    node: { type: "string" },
  },
});
const platform = `${process.platform}-${process.arch}`;
if (process.platform !== "linux") {
  throw new Error(
    `the single executable is for Linux, and this is ${platform}: use the npm package`,
  );
}

const work = mkdtempSync(join(tmpdir(), "ledgerctl-executable-"));
try {
  const node = values.node ?? fetchNode();
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  requireOutput(node, `v${nodeVersion}`);
  const unfinished = join(work, "ledgerctl");
  copyFileSync(node, unfinished);
  chmodSync(unfinished, 0o755);
  inject(unfinished, makeBlob(node));
  requireOutput(unfinished, version);
  publish(unfinished, resolve(values.out));
} finally {
  rmSync(work, { recursive: true });
}

/** npm has Node.js for each platform as a package. */
function fetchNode() {
  const name = `node-${platform}`;
  const args = ["install", "--no-save", "--no-package-lock", "--ignore-scripts", "--prefix", work];
  execFileSync("npm", [...args, `${name}@${nodeVersion}`], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  return join(work, "node_modules", name, "bin", "node");
}

/** What Node.js reads when it starts: the first script, its own options, and the assets. */
function makeBlob(node) {
  const output = join(work, "blob");
  const config = join(work, "sea-config.json");
  const settings = {
    main: join(root, "scripts", "executable", "start.cjs"),
    output,
    disableExperimentalSEAWarning: true,
    // As in bin/ledgerctl.js.
    execArgv: ["--max-semi-space-size=64"],
    assets: collectAssets(platform, join(work, "assets")),
  };
  writeFileSync(config, JSON.stringify(settings));
  execFileSync(node, ["--experimental-sea-config", config], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  return output;
}

/** As a program of its own: what it says, and it always warns of sections without a name, is shown where it fails. */
function inject(file, blob) {
  const postject = join(root, "node_modules", "postject", "dist", "cli.js");
  const args = [file, "NODE_SEA_BLOB", blob, "--sentinel-fuse", sentinelFuse];
  execFileSync(process.execPath, [postject, ...args], { stdio: "pipe" });
}

function requireOutput(program, expected) {
  const output = execFileSync(program, ["--version"]).toString().trim();
  if (output !== expected) throw new Error(`${program} is version ${output}, and not ${expected}`);
}

/** Puts the file and its checksum, which `sha256sum --check` reads, in their places. */
function publish(file, out) {
  const content = readFileSync(file);
  const sum = createHash("sha256").update(content).digest("hex");
  // A file that runs can't be written to, but be replaced.
  const aside = join(dirname(out), `.${basename(out)}-${process.pid}`);
  copyFileSync(file, aside);
  renameSync(aside, out);
  writeFileSync(`${out}.sha256`, `${sum}  ${basename(out)}\n`);
  console.log(`${out}: ${(content.length / 1e6).toFixed(1)} MB, sha256 ${sum}`);
}
