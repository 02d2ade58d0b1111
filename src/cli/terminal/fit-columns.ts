// Tables on a terminal that is too narrow for them: what matters least is shortened or left out, and numbers stay whole.
import { groupedDigits } from "./amounts.ts";

/** How a column gives way where its table is too wide. */
export interface Yielding<Row> {
  /**
   * Amounts with their currency. On a terminal one that all of them have goes into the title, and digits are grouped. On a
   * narrow one the column is left out where all of it is zero.
   */
  readonly isAmount?: boolean;
  /** A shorter form of the title. */
  readonly shortTitle?: string;
  /** A shorter form of a value. */
  readonly shortValue?: (row: Row) => string;
  /** Its text may be cut, down to this many columns of the terminal. */
  readonly cutTo?: number;
  /** It is cut in its middle, as texts that begin alike. */
  readonly isCutInMiddle?: boolean;
  /** It may be left out: those with the lowest number first, and first of all where it is empty in every row. */
  readonly leaveOut?: number;
}

export interface FittingColumn<Row> extends Yielding<Row> {
  readonly title: string;
  readonly value: (row: Row) => string;
}

export interface FittedColumn<Row, Column extends FittingColumn<Row>> {
  readonly column: Column;
  readonly title: string;
  readonly cells: readonly string[];
  /** Columns of the terminal. */
  readonly width: number;
}

export interface Fitted<Row, Column extends FittingColumn<Row>> {
  readonly columns: readonly FittedColumn<Row, Column>[];
  /** Titles of columns that are left out although they have something in them. */
  readonly leftOut: readonly string[];
}

/** Blanks between columns. */
export const columnGap = 2;

/**
 * The columns with their cells as they are shown in `width` columns of a terminal; null: however wide they are. Where
 * nothing more gives way, the table is wider than the terminal.
 */
export function fitColumns<Row, Column extends FittingColumn<Row>>(
  rows: readonly Row[],
  columns: readonly Column[],
  width: number | null,
): Fitted<Row, Column> {
  const natural = columns.map((column) => {
    const cells = rows.map((row) => column.value(row));
    return withWidth({ column, title: column.title, cells });
  });
  if (width === null) return { columns: natural, leftOut: [] };
  const whole = columns.map((column) => compacted(rows, column, column.title, column.value));
  if (widthOf(whole) <= width) return { columns: whole, leftOut: [] };
  const shorter = columns.map((column) =>
    compacted(rows, column, column.shortTitle ?? column.title, column.shortValue ?? column.value),
  );
  const zero = shorter.filter(({ column, cells }) => column.isAmount === true && areZero(cells));
  const compact = shorter.filter(
    (fitted) =>
      !zero.includes(fitted) &&
      (fitted.column.leaveOut === undefined || fitted.cells.some(isFilled)),
  );
  const order = compact
    .map(({ column }) => column.leaveOut)
    .filter((number) => number !== undefined)
    .sort((left, right) => left - right);
  // What is left out is as little as possible: those up to a number, or none.
  const steps = [-Infinity, ...order].map((last) =>
    compact.filter(({ column }) => (column.leaveOut ?? Infinity) > last),
  );
  const kept =
    steps.find((step) => leastWidthOf(step) <= width) ??
    narrowest<Row, Column>(steps.at(-1) ?? [], width);
  const titles = kept.map(({ title }) => title);
  const leftOut = [
    ...zero.map(({ title }) => `${title} (all zero)`),
    ...compact.map(({ title }) => title).filter((title) => !titles.includes(title)),
  ];
  return { columns: cut(kept, width), leftOut };
}

/** The first column is never cut to less. */
const firstWidthMin = 8;

/**
 * What stays where columns that have to stay are too wide: texts and numbers are left out from right to left, then the
 * first column is cut, then amounts are left out from left to right, but not the last.
 */
function narrowest<Row, Column extends FittingColumn<Row>>(
  columns: readonly FittedColumn<Row, Column>[],
  width: number,
): readonly FittedColumn<Row, Column>[] {
  const [first, ...others] = columns;
  if (first === undefined) return [];
  const isAmount = ({ column }: FittedColumn<Row, Column>) => column.isAmount === true;
  const { column } = first;
  const cuttable = { ...first, column: { ...column, cutTo: column.cutTo ?? firstWidthMin } };
  const texts = others.filter((fitted) => !isAmount(fitted)).reverse();
  const order = [...texts, ...others.filter(isAmount).slice(0, -1)];
  const kept = (count: number) =>
    others.filter((fitted) => !order.slice(0, count).includes(fitted));
  const counts = order.map((_, index) => index + 1);
  const steps = [
    ...counts.slice(0, texts.length).map((count) => [first, ...kept(count)]),
    ...[texts.length, ...counts.slice(texts.length)].map((count) => [cuttable, ...kept(count)]),
  ];
  return steps.find((step) => leastWidthOf(step) <= width) ?? steps.at(-1) ?? columns;
}

