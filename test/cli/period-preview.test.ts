// A preview as people read it, where the books of a test are hardly ever in that state.
import { expect, it } from "vitest";
import { describePreview } from "../../src/cli/commands/period/preview.ts";
import { Output } from "../../src/cli/terminal/output.ts";
import type { ClosePreview } from "../../src/contract/types.ts";

const preview: ClosePreview = {
  ledgerId: "019aaaaa-0000-7000-8000-000000000000",
  functionalCurrency: "USD",
  periodId: "2026-03\n\u001b[2J",
  startsAt: null,
  endsAt: "2026-04-01T00:00:00.000Z",
  previewedAt: "2026-04-02T00:00:00.000Z",
  lastSequence: 1,
  accounts: [],
  totals: { opening: "0", debits: "0", credits: "0", closing: "0" },
  balanced: true,
  close: null,
  closesToDate: false,
  endsInFuture: false,
  entryCount: 1,
  pendingPostings: [],
  assetsWithoutRate: [],
  unknownCurrencies: [],
  earlierOpen: [],
  moved: [],
};
const output = new Output({}, true);

it("has one line where there is nothing else to say, and no text of others commands the terminal", () => {
  expect(describePreview(output, preview, 2, [])).toBe(
    "2026-03\\u000a\\u001b[2J, from the beginning up to 2026-04-01T00:00:00.000Z: 1 entry",
  );
});

it("lists what wallets have pending, and says what of it is not in the period", () => {
  const posting = {
    assetCode: "USD",
    transactionDate: "2026-03-31T23:00:00.000Z",
    isInPeriod: true,
    amount: "12345",
    writes: 7,
    wallets: 2,
  };
  const later = { ...posting, transactionDate: "2026-04-01T00:00:00.000Z", isInPeriod: false };
  const shown = describePreview(output, { ...preview, pendingPostings: [posting, later] }, 2, []);
  expect(shown).toContain("what wallets have pending is posted first:");
  expect(shown).toMatch(/^USD +2026-03-31T23:00:00\.000Z +123\.45 USD +7 +2$/m);
  expect(shown).toMatch(/^USD +2026-04-01T00:00:00\.000Z +123\.45 USD +7 +2 +not in the period$/m);
});
