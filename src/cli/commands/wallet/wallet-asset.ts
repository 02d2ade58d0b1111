// Of which asset a wallet is. The API's figures don't say it; the entry that posted the wallet's first write does.
import type { LedgerClient, WalletAddress } from "../../../client/ledger-client.ts";
import { displayAmount } from "../../amounts.ts";
import type { Output } from "../../output.ts";

/**
 * How a wallet's amounts are shown: to a person at a terminal in major units with their asset, once
 * the wallet's first write is posted; else as they are, in smallest units.
 */
export async function amountsOf(
  output: Output,
  client: LedgerClient,
  wallet: WalletAddress,
): Promise<(amount: string) => string> {
  // Whatever keeps it from being known, a key without the scope for example, is no failure of the command.
  const asset = isForPeople(output) ? await findAsset(client, wallet).catch(() => null) : null;
  return (amount) => (asset === null ? amount : displayAmount(amount, asset));
}

/** Whether a person at a terminal reads what is printed, and nobody asked for something that scripts read. */
export function isForPeople(output: Output): boolean {
  return process.stdout.isTTY && !output.isJson && !output.isQuiet;
}

/** A wallet has the asset of its first write for ever; null while that is not posted. */
async function findAsset(client: LedgerClient, wallet: WalletAddress): Promise<string | null> {
  const { writes } = await client.listWalletWrites(wallet, { limit: 1 });
  const journalId = writes[0]?.journalId ?? null;
  if (journalId === null) return null;
  const { lines } = await client.getEntry(wallet.ledgerId, journalId);
  return lines[0]?.transactionCurrency ?? null;
}
