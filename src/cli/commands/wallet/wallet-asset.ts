// Of which asset a wallet is. The API's figures don't say it; the entry that posted the wallet's first write does.
import type { LedgerClient, WalletAddress } from "../../../client/ledger-client.ts";
import { exponentsShown } from "../../connection/exponents.ts";
import { displayAmount } from "../../terminal/amounts.ts";
import type { Output } from "../../terminal/output.ts";

/**
 * How a wallet's amounts are shown in text: in major units with their asset, once the wallet's first write is posted;
 * before that, and with `--minor`, as they are: in smallest units. A note says so where nobody asked for them.
 */
export async function amountsOf(
  output: Output,
  client: LedgerClient,
  wallet: WalletAddress,
): Promise<(amount: string) => string> {
  const asIs = (amount: string) => amount;
  if (output.isForPrograms || output.isQuiet || output.isMinor) return asIs;
  try {
    const [first] = (await client.listWalletWrites(wallet, { limit: 1 })).writes;
    if (first?.journalId === null) {
      output.note("amounts are in smallest units, as the wallet's first write is not posted yet");
    }
    const asset = first?.journalId ? await findAsset(client, wallet, first.journalId) : null;
    if (asset === null) return asIs;
    const exponentOf = await exponentsShown({ client, output }, wallet.ledgerId, [asset]);
    return (amount) => displayAmount(amount, asset, exponentOf(asset));
  } catch {
    // Whatever keeps it from being known, a key without the scope for example, is no failure of the command.
    return asIs;
  }
}

/** A wallet has the asset of its first write for ever, which the entry that posted it says. */
async function findAsset(client: LedgerClient, { ledgerId }: WalletAddress, journalId: string) {
  const { lines } = await client.getEntry(ledgerId, journalId);
  return lines[0]?.transactionCurrency ?? null;
}
