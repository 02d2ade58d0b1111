// A ledger's closes as bundles, made from entries and bounds: for chains that the vectors don't have.
import { canonicalJson, entryLeaf } from "../../src/core/canonical.ts";
import {
  balancesRootOf,
  closeHashOf,
  TrialBalance,
  type CloseRecord,
} from "../../src/core/close.ts";
import type { JsonObject } from "../../src/core/journal.ts";
import { rootOf } from "../../src/core/merkle.ts";
import { holds } from "../../src/core/period.ts";
import type { Timestamp } from "../../src/core/time.ts";
import { bundleText } from "./close-vectors.ts";
import { ledgerId } from "./tlog.ts";

/** An entry of two lines, and when it was posted: in the order of its place. */
export interface MadeEntry {
  readonly date: string;
  readonly debit: string;
  readonly credit: string;
  readonly amount: number;
  /** That of the transaction, where it is not the functional one, with the same amount. */
  readonly currency?: string;
  /** The functional currency, where it is not USD. */
  readonly functionalCurrency?: string;
}

interface MadeClose {
  readonly periodId: string;
  readonly startsAt: string | null;
  readonly endsAt: string;
  /** How many entries there were when it was closed. */
  readonly lastSequence: number;
}

export interface MadeBundle {
  readonly record: CloseRecord;
  /** Without the closeHash, canonical: the leaf's data in the log of closes. */
  readonly data: string;
  readonly lines: readonly JsonObject[];
  readonly text: string;
}

const moment = (day: string) => `${day}T00:00:00.000Z` as Timestamp;
const idOf = (kind: number, number: number) =>
  `0190b6a0-000${kind}-7000-8000-${String(number).padStart(12, "0")}`;

/** The bundles of closes that were made one after the other, as the service would have made them. */
export function makeBundles(
  entries: readonly MadeEntry[],
  closes: readonly MadeClose[],
  ledger = ledgerId,
): MadeBundle[] {
  const documents = entries.map((entry, index) => documentOf(entry, index + 1, ledger));
  let previousCloseHash: string | null = null;
  return closes.map(({ periodId, startsAt, endsAt, lastSequence }, index) => {
    const period = {
      startsAt: startsAt === null ? null : moment(startsAt),
      endsAt: moment(endsAt),
    };
    const balances = new TrialBalance();
    const held: JsonObject[] = [];
    entries.slice(0, lastSequence).forEach(({ date, debit, credit, amount }, at) => {
      const lines = [
        { glAccountCode: debit, functionalAmount: BigInt(amount) },
        { glAccountCode: credit, functionalAmount: -BigInt(amount) },
      ];
      if (holds(period, moment(date))) {
        balances.addEntry(lines);
        held.push(documents[at] ?? {});
      } else if (period.startsAt !== null && moment(date) < period.startsAt) {
        balances.addOpening(lines);
      }
    });
    const rows = balances.rows();
    const unhashed = {
      ...{ ledgerId: ledger, closeId: idOf(2, index + 1), number: index + 1, periodId },
      ...{
        reason: null,
        ...period,
        closedAt: moment(`2027-01-${String(index + 1).padStart(2, "0")}`),
      },
      ...{ lastSequence, entryCount: held.length, merkleAlgorithm: "rfc6962-sha256-jcs-v1" },
      merkleRoot: rootOf(held.map((each) => entryLeaf(each as never))).toString("hex"),
      balancesRoot: balancesRootOf(rows).toString("hex"),
      previousCloseHash,
    };
    const record = { ...unhashed, closeHash: closeHashOf(unhashed).toString("hex") };
    previousCloseHash = record.closeHash;
    const lines: JsonObject[] = [
      { kind: "close", format: "ledgerctl-bundle-v1", close: record },
      ...rows.map((row) => ({
        kind: "account",
        account: JSON.parse(
          JSON.stringify(row, (_, value: unknown) =>
            typeof value === "bigint" ? String(value) : value,
          ),
        ) as JsonObject,
      })),
      ...held.map((entry) => ({ kind: "entry", entry })),
      { kind: "trailer", accounts: rows.length, entries: held.length },
    ];
    return { record, data: canonicalJson(unhashed), lines, text: bundleText(lines) };
  });
}

function documentOf(
  { date, debit, credit, amount, functionalCurrency = "USD", ...entry }: MadeEntry,
  sequence: number,
  ledger: string,
) {
  const { currency = functionalCurrency } = entry;
  const line = (glAccountCode: string, value: number) => ({
    ...{ description: null, functionalAmount: String(value), functionalCurrency },
    ...{ glAccountCode, spotRate: null },
    ...{ transactionAmount: String(value), transactionCurrency: currency },
  });
  return {
    ...{ description: null, entryType: "STANDARD", eventType: null, externalId: null },
    ...{ journalId: idOf(1, sequence), ledgerId: ledger, metadata: {}, sequence },
    lines: [line(debit, amount), line(credit, -amount)],
    ...{ originAccount: null, originSystem: null, postingStatus: "POSTED" },
    ...{ persistedAt: "2026-12-31T00:00:00.000Z", reversesJournalId: null },
    transactionDate: moment(date),
  };
}

/** A sale of each of these months of 2026, in cents. */
export function sales(...months: readonly number[]): MadeEntry[] {
  return months.map((month) => ({
    ...{ date: `2026-${two(month)}-15`, debit: "1000", credit: "4000", amount: 1_000 * month },
  }));
}

/** The month's close. */
export function monthClose(month: number, lastSequence: number): MadeClose {
  const startsAt = `2026-${two(month)}-01`;
  return {
    periodId: startsAt.slice(0, 7),
    startsAt,
    endsAt: `2026-${two(month + 1)}-01`,
    lastSequence,
  };
}

function two(month: number): string {
  return String(month).padStart(2, "0");
}
