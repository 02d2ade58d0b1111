// A payroll: a month's salaries are posted whole or not at all, the month is closed, and an employee gets a proof that their
// payslip is in the closed books, which they can check without the company.
//
// Run it against a server: LEDGERCTL_URL, LEDGERCTL_API_KEY, LEDGERCTL_API_SECRET and LEDGERCTL_LEDGER (a ledger in USD) name it,
// and the key needs the scopes read, entries:write, periods:close and admin. LEDGERCTL_MONTH is the month, such as 2026-03.
import { LedgerClient, ServiceProblem, type EntryInput, type Proof } from "ledgerctl";

const { LEDGERCTL_URL, LEDGERCTL_API_KEY, LEDGERCTL_API_SECRET, LEDGERCTL_LEDGER } = process.env;
const client = new LedgerClient({
  url: LEDGERCTL_URL ?? "http://127.0.0.1:8420",
  apiKey: LEDGERCTL_API_KEY ?? "",
  apiSecret: LEDGERCTL_API_SECRET ?? "",
});
const ledgerId = LEDGERCTL_LEDGER ?? "";
const month = process.env["LEDGERCTL_MONTH"] ?? "2024-03";

await client.importAccounts(ledgerId, [
  { glAccountCode: "payroll:salaries", name: "Salaries", type: "expense" },
  { glAccountCode: "payroll:net", name: "Salaries to pay out", type: "liability" },
  { glAccountCode: "payroll:tax", name: "Wage tax to pay", type: "liability" },
]);

interface Payslip {
  readonly employee: string;
  /** In cents. */
  readonly gross: bigint;
  readonly tax: bigint;
}

const payslips: Payslip[] = [
  { employee: "ada", gross: 520_000n, tax: 98_800n },
  { employee: "bo", gross: 415_050n, tax: 70_561n },
  { employee: "cy", gross: 388_000n, tax: 62_080n },
];

const entryOf = ({ employee, gross, tax }: Payslip): EntryInput => ({
  externalId: `payroll/${month}/${employee}`,
  eventType: "PAYSLIP",
  transactionDate: `${month}-25T12:00:00Z`,
  description: `Salary ${month}, ${employee}`,
  lines: [
    { glAccountCode: "payroll:salaries", functionalAmount: gross.toString() },
    { glAccountCode: "payroll:tax", functionalAmount: (-tax).toString() },
    { glAccountCode: "payroll:net", functionalAmount: (tax - gross).toString() },
  ],
});

try {
  const receipts = await client.postAtomicEntries(ledgerId, payslips.map(entryOf));
  console.log(`${receipts.length} payslips of ${month} are posted`);
} catch (error) {
  const isDone = error instanceof ServiceProblem && error.code === "DUPLICATE_ENTRY";
  if (!isDone) throw error;
  console.log(`the payslips of ${month} were posted before`);
}

// What a close would do is looked at first: nothing may be missing.
const preview = await client.previewClose(ledgerId, { periodId: month });
if (preview.entryCount < payslips.length) throw new Error("a payslip is missing");
const close = await client.closePeriod(ledgerId, { periodId: month, reason: "payroll is done" });
console.log(`${close.periodId} is closed: publish ${close.closeHash}`);

// A payslip can't be added any more.
const late = client.postEntry(ledgerId, { ...entryOf(payslips[0] as Payslip), externalId: "late" });
await late.then(
  () => {
    throw new Error("an entry got into a closed month");
  },
  (error: unknown) => {
    if (!(error instanceof ServiceProblem) || error.code !== "PERIOD_CLOSED") throw error;
  },
);

// For Bo: `ledgerctl merkle check` checks it offline, against the hash that was published.
const [payslip] = (await client.listEntries(ledgerId, { externalId: `payroll/${month}/bo` }))
  .entries;
if (payslip === undefined) throw new Error("the payslip was posted a moment ago");
const proof = await client.getProof(ledgerId, close.closeId, payslip.journalId);
const { treeSize, auditPath } = JSON.parse(proof) as Proof;
console.log(`bo's payslip is proven in ${auditPath.length} steps among ${treeSize}`);

await client.close();
