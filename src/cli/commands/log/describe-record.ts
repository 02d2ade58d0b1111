// The record of a proof in a few lines: an entry, or a close.
import type { LogRecord } from "../../../verify/log-record.ts";
import { exponentShownOffline, unitLinesOffline } from "../../connection/exponents.ts";
import { displayAmount } from "../../terminal/amounts.ts";
import { counted } from "../../terminal/counted.ts";
import type { Output } from "../../terminal/output.ts";

type Entry = Extract<LogRecord, { kind: "entry" }>["record"];
type Close = Extract<LogRecord, { kind: "close" }>["record"];

/** An entry may have thousands. */
const linesShownMax = 20;

export function describeRecord(record: LogRecord, output: Output): string {
  if (record.kind === "close") return output.folded(closeLines(record.record).join("\n"));
  const { record: entry } = record;
  return [
    output.folded(entryLines(entry, output).join("\n")),
    ...linesOfEntry(entry, output).map((line) => `  ${line}`),
  ].join("\n");
}

function entryLines(entry: Entry, output: Output): string[] {
  const { journalId, sequence, transactionDate, persistedAt, externalId, description } = entry;
  const codes = entry.lines.map(({ functionalCurrency }) => functionalCurrency);
  return [
    `entry        ${journalId}, sequence ${sequence}, ${entry.entryType}`,
    `dated        ${transactionDate}, posted at ${persistedAt}`,
    ...optional("externalId", externalId),
    ...optional("description", description),
    ...optional("reverses", entry.reversesJournalId),
    ...unitLinesOffline(codes, output),
  ];
}

function linesOfEntry(entry: Entry, output: Output): string[] {
  const more = entry.lines.length - linesShownMax;
  const table = output.table(entry.lines.slice(0, linesShownMax), [
    { title: "ACCOUNT", value: ({ glAccountCode }) => glAccountCode },
    {
      title: "AMOUNT",
      align: "right",
      isAmount: true,
      value: ({ functionalAmount, functionalCurrency: currency }) =>
        displayAmount(functionalAmount, currency, exponentShownOffline(currency, output)),
    },
  ]);
  return [
    ...table.split("\n"),
    ...(more > 0 ? [`and ${counted(more, "more line", "more lines")}`] : []),
  ];
}

function closeLines(close: Close): string[] {
  const { number, periodId, startsAt, endsAt, closedAt, entryCount, lastSequence } = close;
  return [
    `close        ${number}, closed at ${closedAt}`,
    `period       ${JSON.stringify(periodId)}, from ${startsAt ?? "the beginning"} up to ${endsAt}`,
    ...optional("reason", close.reason),
    `entries      ${entryCount}, up to sequence ${lastSequence}`,
    `merkleRoot   ${close.merkleRoot}`,
    `closeHash    ${close.closeHash}`,
  ];
}

function optional(name: string, value: string | null): string[] {
  return value === null ? [] : [`${name.padEnd(13)}${JSON.stringify(value)}`];
}
