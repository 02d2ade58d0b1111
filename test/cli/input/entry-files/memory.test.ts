// However large a file is, only what is being read of it is held.
import { createWriteStream } from "node:fs";
import { once } from "node:events";
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readCsvEntries } from "../../../../src/cli/input/entry-files/csv-entries.ts";
import { readJsonArray } from "../../../../src/cli/input/entry-files/json-array.ts";
import { readNdjson } from "../../../../src/cli/input/entry-files/ndjson.ts";
import { entry, entryFolder } from "./entry-file.ts";

const { path } = entryFolder();
const chunksTotal = 5_000;

/** Chunks that are made when they are asked for, and a count of those that were. */
function countedChunks(first: string, chunk: string, last: string) {
  const counted = { taken: 0 };
  async function* chunks() {
    for (let index = 0; index < chunksTotal; index += 1) {
      counted.taken += 1;
      yield Buffer.from(index === 0 ? first : chunk);
    }
    yield Buffer.from(last);
  }
  return { counted, chunks: chunks() };
}

const json = JSON.stringify(entry(1));
const rows = "a,1000,1\na,4000,-1\nb,1000,1\nb,4000,-1\n";

describe("reading in constant memory", () => {
  it.each([
    ["NDJSON", () => countedChunks(`${json}\n`, `${json}\n`, ""), readNdjson],
    ["a JSON array", () => countedChunks(`[${json}`, `,${json}`, "]"), readJsonArray],
    [
      "CSV",
      () => countedChunks(`externalId,glAccountCode,functionalAmount\n${rows}`, rows, ""),
      (chunks: AsyncIterable<Buffer>) => readCsvEntries(chunks, () => undefined),
    ],
  ])("takes from %s only as much as was asked for", async (_, make, readEntries) => {
    const { counted, chunks } = make();
    const entries = readEntries(chunks);
    for (let asked = 1; asked <= 100; asked += 1) {
      expect((await entries.next()).done).toBe(false);
      expect(counted.taken).toBeLessThanOrEqual(asked + 2);
    }
    let more = 100;
    for await (const { fault } of entries) {
      expect(fault).toBeUndefined();
      more += 1;
    }
    expect(more).toBeGreaterThanOrEqual(chunksTotal);
  });

  it("reads a 120 MB array in a process with a 48 MB heap", async () => {
    const file = path("huge.json");
    const out = createWriteStream(file);
    const element = JSON.stringify(entry(1, { externalId: "x", description: "d".repeat(800) }));
    const block = `,\n${Array(500).fill(element).join(",\n")}`;
    out.write(`[${element}`);
    for (let written = 0; written < 120e6; written += block.length) {
      if (!out.write(block)) await once(out, "drain");
    }
    out.end("]");
    await once(out, "finish");
    const reader = fileURLToPath(new URL("count-entries.ts", import.meta.url));
    const esbuild = fileURLToPath(
      new URL("../../../../node_modules/.bin/esbuild", import.meta.url),
    );
    const bundle = path("count-entries.mjs");
    execFileSync(
      esbuild,
      [reader, "--bundle", "--platform=node", "--format=esm", `--outfile=${bundle}`],
      { stdio: "pipe" },
    );
    const output = execFileSync(process.execPath, ["--max-old-space-size=48", bundle, file]);
    const { entries, rssMegabytes } = JSON.parse(output.toString()) as Record<string, number>;
    expect(entries).toBeGreaterThan(120_000);
    expect(rssMegabytes).toBeLessThan(200);
  });
});
