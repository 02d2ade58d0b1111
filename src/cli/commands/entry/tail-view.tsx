// The screen of `entry tail`: a row an entry, and the lines of one of them. A view of props only.
import { Box, Text } from "ink";
import type { ReactElement } from "react";
import type { Entry } from "../../../client/ledger-client.ts";
import { counted } from "../../terminal/counted.ts";
import { printable } from "../../terminal/printable.ts";
import { ratePerSecond } from "../../terminal/screen/activity.ts";
import { Frame, frameRows } from "../../terminal/screen/frame.tsx";
import type { ScreenSize } from "../../terminal/screen/run-screen.ts";
import { scrolledTo } from "../../terminal/screen/scrolling.ts";
import { Table, type ScreenColumn } from "../../terminal/screen/table.tsx";
import {
  shownEntries,
  tailRow,
  type ShowAmount,
  type TailRow,
  type TailState,
} from "./tail-state.ts";

export interface TailViewProps {
  readonly state: TailState;
  readonly nowMs: number;
  readonly size: ScreenSize;
  readonly show: ShowAmount;
  /** The ledger's. */
  readonly name: string;
  readonly isColored: boolean;
}

const tableHeadRows = 1;
const detailRows = 9;
/** Of them, those that are not for lines. */
const detailHeadRows = 3;
const textWidth = 18;

const keys = [
  ["↑↓", "scroll"],
  ["g", "newest"],
  ["p", "pause"],
  ["d", "lines"],
  ["q", "quit"],
] as const;

export function TailView(props: TailViewProps): ReactElement {
  const { state, nowMs, size, show, isColored } = props;
  const entries = shownEntries(state);
  const height = entryRows(state, size);
  const scroll = scrolledTo(state.scroll, state.scroll.chosen, entries.length, height);
  const rows = entries
    .slice(scroll.from, scroll.from + height)
    .map((entry) => tailRow(entry, show));
  const chosen = entries[scroll.chosen];
  return (
    <Frame
      size={size}
      isColored={isColored}
      title="entry tail"
      facts={[
        printable(props.name),
        counted(state.count, "entry", "entries"),
        `${ratePerSecond(state.activity, nowMs).toFixed(1)}/s`,
        ...(state.stream === "lost" ? [] : [state.stream]),
      ]}
      alarms={[
        ...(state.paused === null ? [] : ["PAUSED"]),
        ...(state.stream === "lost" ? ["connection lost, reconnecting"] : []),
      ]}
      keys={keys}
    >
      <Table
        columns={columnsOf(rows)}
        rows={rows}
        keyOf={({ journalId }) => journalId}
        chosenKey={chosen?.journalId ?? null}
        width={size.columns}
        isColored={isColored}
      />
      {hasDetail(state, size) && chosen !== undefined ? (
        <Lines entry={chosen} show={show} isColored={isColored} />
      ) : null}
    </Frame>
  );
}

/** Rows that the screen has for entries. */
export function entryRows(state: TailState, size: ScreenSize): number {
  const rows = size.rows - frameRows - tableHeadRows;
  return Math.max(1, hasDetail(state, size) ? rows - detailRows : rows);
}

/** A low screen has no room for it. */
function hasDetail({ isDetailed }: TailState, { rows }: ScreenSize): boolean {
  return isDetailed && rows >= frameRows + tableHeadRows + detailRows + 1;
}

function columnsOf(rows: readonly TailRow[]): ScreenColumn<TailRow>[] {
  const column = (
    title: string,
    align: "left" | "right",
    spare: number,
    text: (row: TailRow) => string,
  ): ScreenColumn<TailRow> => ({
    ...{ title, align, spare, text },
    width: Math.max(title.length, ...rows.map((row) => text(row).length)),
  });
  return [
    {
      title: "DESCRIPTION",
      align: "left",
      width: textWidth,
      spare: 0,
      text: ({ text }) => printable(text),
    },
    column("SEQ", "right", 0, ({ sequence }) => String(sequence)),
    column("DATE", "left", 1, ({ date }) => date),
    column("AMOUNT", "right", 0, ({ amount }) => amount),
    column("ID", "left", 2, ({ journalId }) => journalId),
  ];
}

function Lines(props: {
  readonly entry: Entry;
  readonly show: ShowAmount;
  readonly isColored: boolean;
}): ReactElement {
  const { entry, show, isColored } = props;
  const room = detailRows - detailHeadRows;
  const isAll = entry.lines.length <= room;
  const lines = isAll ? entry.lines : entry.lines.slice(0, room - 1);
  const amounts = lines.map(({ functionalAmount }) => show(BigInt(functionalAmount)));
  const width = Math.max(...amounts.map(({ length }) => length));
  return (
    <Box flexDirection="column" height={detailRows}>
      <Text> </Text>
      <Text wrap="truncate" bold={isColored}>
        {entry.journalId}
      </Text>
      <Text wrap="truncate">
        {`recorded ${entry.persistedAt}; externalId ${printable(entry.externalId ?? "none")}`}
      </Text>
      {lines.map(({ glAccountCode, description }, index) => (
        <Text key={index} wrap="truncate">
          {`${(amounts[index] ?? "").padStart(width)}  ${printable(glAccountCode)}  ${printable(description ?? "")}`}
        </Text>
      ))}
      {isAll ? null : <Text>{`and ${entry.lines.length - lines.length} more lines`}</Text>}
    </Box>
  );
}
