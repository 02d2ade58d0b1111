// 100,000 seeded entries in four currencies: hledger has the same figures of our own export.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import {
  expectPostingsOfHledger,
  expectStatementsOfHledgerMonths,
  exportBooks,
  type Books,
} from "../support/hledger-reports.ts";
import { hasHledger } from "../support/other-books.ts";
import { postReportBooks, reportChart } from "../support/report-books.ts";

const count = 100_000;

describe.runIf(hasHledger)("of 100,000 entries hledger has the same figures", () => {
  let server: BinaryServer;
  /** All of their years. */
  let years: Books;

  beforeAll(async () => {
    server = await startBinaryServer();
    const { books, client, env, home } = server;
    const ledgerId = await books.createLedger({ currency: "EUR", chart: reportChart });
    await postReportBooks(client, ledgerId, { seed: 100, count });
    const { total } = await client.listEntries(ledgerId, { limit: 1 });
    expect(total).toBeGreaterThan(count);
    const place = { client, env, folder: home };
    years = await exportBooks(place, ledgerId, ["2025-01-01", "2027-01-01"]);
  }, 480_000);

  afterAll(async () => {
    expect(await server.stop()).toBe(0);
  });

  it("in balance sheets and income statements by month, quarter and year", async () => {
    await expectStatementsOfHledgerMonths(years);
  }, 480_000);

  it("in the registers of a month, and in the balances at its end", async () => {
    const month = { ...years, from: "2025-12-01", to: "2026-01-01" };
    await expectPostingsOfHledger(month);
  }, 480_000);
});
