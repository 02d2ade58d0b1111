// A shop: orders that are paid by card and sent, a customer who gets the money back, fees that a payment provider keeps,
// and what the books say in the end. Every call can be made again: an order is posted once, whatever gets lost.
//
// Run it against a server: LEDGERCTL_URL, LEDGERCTL_API_KEY, LEDGERCTL_API_SECRET and LEDGERCTL_LEDGER (a ledger in USD) name it,
// and the key needs the scopes read, entries:write and admin.
import { LedgerClient, ServiceProblem, type EntryInput } from "ledgerctl";

const { LEDGERCTL_URL, LEDGERCTL_API_KEY, LEDGERCTL_API_SECRET, LEDGERCTL_LEDGER } = process.env;
const client = new LedgerClient({
  url: LEDGERCTL_URL ?? "http://127.0.0.1:8420",
  apiKey: LEDGERCTL_API_KEY ?? "",
  apiSecret: LEDGERCTL_API_SECRET ?? "",
});
const ledgerId = LEDGERCTL_LEDGER ?? "";

await client.importAccounts(ledgerId, [
  { glAccountCode: "shop:provider", name: "Payment provider", type: "asset" },
  { glAccountCode: "shop:sales", name: "Sales", type: "income" },
  { glAccountCode: "shop:tax", name: "Sales tax to pay", type: "liability" },
  { glAccountCode: "shop:fees", name: "Card fees", type: "expense" },
]);

interface Order {
  readonly id: string;
  /** In cents, without tax. */
  readonly net: bigint;
}

/** 8 %, rounded half up to a cent. */
const taxOf = (net: bigint): bigint => (net * 8n + 50n) / 100n;
/** 30 cents and 3 %. */
const feeOf = (gross: bigint): bigint => 30n + (gross * 3n + 50n) / 100n;

/** Of an order that was paid: the provider owes the customer's money, less its fee. */
function saleOf({ id, net }: Order): EntryInput {
  const gross = net + taxOf(net);
  const fee = feeOf(gross);
  const line = (glAccountCode: string, amount: bigint) => ({
    glAccountCode,
    functionalAmount: amount.toString(),
  });
  return {
    externalId: `order-${id}`,
    originSystem: "shop",
    eventType: "ORDER_PAID",
    description: `Order ${id}`,
    metadata: { orderId: id },
    lines: [
      line("shop:provider", gross - fee),
      line("shop:fees", fee),
      line("shop:sales", -net),
      line("shop:tax", -taxOf(net)),
    ],
  };
}

const orders: Order[] = [
  { id: "1001", net: 4_990n },
  { id: "1002", net: 12_500n },
  { id: "1003", net: 999n },
];
for (const order of orders) {
  try {
    const { journalId } = await client.postEntry(ledgerId, saleOf(order));
    console.log(`order ${order.id} is entry ${journalId}`);
  } catch (error) {
    // The shop has posted it before.
    if (!(error instanceof ServiceProblem) || error.code !== "DUPLICATE_ENTRY") throw error;
    console.log(`order ${order.id} is in the books`);
  }
}

// The customer of order 1002 gets the money back: the entry stays, and its reversal is posted beside it.
const [order] = (await client.listEntries(ledgerId, { externalId: "order-1002" })).entries;
if (order === undefined) throw new Error("order 1002 was posted a moment ago");
if (order.reversedByJournalId === null) {
  await client.reverseEntry(ledgerId, order.journalId, {
    externalId: "refund-1002",
    description: "Refund of order 1002",
  });
}

// What the provider owes now, to the cent: orders 1001 and 1003, less their fees.
const { balance } = await client.getBalance(ledgerId, { account: "shop:provider" });
const due = orders
  .filter(({ id }) => id !== "1002")
  .map(({ net }) => net + taxOf(net) - feeOf(net + taxOf(net)))
  .reduce((sum, amount) => sum + amount, 0n);
if (balance !== due) throw new Error(`the provider owes ${balance}, and should owe ${due}`);
console.log(`the payment provider owes ${balance} cents`);

await client.close();
