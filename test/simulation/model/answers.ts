// Nothing lost, nothing doubled: what was accepted is there once and as it was answered; what was refused is not there;
// nothing is there that nobody asked for.
import type { EntryDraft, Line } from "../../../src/core/journal.ts";
import type { WalletReply } from "../../../src/core/wallet.ts";
import type { CloseRecord } from "../../../src/core/close.ts";
import type { WriteResult } from "../../../src/engine/journal.ts";
import type { JournalEntryRow, WalletWriteRow } from "../database/tables.ts";
import { refusalOf, type Attempt } from "../history/attempt.ts";
import { poison } from "../history/plan.ts";
import type { FinalBooks } from "./final-books.ts";
import { shown, type Violations } from "./violation.ts";

/** `isCalm`: nothing went wrong, so that nothing may be unavailable either. */
export function checkAnswers(
  violations: Violations,
  books: FinalBooks,
  attempts: readonly Attempt[],
  isCalm: boolean,
): void {
  const entries = new Map(books.entries.map((entry) => [entry.description ?? "", entry]));
  const writes = rowsByTag(books);
  const sent = new Set<string>();
  for (const attempt of attempts) {
    const { asked, outcome } = attempt;
    const tell = () => shown({ ...attempt, incarnation: undefined });
    // Administration is told of a database that is away as it is.
    const mayFail = (asked.kind === "other" && !isCalm) || isPoisoned(attempt);
    violations.expect(outcome?.kind !== "error" || mayFail, "error", tell);
    const problem = refusalOf(attempt)?.problem;
    const isUnavailable = problem === "unavailable" || problem === "outcomeUnknown";
    violations.expect(!(isCalm && isUnavailable), "unavailable", tell);
    if (asked.kind === "entries" || asked.kind === "reversal") {
      const drafts = asked.kind === "entries" ? asked.drafts : [asked.draft];
      const found = drafts.map(({ description }) => entries.get(description ?? ""));
      for (const { description } of drafts) sent.add(description ?? "");
      checkEntries(violations, attempt, found, books);
    } else if (asked.kind === "wallet" && "metadata" in asked.write) {
      sent.add(attempt.tag);
      checkMovement(violations, attempt, writes.get(attempt.tag));
    } else if (asked.kind === "transfers") {
      for (const { metadata } of asked.transfers) sent.add(metadata ?? "");
    } else if (asked.kind === "close" && outcome?.kind === "reply") {
      const { closeId, closeHash } = outcome.reply as CloseRecord;
      const stored = books.closes.find((close) => close.closeId === closeId);
      violations.expect(stored?.closeHash === closeHash, "lost close", tell);
    }
  }
  checkSent(violations, books, sent);
  checkResolutions(violations, books, attempts);
}

/** Whether the database fails on what was asked for. */
function isPoisoned({ asked }: Attempt): boolean {
  if (asked.kind === "entries") return asked.drafts.some((each) => each.externalId === poison);
  if (asked.kind === "reversal") return asked.draft.externalId === poison;
  if (asked.kind === "transfers") return asked.transfers.some((each) => each.externalId === poison);
  return asked.kind === "wallet" && "metadata" in asked.write && asked.write.externalId === poison;
}

/** The rows of wallets' logs that bear a tag, those of transfers left out: two rows bear theirs. */
function rowsByTag({ writes }: FinalBooks): Map<string, WalletWriteRow> {
  const single = writes.filter(({ transferId }) => transferId === null);
  return new Map(single.map((write) => [write.metadata ?? "", write]));
}

/** Of one attempt, the entries that bear its tags. */
function checkEntries(
  violations: Violations,
  attempt: Attempt,
  found: readonly (JournalEntryRow | undefined)[],
  books: FinalBooks,
): void {
  const { outcome, asked } = attempt;
  const tell = () => shown({ ...attempt, incarnation: undefined, found });
  const isThere = found.some((entry) => entry !== undefined);
  const isWhole = !found.includes(undefined);
  violations.expect(isWhole || !isThere, "part of a whole", tell);
  if (outcome?.kind === "reply") {
    violations.expect(isWhole, "lost entry", tell);
    const results = outcome.reply as readonly WriteResult[];
    found.forEach((entry, index) => {
      const isAsAnswered =
        entry?.journalId === results[index]?.journalId &&
        entry?.persistedAt === results[index]?.persistedAt;
      violations.expect(isAsAnswered, "changed entry", tell);
    });
  } else if (outcome?.kind === "refusal" && outcome.refusal.problem !== "outcomeUnknown") {
    violations.expect(!isThere, "refused and written", tell);
  }
  if (asked.kind !== "entries" || !isWhole) return;
  asked.drafts.forEach((draft, index) => {
    const entry = found[index];
    const isSame = entry !== undefined && isAsAsked(entry, draft, books);
    violations.expect(isSame, "changed entry", tell);
  });
}

