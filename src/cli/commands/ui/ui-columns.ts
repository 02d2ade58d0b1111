// The columns of the lists on the screen for the books. Pure.
import type { Entry, RegisterLine } from "../../../client/ledger-client.ts";
import type { ExponentOf } from "../../connection/exponents.ts";
import { printable } from "../../terminal/printable.ts";
import type { ScreenColumn } from "../../terminal/screen/table.tsx";
import type { TreeRow } from "./account-tree.ts";
import type { DetailRow } from "./detail-rows.ts";
import { majorText } from "../../terminal/amounts.ts";
import { periodIdOf, type PeriodRow } from "./ui-rows.ts";

const amountWidthMin = 10;
const dateWidth = 10;
const textWidthMin = 10;
/** So many levels of the tree are indented. */
const depthMax = 8;

function amountColumn<Row>(
  title: string,
  spare: number,
  rows: readonly Row[],
  amountOf: (row: Row) => string,
  color: (row: Row) => string | undefined = (row) =>
    amountOf(row).startsWith("-") ? "red" : undefined,
): ScreenColumn<Row> {
  const width = rows.reduce(
    (widest, row) => Math.max(widest, amountOf(row).length),
    Math.max(title.length, amountWidthMin),
  );
  return { title, align: "right", width, spare, text: amountOf, color };
}

/** `currency`: the ledger's, in the heading of what is in it. */
export function accountColumns(
  rows: readonly TreeRow[],
  currency: string,
  exponentOf: ExponentOf,
): ScreenColumn<TreeRow>[] {
  const exponent = exponentOf(currency);
  return [
    {
      title: "ACCOUNT",
      align: "left",
      width: textWidthMin,
      spare: 0,
      text: ({ node, depth, isCollapsed }) => {
        const mark = node.children.length === 0 ? "  " : isCollapsed ? "▸ " : "▾ ";
        const { account, title } = node;
        const state = account === null || account.active ? "" : " (inactive)";
        const name = account === null ? "" : ` ${account.name}`;
        return `${"  ".repeat(Math.min(depth, depthMax))}${mark}${printable(title + name)}${state}`;
      },
    },
    amountColumn(`BALANCE ${printable(currency)}`, 0, rows, ({ node }) =>
      majorText(node.total, exponent),
    ),
  ];
}

export function registerColumns(
  rows: readonly RegisterLine[],
  currency: string,
  exponentOf: ExponentOf,
): ScreenColumn<RegisterLine>[] {
  const exponent = exponentOf(currency);
  return [
    dateColumn(({ transactionDate }) => transactionDate),
    descriptionColumn(({ description, entryType, reversedByJournalId }) => {
      const reversed = reversedByJournalId === null ? "" : " (reversed)";
      return `${description ?? notStandard(entryType)}${reversed}`;
    }),
    codesColumn("AGAINST", 14, ({ counterAccounts }) => counterAccounts),
    amountColumn("AMOUNT", 0, rows, ({ amount }) => majorText(amount, exponent)),
    amountColumn(`BALANCE ${printable(currency)}`, 2, rows, ({ balance }) =>
      majorText(balance, exponent),
    ),
  ];
}

/** The amount of an entry: the sum of its debits. */
export function journalColumns(
  rows: readonly Entry[],
  currency: string,
  exponentOf: ExponentOf,
): ScreenColumn<Entry>[] {
  const exponent = exponentOf(currency);
  return [
    {
      title: "ENTRY",
      align: "right",
      width: rows.reduce((widest, { sequence }) => Math.max(widest, String(sequence).length), 5),
      spare: 2,
      text: ({ sequence }) => String(sequence),
    },
    dateColumn(({ transactionDate }) => transactionDate),
    descriptionColumn(
      ({ description, externalId, entryType }) =>
        description ?? externalId ?? notStandard(entryType),
    ),
    codesColumn("ACCOUNTS", 16, ({ lines }) => lines.map(({ glAccountCode }) => glAccountCode)),
    amountColumn(`AMOUNT ${printable(currency)}`, 0, rows, ({ lines }) =>
      majorText(
        lines.reduce(
          (sum, { functionalAmount }) =>
            functionalAmount.startsWith("-") ? sum : sum + BigInt(functionalAmount),
          0n,
        ),
        exponent,
      ),
    ),
  ];
}

export function periodColumns(rows: readonly PeriodRow[]): ScreenColumn<PeriodRow>[] {
  return [
    {
      title: "PERIOD",
      align: "left",
      width: textWidthMin,
      spare: 0,
      text: (row) => printable(periodIdOf(row)),
    },
    {
      title: "STATE",
      align: "left",
      width: 6,
      spare: 0,
      text: ({ close }) => (close === undefined ? "open" : "closed"),
      color: ({ close }) => (close === undefined ? undefined : "green"),
    },
    {
      title: "ENTRIES",
      align: "right",
      width: rows.reduce(
        (widest, { close, open }) => Math.max(widest, String((close ?? open).entryCount).length),
        7,
      ),
      spare: 1,
      text: ({ close, open }) => String((close ?? open).entryCount),
    },
    {
      title: "CLOSED",
      align: "left",
      width: 16,
      spare: 3,
      text: ({ close }) => close?.closedAt.slice(0, 16).replace("T", " ") ?? "",
    },
    {
      title: "CLOSE HASH",
      align: "left",
      width: 16,
      spare: 2,
      text: ({ close }) => (close === undefined ? "" : `${close.closeHash.slice(0, 15)}…`),
    },
  ];
}

export const detailColumns: readonly ScreenColumn<DetailRow>[] = [
  { title: "", align: "left", width: 14, spare: 0, text: ({ name }) => name },
  {
    title: "",
    align: "left",
    width: textWidthMin,
    spare: 0,
    grows: true,
    text: ({ value }) => value,
    color: ({ sign }) => (sign === "credit" ? "red" : undefined),
  },
];

function descriptionColumn<Row>(textOf: (row: Row) => string): ScreenColumn<Row> {
  return {
    title: "DESCRIPTION",
    align: "left",
    width: textWidthMin,
    spare: 0,
    grows: true,
    text: (row) => printable(textOf(row)),
  };
}

/** A type that says something of an entry which has no description. */
function notStandard(entryType: string): string {
  return entryType === "STANDARD" ? "" : entryType;
}

/** Codes of accounts, each once. */
function codesColumn<Row>(
  title: string,
  width: number,
  codesOf: (row: Row) => readonly string[],
): ScreenColumn<Row> {
  return {
    title,
    align: "left",
    width,
    spare: 3,
    text: (row) => printable([...new Set(codesOf(row))].join(", ")),
  };
}

function dateColumn<Row>(timeOf: (row: Row) => string): ScreenColumn<Row> {
  return {
    title: "DATE",
    align: "left",
    width: dateWidth,
    spare: 0,
    text: (row) => timeOf(row).slice(0, dateWidth),
  };
}
