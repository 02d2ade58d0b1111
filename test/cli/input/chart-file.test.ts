// Charts of accounts as CSV: what is said of files that can't be read.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { readChart } from "../../../src/cli/input/chart-file.ts";

const folder = mkdtempSync(join(tmpdir(), "ledgerctl-chart-"));
const file = join(folder, "chart.csv");

afterAll(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

test("a disk that fails in the middle of a file names the file once", async () => {
  writeFileSync(file, "");
  const handle = await open(file);
  const prototype = Object.getPrototypeOf(handle) as typeof handle;
  await handle.close();
  const rows = "glAccountCode,name\n1000,Cash\n";
  const failure = Object.assign(new Error("EIO: i/o error, read"), { code: "EIO" });
  vi.spyOn(prototype as { read: (buffer: Buffer) => Promise<object> }, "read")
    .mockImplementationOnce((buffer) => Promise.resolve({ bytesRead: buffer.write(rows), buffer }))
    .mockRejectedValueOnce(failure);
  const error = await readChart(file).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    exitCode: 2,
    message: `${file} can't be read: ${failure.message}`,
  });
});

test("what is wrong with the content names file, line and column", async () => {
  writeFileSync(file, "glAccountCode,name,type\r\n1000,Cash,asset\r\n1001,Bank,money\r\n");
  await expect(readChart(file)).rejects.toThrow(`${file}: line 3, column type: must be one of`);
});

test("lines that end in CR alone are refused by their name", async () => {
  writeFileSync(file, "glAccountCode,name\r1000,Cash\r");
  await expect(readChart(file)).rejects.toThrow(`${file}: line 1: lines end in CR alone`);
});
