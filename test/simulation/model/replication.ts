// Nothing that asserts a record leaves before the standby has it (docs/decisions/0010): looked at in the moment of the
// answer, since a failover that would show it need not come.
import type { TransferReply, WalletTransfer } from "../../../src/core/wallet-transfer.ts";
import type { WalletReply } from "../../../src/core/wallet.ts";
import type { CloseRecord } from "../../../src/core/close.ts";
import type { Refusal } from "../../../src/core/errors.ts";
import type { WriteResult } from "../../../src/engine/journal.ts";
import type { Cluster } from "../database/cluster.ts";
import type { WalletWriteRow } from "../database/tables.ts";
import type { Version } from "../database/transactions.ts";
import type { Attempt } from "../history/attempt.ts";

type Versions = readonly Version<object>[];

/** Whether all that an attempt was just answered stays so, whichever server is lost now. */
export function restsOnReplicated(cluster: Cluster, attempt: Attempt): boolean {
  return recordsOf(cluster, attempt).every((versions) => hasConfirmed(cluster, versions));
}

export function hasConfirmed(cluster: Cluster, versions: Versions): boolean {
  return versions.some(({ createdBy }) => cluster.isConfirmed(createdBy));
}

/** The rows of a wallet's log that a condition holds for, of every wallet that was ever made for a key. */
export function logVersions(
  { tables }: Cluster,
  ledgerId: string,
  callerKey: string,
  condition: (row: WalletWriteRow) => boolean,
): Version<WalletWriteRow>[] {
  const made = tables.wallets.versionsOf(tables.wallets.keyOf({ ledgerId, callerKey }));
  const walletIds = new Set(made.map(({ row }) => row.walletId));
  return [...tables.walletWrites.allVersions()].filter(
    ({ row }) => walletIds.has(row.walletId) && condition(row),
  );
}

/** The versions of each record that an answer tells of. */
function recordsOf(cluster: Cluster, attempt: Attempt): Versions[] {
  const { asked, ledgerId, outcome } = attempt;
  if (outcome?.kind === "refusal") return recordsOfRefusal(cluster, ledgerId, outcome.refusal);
  if (outcome?.kind !== "reply") return [];
  switch (asked.kind) {
    case "entries":
    case "reversal":
      return (outcome.reply as readonly WriteResult[]).map(({ journalId }) =>
        entryVersions(cluster, ledgerId, journalId),
      );
    case "wallet":
      return [walletVersions(cluster, attempt, outcome.reply as WalletReply)];
    case "transfers": {
      const replies = outcome.reply as readonly TransferReply[];
      return asked.transfers.flatMap((transfer, index) =>
        transferVersions(cluster, ledgerId, transfer, replies[index]),
      );
    }
    case "close":
      return [closeVersions(cluster, ledgerId, (outcome.reply as CloseRecord).closeId)];
    case "other":
      return [];
  }
}

function recordsOfRefusal(
  cluster: Cluster,
  ledgerId: string,
  { problem, members }: Refusal,
): Versions[] {
  switch (problem) {
    case "duplicateEntry":
      return [entryVersions(cluster, ledgerId, String(members.journalId))];
    case "alreadyReversed":
      return [entryVersions(cluster, ledgerId, String(members.reversalJournalId))];
    case "periodClosed":
      return [closeVersions(cluster, ledgerId, String(members.closeId))];
    default:
      return [];
  }
}

function entryVersions({ tables }: Cluster, ledgerId: string, journalId: string): Versions {
  const key = { ledgerId, journalId };
  return tables.journalEntries.versionsWith("journal_entries_journal_id_key", key);
}

function closeVersions({ tables }: Cluster, ledgerId: string, closeId: string): Versions {
  return tables.periodCloses.versionsWith("period_closes_close_id_key", { ledgerId, closeId });
}

function walletVersions(cluster: Cluster, attempt: Attempt, reply: WalletReply): Versions {
  const { asked, ledgerId, tag } = attempt;
  if (asked.kind !== "wallet") return [];
  const { write } = asked;
  return logVersions(cluster, ledgerId, write.callerKey, (row) => {
    if ("holdId" in write) return row.holdId === write.holdId && row.type === write.type;
    if (!("metadata" in write)) {
      // Of a wallet that was never frozen there is no row that says that it is not.
      return row.type === write.type || (reply.status === "duplicate" && write.type === "unfreeze");
    }
    if (reply.status === "accepted") return row.metadata === tag;
    const reserved = row.type === "reserve" ? row.holdId : null;
    return row.externalId === write.externalId && reserved === reply.holdId;
  });
}

/** Of a transfer, the rows of both logs; of a duplicate, what used its externalId first. */
function transferVersions(
  cluster: Cluster,
  ledgerId: string,
  { from, to, externalId, metadata }: WalletTransfer,
  reply: TransferReply | undefined,
): Versions[] {
  if (reply?.status === "duplicate") {
    const { transferId } = reply;
    return [
      logVersions(
        cluster,
        ledgerId,
        from,
        (row) => row.externalId === externalId && row.transferId === transferId,
      ),
    ];
  }
  return [from, to].map((callerKey) =>
    logVersions(cluster, ledgerId, callerKey, (row) => row.metadata === metadata),
  );
}
