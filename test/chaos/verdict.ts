// Whether what is stored is what the client was told: each acknowledged write once, nothing that was refused, nothing
// else, and streams without a gap.
import type { Stored, StoredEntry, StoredMovement } from "./stored.ts";
import type { Write } from "./writes.ts";

/** Messages of a wallet's stream, from its first write on. */
export interface Streamed {
  readonly callerKey: string;
  readonly messages: readonly { seq: number; balance: string }[];
}

/** What is wrong, a line each; empty when all is as the client was told. */
export function judge(writes: readonly Write[], stored: Stored): string[] {
  const faults = [...faultsOfOrder(stored), ...faultsOfTransfers(stored)];
  const journal = new Map<string, StoredEntry[]>();
  for (const entry of stored.entries) {
    if (entry.externalId === null) continue;
    journal.set(entry.externalId, [...(journal.get(entry.externalId) ?? []), entry]);
  }
  const rows = new Map<string, StoredMovement[]>();
  for (const [callerKey, ofWallet] of stored.walletRows) {
    for (const row of ofWallet) {
      // What a wallet was paid is found with the row of the one that paid.
      if (row.type === "transfer-in") continue;
      const key = keyOfRow(callerKey, row);
      rows.set(key, [...(rows.get(key) ?? []), row]);
    }
  }
  for (const write of writes) {
    const fault = faultOfAnswer(write) ?? faultOfStored(write, { journal, rows, ...stored });
    if (fault !== null) faults.push(`${write.kind} ${write.ids.join(", ")}: ${fault}`);
    for (const id of write.ids) {
      journal.delete(id);
      rows.delete(keyOf(write, id));
    }
  }
  for (const externalId of journal.keys())
    faults.push(`entry ${externalId} is stored and not sent`);
  for (const key of rows.keys()) faults.push(`wallet write ${key} is stored and not sent`);
  return faults;
}

/** What is wrong with a stream that has come to the last write. */
export function judgeStream({ callerKey, messages }: Streamed, { walletRows }: Stored): string[] {
  const rows = walletRows.get(callerKey) ?? [];
  // A posting repeats the seq of the last write.
  const told = messages.filter(({ seq }, index) => seq !== messages[index - 1]?.seq);
  const asTold = told.map(({ seq, balance }) => `${seq} ${balance}`);
  const asStored = rows.map(({ seq, balance }) => `${seq} ${balance}`);
  const at = asStored.findIndex((text, index) => asTold[index] !== text);
  if (at < 0 && asTold.length === asStored.length) return [];
  const [expected, found] = [asStored[at] ?? "no more", asTold[at < 0 ? asStored.length : at]];
  return [`stream of ${callerKey}: ${found ?? "nothing"} instead of ${expected}`];
}

function faultOfAnswer({ kind, answer, isAmbiguous }: Write): string | null {
  if (answer === null) return "was never answered";
  const { status, body } = answer;
  const isDuplicate =
    body.status === "duplicate" ||
    body.code === "DUPLICATE_ENTRY" ||
    body.code === "ALREADY_REVERSED" ||
    body.results?.some(({ status: ofOne }) => ofOne === "duplicate") === true;
  if (isDuplicate && !isAmbiguous)
    return "is a duplicate, although every attempt before said that nothing was recorded";
  if (status < 300 || isDuplicate) return null;
  // More than is available, or a hold of which an ambiguous answer hid that it was made.
  if (status === 422 && ["debit", "reserve", "transfers"].includes(kind)) return null;
  return `was answered ${status} ${JSON.stringify(body)}`;
}

function faultOfStored(
  write: Write,
  {
    journal,
    rows,
    closes,
  }: Stored & {
    journal: ReadonlyMap<string, readonly StoredEntry[]>;
    rows: ReadonlyMap<string, readonly StoredMovement[]>;
  },
): string | null {
  const { kind, ids, callerKey, answer, amount } = write;
  if (kind === "close")
    return closes.get(ids[0] ?? "") === answer?.body.closeHash ? null : "is not stored as answered";
  const expected = answer?.status === 422 ? 0 : 1;
  for (const [index, id] of ids.entries()) {
    const found = (callerKey === null ? journal.get(id) : rows.get(keyOf(write, id))) ?? [];
    if (found.length !== expected) return `is stored ${found.length} times instead of ${expected}`;
    const [one] = found;
    if (one === undefined) continue;
    if ("seq" in one) {
      if (amount !== "" && one.amount !== amount) return `is stored with ${one.amount}`;
      continue;
    }
    const told =
      kind === "bulk" ? answer?.body.results?.[index]?.journalId : answer?.body.journalId;
    if (told !== undefined && one.journalId !== told && kind !== "reversal")
      return `is stored as ${one.journalId} and was answered as ${told}`;
    if (amount !== "" && one.amount !== amount) return "has another amount";
  }
  return null;
}

/** Sequences and seqs are 1, 2, 3 …; each figure follows from the one before. */
function* faultsOfOrder({ entries, walletRows }: Stored): Iterable<string> {
  for (const [index, { sequence }] of entries.entries())
    if (sequence !== index + 1) yield `the journal has ${sequence} in place ${index + 1}`;
  for (const [callerKey, rows] of walletRows) {
    let balance = 0n;
    for (const [index, { seq, type, ...row }] of rows.entries()) {
      if (seq !== index + 1) yield `wallet ${callerKey} has seq ${seq} in place ${index + 1}`;
      if (type === "credit" || type === "transfer-in") balance += BigInt(row.amount);
      if (["debit", "commit", "transfer-out"].includes(type)) balance -= BigInt(row.amount);
      if (BigInt(row.balance) !== balance)
        yield `wallet ${callerKey} has ${row.balance} after seq ${seq} instead of ${balance}`;
    }
  }
}

/** A transfer is in the logs of two wallets that name each other, or in none. */
function* faultsOfTransfers({ walletRows }: Stored): Iterable<string> {
  const sides = new Map<string, string[]>();
  for (const [callerKey, rows] of walletRows) {
    for (const { type, amount, transferId, counterparty } of rows) {
      if (transferId === null) continue;
      const wallets = [callerKey, String(counterparty)];
      const [from, to] = type === "transfer-out" ? wallets : wallets.reverse();
      const side = `${type} ${amount} from ${from ?? ""} to ${to ?? ""}`;
      sides.set(transferId, [...(sides.get(transferId) ?? []), side]);
    }
  }
  for (const [transferId, found] of sides) {
    const [into = "", out = "", ...more] = found.sort();
    const isWhole = more.length === 0 && out === into.replace(/^transfer-in/, "transfer-out");
    if (!isWhole || into === out) yield `transfer ${transferId} has the sides ${found.join("; ")}`;
  }
}

/** By which a write is found: its externalId, or how its hold was resolved. */
function keyOf({ kind, callerKey }: Write, id: string): string {
  if (kind === "transfers") return `${String(callerKey)}/transfer-out/${id}`;
  const isResolution = kind === "commit" || kind === "release";
  return `${String(callerKey)}/${isResolution ? `${kind}/hold` : kind}/${id}`;
}

function keyOfRow(callerKey: string, { type, externalId, holdId }: StoredMovement): string {
  if (externalId !== null) return `${callerKey}/${type}/${externalId}`;
  return `${callerKey}/${type}/hold/${String(holdId)}`;
}
