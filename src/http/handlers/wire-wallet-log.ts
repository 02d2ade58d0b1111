// Rows of wallets' logs as they travel.
import type { WalletLogEntry } from "../../contract/types.ts";
import type { PostedWalletLogEntry } from "../../store/wallet-writes.ts";

export function wireLogEntry(row: PostedWalletLogEntry): WalletLogEntry {
  return {
    seq: row.seq,
    type: row.type,
    amount: row.amount.toString(),
    balance: row.balance.toString(),
    held: row.held.toString(),
    externalId: row.externalId,
    holdId: row.holdId,
    metadata: row.metadata,
    at: row.at,
    // Other rows are as they were before there were transfers.
    ...(row.transferId === null || row.counterparty === null
      ? {}
      : { transferId: row.transferId, counterparty: row.counterparty }),
    journalId: row.journalId,
  };
}
