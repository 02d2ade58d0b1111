// A game's economy: players earn and spend gems in thousands of small writes a second, a trade holds the buyer's gems until the
// seller has handed over, and a stream tells the game's screen of every change. The books get one entry for all of it, now and then.
//
// Run it against a server: LEDGERCTL_URL, LEDGERCTL_API_KEY, LEDGERCTL_API_SECRET and LEDGERCTL_LEDGER name it, and the key needs the
// scopes read, wallets:write and admin.
import { randomUUID } from "node:crypto";
import { LedgerClient, ServiceProblem } from "ledgerctl";

const { LEDGERCTL_URL, LEDGERCTL_API_KEY, LEDGERCTL_API_SECRET, LEDGERCTL_LEDGER } = process.env;
const client = new LedgerClient({
  url: LEDGERCTL_URL ?? "http://127.0.0.1:8420",
  apiKey: LEDGERCTL_API_KEY ?? "",
  apiSecret: LEDGERCTL_API_SECRET ?? "",
});
const ledgerId = LEDGERCTL_LEDGER ?? "";

/** Each run is a season of its own. */
const season = randomUUID().slice(0, 8);
const player = (name: string) => ({ ledgerId, callerKey: `season-${season}/${name}` });
const assetCode = "GEMS";

// Gems are worth nothing in the books' currency but one to one: they are counted.
await client.setAssetRule(ledgerId, assetCode, { exponent: 0, overdraftLimit: "none" });

// A round ends: every player's reward in one request. A reward is given once, also if this is sent again.
const players = ["ada", "bo", "cy"];
const { results } = await client.writeWallets(
  ledgerId,
  players.map((name, place) => ({
    callerKey: player(name).callerKey,
    type: "credit",
    amount: String(100 - 30 * place),
    assetCode,
    externalId: `round-1/${name}`,
  })),
);
console.log("rewards:", results.map(({ status }) => status).join(" "));

// Bo buys a sword from Cy for 45 gems. They are held, so that Bo can't spend them twice meanwhile.
const { holdId } = await client.reserveFunds(player("bo"), {
  ...{ amount: "45", assetCode, externalId: "trade-7", expiresInSeconds: 60 },
});
try {
  await client.debitWallet(player("bo"), { amount: "30", assetCode, externalId: "hat" });
  throw new Error("a player spent gems that were held");
} catch (error) {
  if (!(error instanceof ServiceProblem) || error.status !== 422) throw error;
  console.log("bo can't afford the hat:", error.message);
}
// The sword was handed over: Bo pays, and Cy is paid.
await client.commitHold(player("bo"), holdId);
await client.creditWallet(player("cy"), { amount: "45", assetCode, externalId: "trade-7" });

const figures = await Promise.all(players.map((name) => client.getWalletBalance(player(name))));
console.log(players.map((name, index) => `${name} ${figures[index]?.balance ?? ""}`).join(", "));

// What a screen shows: all that happened to Cy so far, and what happens from now on.
for await (const { seq, balance } of client.streamWallet(player("cy"), { since: 0 })) {
  console.log(`cy, change ${seq}: ${balance} gems`);
  if (balance === "85") break;
}

const total = figures.reduce((sum, { balance }) => sum + BigInt(balance), 0n);
if (total !== 210n) throw new Error(`there are ${total} gems, and 210 were given`);

await client.close();
