import { expect, test } from "vitest";
import { LedgerDirectory } from "../../src/http/ledger-directory.ts";

const own = "01a20481-7058-7526-ac14-05ae5f1ff3cb";
const foreign = "01a20481-7058-7526-ac14-05ae5f1ff3cc";
const unknown = "01a20481-7058-7526-ac14-05ae5f1ff3cd";

test("looks for another organization's ledger as often as for an unknown one", async () => {
  const organizations = new Map([
    [own, "ours"],
    [foreign, "theirs"],
  ]);
  const looked: string[] = [];
  const directory = new LedgerDirectory((ledgerId) => {
    looked.push(ledgerId);
    const organizationId = organizations.get(ledgerId);
    return Promise.resolve(
      organizationId === undefined ? null : { ledgerId, organizationId, functionalCurrency: "USD" },
    );
  });
  await directory.getLedger("theirs", foreign);
  for (let time = 0; time < 3; time += 1) {
    await directory.getLedger("ours", own);
    for (const ledgerId of [foreign, unknown]) {
      await expect(directory.getLedger("ours", ledgerId)).rejects.toThrow("no such ledger");
    }
  }
  expect(looked.filter((id) => id === own)).toHaveLength(1);
  expect(looked.filter((id) => id === unknown)).toHaveLength(3);
  expect(looked.filter((id) => id === foreign)).toHaveLength(1 + 3);
});

test("forgets a ledger that a failover lost, also while it is being found", async () => {
  const stored = [true, true, false];
  const directory = new LedgerDirectory((ledgerId) => {
    const found = { ledgerId, organizationId: "ours", functionalCurrency: "USD" };
    return Promise.resolve(stored.shift() === true ? found : null);
  });
  await directory.getLedger("ours", own);
  directory.forget();
  const finding = directory.getLedger("ours", own);
  directory.forget();
  await finding;
  await expect(directory.getLedger("ours", own)).rejects.toThrow("no such ledger");
});
