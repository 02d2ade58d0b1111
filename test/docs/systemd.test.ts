// The unit files, under systemd's own checks.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const units = fileURLToPath(new URL("../../ops/systemd/", import.meta.url));
const names = readdirSync(units);
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ledgerctl-test-units-"));
  for (const name of names) {
    // systemd wants programs that are there.
    const unit = readFileSync(join(units, name), "utf8");
    writeFileSync(join(folder, name), unit.replaceAll("/usr/local/bin/ledgerctl", "/bin/true"));
  }
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

it("gives a stop longer than the server takes", () => {
  const unit = readFileSync(join(units, "ledgerctl.service"), "utf8");
  const seconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]);
  const page = readFileSync(new URL("../../docs/operations.md", import.meta.url), "utf8");
  const graceMs = Number(/`LEDGERCTL_GRACE_MS` +\| (\d+) /.exec(page)?.[1]);
  // A checkpoint of a busy database takes a minute or two.
  expect(seconds).toBeGreaterThanOrEqual(graceMs / 1000 + 120);
});

it("lets a backup do no more than the server", () => {
  const [server, backup] = ["ledgerctl.service", "ledgerctl-backup.service"].map(
    (name) =>
      /^AmbientCapabilities=[^]*?^UMask=.*$/m.exec(readFileSync(join(units, name), "utf8"))?.[0],
  );
  expect(server).toContain("SystemCallFilter=");
  expect(backup).toBe(server);
});

it("keeps the data folder apart from the home, in which Node.js makes a cache", () => {
  const [, home = "", data = ""] =
    /HOME=(\S+) LEDGERCTL_DATA_DIR=(\S+)/.exec(
      readFileSync(join(units, "ledgerctl.service"), "utf8"),
    ) ?? [];
  expect(data).toBe(`${home}/data`);
});

describe.skipIf(spawnSync("systemd-analyze", ["--version"]).error)("systemd", () => {
  it.each(names)("has nothing to say against %s", (name) => {
    const verify = ["verify", join(folder, name)];
    const { status, stdout, stderr } = spawnSync("systemd-analyze", verify, { encoding: "utf8" });
    expect({ status, output: `${stdout}${stderr}` }).toEqual({ status: 0, output: "" });
  });

  it.each(names.filter((name) => name.endsWith(".service")))(
    "finds little that %s could harm",
    (name) => {
      const flags = ["security", "--offline=true", "--threshold=15", "--no-pager"];
      // Throws when the exposure, in tenths, is over the threshold.
      const report = execFileSync("systemd-analyze", [...flags, join(folder, name)]);
      expect(String(report)).toContain("Overall exposure level");
    },
  );
});
