// Rows of cells that fit the width of a terminal: what matters least is left out first. Views of props only.
import { Box, Text } from "ink";
import type { ReactElement } from "react";

export interface ScreenColumn<Row> {
  readonly title: string;
  readonly align: "left" | "right";
  /** Columns of the terminal. */
  readonly width: number;
  /** Columns with the greatest are the first to be left out; 0 is never left out. */
  readonly spare: number;
  readonly text: (row: Row) => string;
  /** A colour of ink's; undefined is the terminal's own. */
  readonly color?: (row: Row) => string | undefined;
}

export interface TableProps<Row> {
  /** The first one takes what the others leave, and is cut where that is too little. */
  readonly columns: readonly ScreenColumn<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly chosenKey: string | null;
  readonly width: number;
  readonly isColored: boolean;
}

const gap = 2;
const markWidth = 2;

export function Table<Row>(props: TableProps<Row>): ReactElement {
  const { rows, keyOf, chosenKey, width, isColored } = props;
  const columns = fittingColumns(props.columns, width - markWidth);
  const [first, ...rest] = columns;
  if (first === undefined) return <Text> </Text>;
  const firstWidth = width - markWidth - rest.reduce((sum, column) => sum + column.width + gap, 0);
  return (
    <Box flexDirection="column">
      <Box>
        <Box width={markWidth + firstWidth}>
          <Text bold={isColored} wrap="truncate">{`  ${first.title}`}</Text>
        </Box>
        <Text bold={isColored} wrap="truncate">
          {rest.map((column) => cell(column, column.title)).join("")}
        </Text>
      </Box>
      {rows.map((row) => (
        <Box key={keyOf(row)}>
          <Box width={markWidth + firstWidth}>
            <Text wrap="truncate">
              {`${keyOf(row) === chosenKey ? "›" : " "} ${first.text(row)}`}
            </Text>
          </Box>
          <Text wrap="truncate">{coloredCells(rest, row, isColored)}</Text>
        </Box>
      ))}
    </Box>
  );
}

/** Cells of one colour are one text: the fewer there are, the less a frame costs. */
function coloredCells<Row>(
  columns: readonly ScreenColumn<Row>[],
  row: Row,
  isColored: boolean,
): (string | ReactElement)[] {
  const runs: { color: string | undefined; text: string }[] = [];
  for (const column of columns) {
    const color = isColored ? column.color?.(row) : undefined;
    const text = cell(column, column.text(row));
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

/** A gap, and the text in its width; one that is too long is cut where it says the least. */
function cell({ align, width }: ScreenColumn<never>, text: string): string {
  const cut = text.length <= width ? text : `${text.slice(0, width - 1)}…`;
  return " ".repeat(gap) + (align === "left" ? cut.padEnd(width) : cut.padStart(width));
}

function fittingColumns<Row>(
  columns: readonly ScreenColumn<Row>[],
  width: number,
): readonly ScreenColumn<Row>[] {
  const needed = columns.reduce((sum, column) => sum + column.width + gap, -gap);
  const most = Math.max(...columns.map(({ spare }) => spare));
  if (needed <= width || most === 0) return columns;
  return fittingColumns(
    columns.filter(({ spare }) => spare !== most),
    width,
  );
}
