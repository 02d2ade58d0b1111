// Where a delivery begins, or is replayed from: a place that the ledger has.
import type {
  DeliveryEventKind,
  DeliveryPlace,
  DeliveryStart,
  JournalPlace,
} from "../../core/delivery.ts";
import { validationRefusal } from "../../core/errors.ts";
import type { Connection } from "../../store/database/connection.ts";
import { readJournalHead } from "../../store/journal-heads.ts";
import { readWalletOrder } from "../../store/ordered-wallet-writes.ts";
import { findLastClose } from "../../store/period-closes.ts";

/** The place that is asked for; what is not named begins with what is recorded next. Rejects with `validation` for one that the ledger does not have. */
export async function placeFor(
  transaction: Connection,
  ledgerId: string,
  events: readonly DeliveryEventKind[],
  start: DeliveryStart,
): Promise<DeliveryPlace> {
  const journal = await journalPlaceFor(transaction, ledgerId, start.journal);
  const walletNumber = await walletNumberFor(transaction, ledgerId, events, start.walletNumber);
  return { ...journal, walletNumber };
}

async function journalPlaceFor(
  transaction: Connection,
  ledgerId: string,
  since: JournalPlace | null,
): Promise<JournalPlace> {
  const { lastSequence } = await readJournalHead(transaction, ledgerId);
  const closeNumber = (await findLastClose(transaction, ledgerId))?.number ?? 0;
  if (since === null) return { sequence: lastSequence, closeNumber };
  if (since.sequence > lastSequence || since.closeNumber > closeNumber) {
    const detail = `is beyond what the ledger has: ${lastSequence}.${closeNumber}`;
    throw validationRefusal([{ path: ["since"], detail }]);
  }
  return since;
}

async function walletNumberFor(
  transaction: Connection,
  ledgerId: string,
  events: readonly DeliveryEventKind[],
  since: number | null,
): Promise<number> {
  const { orderedAfter, lastNumber } = await readWalletOrder(transaction, ledgerId);
  if (since === null) return lastNumber;
  const first = orderedAfter ?? lastNumber;
  const detail = !events.includes("wallet")
    ? "is for deliveries with the event wallet"
    : since > lastNumber
      ? `is beyond what the ledger has: ${lastNumber}`
      : since < first
        ? `is before the first wallet write that can be delivered: ${first} is the least`
        : null;
  if (detail !== null) throw validationRefusal([{ path: ["walletSince"], detail }]);
  return since;
}