/** How many columns of a terminal a text takes: two for a wide character, none for a mark or a joiner. */
export function displayWidth(text: string): number {
  // Most texts are, and to look at each of their characters takes far longer.
  if (/^[ -~]*$/.test(text)) return text.length;
  let width = 0;
  for (const character of text) {
    if (wide.test(character)) width += 2;
    else if (!withoutWidth.test(character)) width += 1;
  }
  return width;
}

/** But for katakana and hangul of half width, which banks write names in. */
const wide =
  /(?![\uff61-\uffdc])[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60]/u;

const withoutWidth = /[\p{M}\u200b-\u200d\u2060\ufeff]/u;

function compacted<Row, Column extends FittingColumn<Row>>(
  rows: readonly Row[],
  column: Column,
  title: string,
  valueOf: (row: Row) => string,
) {
  const given = rows.map((row) => valueOf(row));
  const cells = column.isAmount === true ? given.map(groupedDigits) : given;
  const units = column.isAmount === true ? new Set(cells.filter(isFilled).map(unitOf)) : new Set();
  const [unit] = units;
  if (units.size !== 1 || typeof unit !== "string") return withWidth({ column, title, cells });
  const numbers = cells.map((cell) => (isFilled(cell) ? cell.slice(0, -unit.length - 1) : cell));
  return withWidth({ column, title: `${title} ${unit}`, cells: numbers });
}

function areZero(amounts: readonly string[]): boolean {
  return amounts.every((amount) => /^[0.]+$/.test(amount));
}

function isFilled(cell: string): boolean {
  return cell !== "";
}

/** The currency behind an amount. */
function unitOf(amount: string): string | null {
  return /^-?[0-9.,]+ (.+)$/.exec(amount)?.[1] ?? null;
}

function withWidth<Shown extends { readonly title: string; readonly cells: readonly string[] }>(
  shown: Shown,
): Shown & { readonly width: number } {
  // A table may have more rows than a call takes arguments.
  const width = shown.cells.reduce(
    (widest, cell) => Math.max(widest, displayWidth(cell)),
    displayWidth(shown.title),
  );
  return { ...shown, width };
}

/** What the least width of a column depends on. */
interface Measured {
  readonly column: { readonly cutTo?: number };
  readonly title: string;
  readonly width: number;
}

function leastWidthOf(columns: readonly Measured[]): number {
  return widthOf(columns.map((fitted) => ({ width: leastWidth(fitted) })));
}

function widthOf(columns: readonly { readonly width: number }[]): number {
  return columns.reduce((sum, { width }) => sum + width, 0) + columnGap * (columns.length - 1);
}

function leastWidth({ column, title, width }: Measured): number {
  return Math.min(width, Math.max(column.cutTo ?? Infinity, displayWidth(title)));
}

/** Cuts the widest of what may be cut until all of it fits. */
function cut<Row, Column extends FittingColumn<Row>>(
  columns: readonly FittedColumn<Row, Column>[],
  widthMax: number,
): FittedColumn<Row, Column>[] {
  const widths = columns.map(({ width }) => width);
  const total = () =>
    widths.reduce((sum, width) => sum + width, 0) + columnGap * (widths.length - 1);
  while (total() > widthMax) {
    const room = columns.map((column, index) => (widths[index] ?? 0) - leastWidth(column));
    const cuttable = widths.map((width, index) => ((room[index] ?? 0) > 0 ? width : 0));
    const widest = cuttable.indexOf(Math.max(...cuttable));
    if (cuttable[widest] === 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return columns.map((column, index) => {
    const width = widths[index] ?? column.width;
    return {
      ...column,
      width,
      cells: column.cells.map((cell) => shortened(cell, width, column.column)),
    };
  });
}

/** A text cut to as many columns of the terminal, with an ellipsis where something is missing. */
export function shortened(
  text: string,
  width: number,
  { isCutInMiddle = false }: { readonly isCutInMiddle?: boolean },
): string {
  if (displayWidth(text) <= width) return text;
  const endWidth = isCutInMiddle ? Math.floor((width - 1) / 2) : 0;
  const start = beginning(Array.from(text), width - 1 - endWidth);
  const end = beginning(Array.from(text).reverse(), endWidth).reverse();
  return `${start.join("").trimEnd()}…${end.join("")}`;
}

/** As many of the characters as have room. */
function beginning(characters: readonly string[], width: number): string[] {
  let left = width;
  const end = characters.findIndex((character) => (left -= displayWidth(character)) < 0);
  return characters.slice(0, end < 0 ? undefined : end);
}