function isAsAsked(entry: JournalEntryRow, draft: EntryDraft, { lines }: FinalBooks): boolean {
  const own = lines
    .filter(({ ledgerId, sequence }) => ledgerId === entry.ledgerId && sequence === entry.sequence)
    .sort((one, other) => one.lineNumber - other.lineNumber);
  return (
    entry.externalId === draft.externalId &&
    entry.transactionDate === (draft.transactionDate ?? entry.persistedAt) &&
    own.length === draft.lines.length &&
    draft.lines.every((line, index) => isSameLine(line, own[index]))
  );
}

function isSameLine(line: Line, stored: Line | undefined): boolean {
  return (
    stored?.glAccountCode === line.glAccountCode &&
    stored.functionalAmount === line.functionalAmount &&
    stored.transactionAmount === line.transactionAmount
  );
}

/** Of one attempt, the row of a wallet's log that bears its tag. */
function checkMovement(
  violations: Violations,
  attempt: Attempt,
  row: WalletWriteRow | undefined,
): void {
  const { asked, outcome } = attempt;
  if (asked.kind !== "wallet" || !("metadata" in asked.write)) return;
  const { type, amount, externalId } = asked.write;
  const tell = () => shown({ ...attempt, incarnation: undefined, row });
  const isSame =
    row === undefined ||
    (row.type === type && row.amount === amount && row.externalId === externalId);
  violations.expect(isSame, "changed write", tell);
  if (outcome?.kind === "refusal" && outcome.refusal.problem !== "outcomeUnknown") {
    violations.expect(row === undefined, "refused and written", tell);
  }
  if (outcome?.kind !== "reply") return;
  const reply = outcome.reply as WalletReply;
  if (reply.status === "duplicate") {
    violations.expect(row === undefined, "duplicate of itself", tell);
    return;
  }
  const isAsAnswered =
    row?.balance === reply.balance &&
    row.balance - row.held === reply.available &&
    (type !== "reserve" || row.holdId === reply.holdId);
  violations.expect(row !== undefined, "lost write", tell);
  violations.expect(isAsAnswered, "changed write", tell);
}

/** Nothing is there that nobody asked for, and nothing twice. */
function checkSent(violations: Violations, books: FinalBooks, sent: ReadonlySet<string>): void {
  const seen = new Set<string>();
  const look = (tag: string | null, what: object) => {
    violations.expect(tag !== null && sent.has(tag), "never asked for", () => shown(what));
    violations.expect(!seen.has(tag ?? ""), "doubled", () => shown(what));
    seen.add(tag ?? "");
  };
  for (const entry of books.entries) {
    if (entry.originSystem !== "ledgerctl") look(entry.description, entry);
  }
  for (const write of books.writes) {
    const isTagged = ["credit", "debit", "reserve", "transfer-out"].includes(write.type);
    if (isTagged) look(write.metadata, write);
  }
}

/** A hold ends once, by somebody who asked for that; who was told so was told the truth. */
function checkResolutions(
  violations: Violations,
  books: FinalBooks,
  attempts: readonly Attempt[],
): void {
  const ends = books.writes.filter(({ type }) => type === "commit" || type === "release");
  const accepted = new Set<string>();
  for (const attempt of attempts) {
    const { asked, outcome } = attempt;
    if (asked.kind !== "wallet" || !("holdId" in asked.write)) continue;
    const { holdId, type } = asked.write;
    const row = ends.find((write) => write.holdId === holdId);
    const tell = () => shown({ ...attempt, incarnation: undefined, row });
    if (outcome?.kind !== "reply") continue;
    const reply = outcome.reply as WalletReply;
    violations.expect(row?.type === type, "lost write", tell);
    if (reply.status !== "accepted") continue;
    violations.expect(!accepted.has(row?.holdId ?? ""), "doubled", tell);
    accepted.add(row?.holdId ?? "");
    const isAsAnswered =
      row?.balance === reply.balance && row.balance - row.held === reply.available;
    violations.expect(isAsAnswered, "changed write", tell);
  }
  for (const row of ends) {
    const isAsked = attempts.some(
      ({ asked }) =>
        asked.kind === "wallet" &&
        "holdId" in asked.write &&
        asked.write.type === row.type &&
        asked.write.holdId === row.holdId,
    );
    violations.expect(isAsked, "never asked for", () => shown(row));
  }
}
