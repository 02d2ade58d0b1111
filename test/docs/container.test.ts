// The container file, as far as it can be read: what it copies is there, and what it runs is what is tested.
import { existsSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const root = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");
const file = read("Containerfile");
const packageJson = JSON.parse(read("package.json")) as { bin: { ledgerctl: string } };

it("copies what there is, or what the build makes", () => {
  const sources = [...file.matchAll(/^COPY --from=build \/build\/(\S+) /gm)].map(
    ([, path = ""]) => path,
  );
  expect(sources).toContain("dist");
  for (const path of sources.filter((path) => path !== "dist")) {
    expect(existsSync(new URL(path, root)), path).toBe(true);
  }
});

it("runs the program with a Node.js that is tested, as a user who is not root", () => {
  const versions = /^newer_nodes="(.+)"$/m.exec(read(".ci/run"))?.[1]?.split(" ");
  for (const [, version] of file.matchAll(/^FROM \S+:([\d.]+)-/gm)) {
    expect(versions).toContain(version);
  }
  expect(file).toContain(`/opt/ledgerctl/${packageJson.bin.ledgerctl} /usr/local/bin/ledgerctl`);
  const users = [...file.matchAll(/^USER (\d+):/gm)].map(([, id]) => Number(id));
  expect(users).toHaveLength(1);
  expect(users[0]).toBeGreaterThan(0);
});

it("keeps the data folder apart from the home, in which Node.js makes a cache", () => {
  const [, home = "", data = ""] = /HOME=(\S+) LEDGERCTL_DATA_DIR=(\S+)/.exec(file) ?? [];
  expect(data).toBe(`${home}/data`);
});

it("keeps what is in the working folder, and would hide what was built, out of the build", () => {
  expect(read(".dockerignore").split("\n")).toEqual(
    expect.arrayContaining([".git", "dist", "node_modules"]),
  );
});
