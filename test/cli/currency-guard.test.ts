// Codes of three letters that are no currency: refused before anything is opened, unless they are meant.
import { describe, expect, it } from "vitest";
import { runHere } from "../support/program.ts";

const nowhere = {
  LEDGERCTL_DATABASE_URL: "postgresql://127.0.0.1:9/nowhere",
  LEDGERCTL_MASTER_KEY: "",
};
const ledger = "019aaaaa-0000-7000-8000-000000000000";

describe.each([
  [
    "ledger create",
    (code: string) => ["ledger", "create", "Books", "--org", ledger, "--currency", code],
  ],
  ["asset set", (code: string) => ["asset", "set", code, "--rate", "1.1", "--ledger", ledger]],
])("%s", (_name, argsOf) => {
  it.each(["EUX", "eux", "Vea"])("refuses %s, and takes it where it is meant", async (code) => {
    const refused = await runHere(argsOf(code), nowhere);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining(`${code} is no currency of ISO 4217; --allow-unknown-currency`),
    ]);
    // It gets as far as the database, which is not there.
    const meant = await runHere([...argsOf(code), "--allow-unknown-currency"], nowhere);
    expect(meant.code).toBe(7);
  });

  it.each(["EUR", "eur", "BTC.X", "POINTS", "GO", "x12"])("takes %s", async (code) => {
    expect((await runHere(argsOf(code), nowhere)).code).toBe(7);
  });
});

it("suggests the currency that may be meant", async () => {
  const args = ["ledger", "create", "Books", "--org", ledger, "--currency", "USX"];
  const { stderr } = await runHere(args, nowhere);
  expect(stderr).toMatch(/Did you mean .*US/);
});
