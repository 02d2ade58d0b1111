// Codes in entries that look like currencies and are none are named where somebody looks at the books.
import { afterAll, beforeAll, expect, test } from "vitest";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { runCli } from "../support/cli.ts";

let server: BinaryServer;

beforeAll(async () => {
  server = await startBinaryServer();
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

async function post(transactionCurrency: string): Promise<void> {
  const line = (glAccountCode: string, amount: string) => ({
    glAccountCode,
    functionalAmount: amount,
    transactionAmount: amount,
    transactionCurrency,
  });
  await server.client.postEntry(server.ledgerId, {
    transactionDate: "2026-01-05T00:00:00Z",
    lines: [line("1000", "500"), line("4000", "-500")],
  });
}

test("by the trial balance, the preview of a close and doctor, and not where there are none", async () => {
  await post("GOLD");
  const quiet = await runCli(["trial-balance"], server);
  expect([quiet.code, quiet.stderr]).toEqual([0, ""]);
  await post("EUD");
  const one =
    "ATTENTION: entries are in EUD, which is no currency of ISO 4217: mistyped, unless meant as a code of its own.";
  const told = await runCli(["trial-balance", "--period", "2026-02"], server);
  expect([told.code, told.stderr]).toEqual([0, `${one}\n`]);
  const doctor = await runCli(["doctor"], server);
  expect(doctor.stdout).toMatch(/^note {2}currencies +entries are in EUD, which is no currency/m);
  await post("xyz");
  const preview = await runCli(["period", "preview", "2026-01"], server);
  expect(preview.stdout).toContain("ATTENTION: entries are in EUD, xyz, which are no currencies");
  const json = await runCli(["trial-balance", "--json"], server);
  expect(JSON.parse(json.stdout)).toMatchObject({ unknownCurrencies: ["EUD", "xyz"] });
  expect(json.stderr).toBe("");
});
