// Rows of cells that fit the width of a terminal: what matters least is left out first. Views of props only.
import { Box, Text } from "ink";
import type { ReactElement } from "react";
import { displayWidth, shortened } from "../fit-columns.ts";

export interface ScreenColumn<Row> {
  readonly title: string;
  readonly align: "left" | "right";
  /** Columns of the terminal. */
  readonly width: number;
  /** Columns with the greatest are the first to be left out; 0 is never left out. */
  readonly spare: number;
  readonly text: (row: Row) => string;
  /** Takes what the others leave, and is cut where that is too little; the first one, unless another does. */
  readonly grows?: boolean;
  /** A colour of ink's; undefined is the terminal's own. */
  readonly color?: (row: Row) => string | undefined;
}

export interface TableProps<Row> {
  readonly columns: readonly ScreenColumn<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly chosenKey: string | null;
  readonly width: number;
  readonly isColored: boolean;
}

const gap = "  ";
const markWidth = 2;

export function Table<Row>(props: TableProps<Row>): ReactElement {
  const { rows, keyOf, chosenKey, width, isColored } = props;
  const columns = sizedColumns(props.columns, width - markWidth);
  return (
    <Box flexDirection="column">
      <Text bold={isColored} wrap="truncate">
        {" ".repeat(markWidth) + columns.map((column) => cell(column, column.title)).join(gap)}
      </Text>
      {rows.map((row) => (
        <Text key={keyOf(row)} wrap="truncate">
          {keyOf(row) === chosenKey ? "› " : "  "}
          {coloredCells(columns, row, isColored)}
        </Text>
      ))}
    </Box>
  );
}

/** Those that fit, and the one that grows with what they leave. */
function sizedColumns<Row>(all: readonly ScreenColumn<Row>[], width: number): ScreenColumn<Row>[] {
  const columns = fittingColumns(all, width);
  const growing = columns.find(({ grows }) => grows === true) ?? columns[0];
  const others = columns.filter((column) => column !== growing);
  const left = width - others.reduce((sum, column) => sum + column.width + gap.length, 0);
  return columns.map((column) =>
    column === growing ? { ...column, width: Math.max(1, left) } : column,
  );
}

/** Cells of one colour are one text: the fewer there are, the less a frame costs. */
function coloredCells<Row>(
  columns: readonly ScreenColumn<Row>[],
  row: Row,
  isColored: boolean,
): (string | ReactElement)[] {
  const runs: { color: string | undefined; text: string }[] = [];
  for (const [index, column] of columns.entries()) {
    const color = isColored ? column.color?.(row) : undefined;
    const text = (index === 0 ? "" : gap) + cell(column, column.text(row));
    const last = runs.at(-1);
    if (last?.color === color && last !== undefined) last.text += text;
    else runs.push({ color, text });
  }
  return runs.map(({ color, text }, index) =>
    color === undefined ? (
      text
    ) : (
      <Text key={index} color={color}>
        {text}
      </Text>
    ),
  );
}

/** The text in its width; one that is too long is cut where it says the least. */
function cell(
  { align, width }: Pick<ScreenColumn<never>, "align" | "width">,
  text: string,
): string {
  const cut = shortened(text, width, {});
  const padding = " ".repeat(Math.max(0, width - displayWidth(cut)));
  return align === "left" ? cut + padding : padding + cut;
}

function fittingColumns<Row>(
  columns: readonly ScreenColumn<Row>[],
  width: number,
): readonly ScreenColumn<Row>[] {
  const needed = columns.reduce((sum, column) => sum + column.width + gap.length, -gap.length);
  const most = Math.max(...columns.map(({ spare }) => spare));
  if (needed <= width || most === 0) return columns;
  return fittingColumns(
    columns.filter(({ spare }) => spare !== most),
    width,
  );
}
