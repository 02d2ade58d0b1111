// A wallet's log, replayed from nothing: what its row has to be, and what no log can say.
import type { WalletWriteType } from "../core/wallet.ts";
import type { AuditedWallet, AuditedWrite } from "../store/audit/wallets.ts";
import type { CheckLog } from "./audit-log.ts";

/** A wallet's log, replayed from nothing. */
export function replayOf(wallet: AuditedWallet, log: CheckLog) {
  const find = (what: string) => {
    log.find(`wallet ${JSON.stringify(wallet.callerKey)}`, what);
  };
  let last = { seq: 0, balance: 0n, held: 0n, at: "" };
  let frozenAt: string | null = null;
  let debits: { day: string; amount: bigint } | null = null;
  return {
    add(write: AuditedWrite): void {
      const { seq, type, balance, held, at, holdId, pendingPostingId, holdStatus } = write;
      if (seq !== last.seq + 1) find(`seq ${seq} comes after seq ${last.seq}`);
      const change = changeOf(write);
      if (change === null) find(`seq ${seq} is a ${type} of a hold that is not there`);
      const balanceDue = last.balance + (change?.balance ?? 0n);
      const heldDue = last.held + (change?.held ?? 0n);
      if (balance !== balanceDue) {
        find(`seq ${seq} has the balance ${balance}, the log comes to ${balanceDue}`);
      }
      if (held !== heldDue) find(`seq ${seq} has ${held} held, the log comes to ${heldDue}`);
      const status = holdId === null ? undefined : resolvedStatus[type];
      if (status !== undefined && holdStatus !== null && holdStatus !== status) {
        find(`seq ${seq} is a ${type} of a hold that is ${holdStatus}`);
      }
      const isMoving = type === "credit" || type === "debit" || type === "commit";
      if (isMoving !== (pendingPostingId !== null)) {
        find(`seq ${seq} ${isMoving ? "moves money and has no batch" : "has a batch"}`);
      }
      if (type === "freeze") frozenAt = at;
      else if (type === "unfreeze") frozenAt = null;
      if (debitTypes.includes(type)) debits = withDebit(debits, write);
      if (at < last.at) find(`seq ${seq} is of ${at}, before ${last.at}`);
      if (write.isFinerThanShown) find(`seq ${seq} has a time finer than a millisecond`);
      // What follows is compared with what is written, so that one wrong row is reported once.
      last = write;
    },
    finish(): void {
      const { balance, held, lastSeq, lastAt, activeHolds } = wallet;
      type Figure = bigint | number | string | null;
      const compare = (name: string, stored: Figure, logged: Figure) => {
        if (stored !== logged) find(`${name} is ${stored}, the log comes to ${logged}`);
      };
      compare("balance", balance, last.balance);
      compare("held", held, last.held);
      compare("lastSeq", lastSeq, last.seq);
      compare("lastAt", lastAt, last.at);
      compare("frozenAt", wallet.frozenAt, frozenAt);
      // Where none is kept, servers sum the log.
      if (wallet.debited !== null) {
        compare("debitedOn", wallet.debitedOn, debits?.day ?? null);
        compare("debited", wallet.debited, debits?.amount ?? null);
      }
      if (wallet.isFinerThanShown) find("a time is finer than a millisecond");
      if (activeHolds !== last.held) {
        find(`its active holds sum to ${activeHolds}, the log comes to ${last.held}`);
      }
    },
  };
}

/** The status that a row of the log gives to a hold. */
const resolvedStatus: Partial<Record<WalletWriteType, string>> = {
  commit: "committed",
  release: "released",
  expire: "expired",
  "transfer-out": "transferred",
};

/** What counts towards the limit of a day. */
const debitTypes: readonly string[] = ["debit", "commit", "transfer-out"];

function withDebit(
  debits: { readonly day: string; readonly amount: bigint } | null,
  { at, amount }: AuditedWrite,
) {
  const day = at.slice(0, 10);
  return { day, amount: (debits?.day === day ? debits.amount : 0n) + amount };
}

/** What a row adds to balance and held; null where that can't be known. */
function changeOf(write: AuditedWrite): { balance: bigint; held: bigint } | null {
  const { type, amount, holdId, holdAmount } = write;
  switch (type) {
    case "credit":
    case "transfer-in":
      return { balance: amount, held: 0n };
    case "debit":
      return { balance: -amount, held: 0n };
    case "reserve":
      return holdAmount === amount ? { balance: 0n, held: amount } : null;
    case "transfer-out":
      if (holdId === null) return { balance: -amount, held: 0n };
      return holdAmount === null ? null : { balance: -amount, held: -holdAmount };
    case "commit":
      return holdAmount === null ? null : { balance: -amount, held: -holdAmount };
    case "release":
    case "expire":
      return holdAmount === amount ? { balance: 0n, held: -amount } : null;
    case "freeze":
    case "unfreeze":
      return { balance: 0n, held: 0n };
  }
}
