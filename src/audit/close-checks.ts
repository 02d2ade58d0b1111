// Checks of closes as they are stored: the chain of their records.
import { closeHashOf, merkleAlgorithm, type CloseRecord } from "../core/close.ts";
import { type AuditedLedger, listFineCloses, listStrayCloseParts } from "../store/audit/journal.ts";
import { listCloses } from "../store/period-closes.ts";
import type { Connection } from "../store/database/connection.ts";
import type { CheckLog } from "./audit-log.ts";

/** All closes of a ledger, by number; those with numbers that can't be among them. */
export function readCloses(
  connection: Connection,
  ledgerId: string,
): Promise<readonly CloseRecord[]> {
  return listCloses(connection, ledgerId, { afterNumber: -(2 ** 31), limit: 2 ** 31 });
}

/** How findings name a close. */
export function closeName({ number, periodId }: CloseRecord): string {
  return `close ${number} (${JSON.stringify(periodId)})`;
}

/** Numbers without gaps, each record's own hash, and in each the hash of the one before. */
export async function checkChain(
  connection: Connection,
  ledger: AuditedLedger,
  closes: readonly CloseRecord[],
  log: CheckLog,
): Promise<void> {
  log.looked(closes.length);
  closes.forEach((close, index) => {
    const find = (what: string) => {
      log.find(closeName(close), what);
    };
    const before = closes[index - 1];
    const number = (before?.number ?? 0) + 1;
    if (close.number !== number) find(`comes where close ${number} should be`);
    const previous = before?.closeHash ?? null;
    if (close.previousCloseHash !== previous) {
      find(`previousCloseHash is ${close.previousCloseHash ?? "null"}, not ${previous ?? "null"}`);
    }
    const hash = closeHashOf(close).toString("hex");
    if (close.closeHash !== hash) find(`closeHash is ${close.closeHash}, but comes to ${hash}`);
    if (close.merkleAlgorithm !== merkleAlgorithm) {
      find(`merkleAlgorithm is ${close.merkleAlgorithm}, not ${merkleAlgorithm}`);
    }
    if (
      close.lastSequence < (before?.lastSequence ?? 0) ||
      close.lastSequence > (ledger.lastSequence ?? 0)
    ) {
      find(`lastSequence is ${close.lastSequence}, which the journal did not have at that moment`);
    }
    if (before !== undefined && close.closedAt <= before.closedAt) {
      find(`was closed at ${close.closedAt}, not after ${closeName(before)}`);
    }
  });
  log.findAll(await listFineCloses(connection, ledger.ledgerId));
  log.findAll(await listStrayCloseParts(connection, ledger.ledgerId));
}
