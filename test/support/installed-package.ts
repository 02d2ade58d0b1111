// The package as somebody else installs it: packed, and unpacked into a project that has nothing else.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

export interface InstalledPackage {
  /** The project's folder. */
  readonly project: string;
  /** Where the package is in it. */
  readonly folder: string;
  remove(): void;
}

/** The built package in an empty project; `besides` names packages of this repository that the project has, too. */
export function installPackage(besides: readonly string[] = []): InstalledPackage {
  const project = mkdtempSync(join(tmpdir(), "ledgerctl-consumer-"));
  const folder = join(project, "node_modules", "ledgerctl");
  mkdirSync(folder, { recursive: true });
  const pack = ["pack", "--ignore-scripts", "--silent", "--pack-destination", project];
  const tarball = execFileSync("npm", pack, { cwd: root }).toString().trim();
  execFileSync("tar", ["-xzf", join(project, tarball), "-C", folder, "--strip-components=1"]);
  writeFileSync(join(project, "package.json"), '{"type":"module"}');
  for (const name of besides) {
    mkdirSync(join(project, "node_modules", name, ".."), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(project, "node_modules", name));
  }
  return {
    project,
    folder,
    remove: () => {
      rmSync(project, { recursive: true, force: true });
    },
  };
}

/** The compilers that the package's types are tested with, by the folder of each in node_modules. */
export const compilers = ["typescript", "typescript7"] as const;

/** What a compiler says of files of a project, in strict mode with libraries checked; empty where nothing is wrong. */
export function compile(
  compiler: (typeof compilers)[number],
  project: string,
  files: readonly string[],
  flags: readonly string[] = ["--noEmit"],
): string {
  const strict = ["--strict", "--exactOptionalPropertyTypes", "--skipLibCheck", "false"];
  const target = ["--module", "nodenext", "--target", "es2023", "--pretty", "false"];
  const command = join(root, "node_modules", compiler, "bin", "tsc");
  try {
    const all = [command, ...strict, ...target, ...flags, ...files];
    return execFileSync(process.execPath, all, { cwd: project }).toString();
  } catch (error) {
    return (error as { stdout: Buffer }).stdout.toString();
  }
}
