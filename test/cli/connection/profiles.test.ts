// The configuration file: what is wrong with it is said without a word of what it holds.
import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readEnvironment } from "../../../src/config.ts";
import { resolveConnection } from "../../../src/cli/connection/settings.ts";
import { CommandFailure, describeFailure } from "../../../src/cli/failure.ts";
import { Output } from "../../../src/cli/terminal/output.ts";
import { readConfigFile, writeConfigFile } from "../../../src/cli/connection/profiles.ts";

const folder = mkdtempSync(join(tmpdir(), "ledgerctl-config-"));
const file = join(folder, "config.json");
const secret = "ls_CzHAY1yI4jNFJARgMsmIuk0JeAOzD3J-dMA5TblfIpc";

afterAll(() => {
  rmSync(folder, { recursive: true });
});

async function failureOf(content: string): Promise<CommandFailure> {
  writeFileSync(file, content);
  chmodSync(file, 0o600);
  const failed: unknown = await readConfigFile(file, expect.unreachable).catch(
    (error: unknown) => error,
  );
  if (!(failed instanceof CommandFailure)) throw new Error("it was read");
  return failed;
}

describe("the configuration file", () => {
  it.each([
    [`{"profiles":{"local":{"apiSecret":${secret}}}}`, "line 1, column 35"],
    [`{"profiles":{"local":{"apiSecret":"${secret}"},}}`, "line 1, column 85"],
    [`{\n  "profiles": {\n    "local": {"apiSecret": "${secret}}`, "line 3, column 28"],
    [secret, "line 1, column 1"],
  ])("names where it is broken and quotes nothing of it", async (content, place) => {
    const failed = await failureOf(content);
    expect(failed.exitCode).toBe(2);
    expect(failed.message).toBe(`${file} is not valid JSON at ${place}`);
    expect(failed.cause).toBeUndefined();
  });

  it.each([
    [`["${secret}"]`, "it must be a JSON object"],
    [`{"profiles":{"local":["${secret}"]}}`, "profiles.local must be a JSON object"],
    [`{"profiles":{"local":{"url":["${secret}"]}}}`, "profiles.local.url must be a text"],
    [`{"currentProfile":{"${secret}":1}}`, "currentProfile must be a text"],
  ])("names the member that is no such thing", async (content, what) => {
    const failed = await failureOf(content);
    expect(describeFailure(failed)).toBe(`ledgerctl: ${file} is not a configuration file: ${what}`);
  });

  it("is not there, or is no file", async () => {
    expect(await readConfigFile(join(folder, "none.json"), expect.unreachable)).toEqual({
      profiles: {},
    });
    await expect(readConfigFile(folder, () => undefined)).rejects.toThrow(
      `${folder} can't be read: it is a folder`,
    );
  });

  it("is written through a link, which stays one, also where it leads to no file yet", async () => {
    const real = join(folder, "dotfiles", "ledgerctl.json");
    const link = join(folder, "linked.json");
    symlinkSync(join("dotfiles", "ledgerctl.json"), link);
    for (const currentProfile of ["first", "second"]) {
      await writeConfigFile(link, { currentProfile, profiles: {} });
      expect(lstatSync(link).isSymbolicLink()).toBe(true);
      expect(lstatSync(real).mode & 0o777).toBe(0o600);
      expect(await readConfigFile(real, expect.unreachable)).toMatchObject({ currentProfile });
    }
    expect(readdirSync(join(folder, "dotfiles"))).toEqual(["ledgerctl.json"]);
  });

  it("is written for its owner alone, and names no profile that it does not have", async () => {
    await writeConfigFile(file, { currentProfile: "gone", profiles: { local: {} } });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const environment = readEnvironment({ LEDGERCTL_CONFIG: file });
    const output = new Output({}, true);
    await expect(resolveConnection({}, environment, output)).rejects.toThrow(
      `${file} has no profile "gone", which its currentProfile names`,
    );
    await expect(resolveConnection({ profile: "mine" }, environment, output)).rejects.toThrow(
      `there is no profile "mine" in ${file}`,
    );
    expect(await resolveConnection({ profile: "local" }, environment, output)).toMatchObject({
      url: "http://127.0.0.1:8420",
    });
  });
});
