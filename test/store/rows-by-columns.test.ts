// Rows that are read by columns, of a real database.
import { expect, test } from "vitest";
import * as z from "zod";
import { UnreadableRow } from "../../src/store/database/errors.ts";
import { sql } from "../../src/store/database/statement.ts";
import { columns, listByColumns, valueAt } from "../../src/store/rows-by-columns.ts";
import { serveBooks } from "../support/service.ts";

const service = serveBooks();

const row = z.object({
  name: columns.textOrNull,
  amount: columns.amount,
  numeral: columns.numerals,
});

const list = (amounts: readonly (string | null)[]) =>
  listByColumns(
    service.books.pool,
    row,
    sql.fragment`
      SELECT nullif(amount, '0') AS name, amount, amount AS numeral
        FROM unnest(${sql.array(amounts, "text")}) WITH ORDINALITY AS amounts (amount, place)
       ORDER BY place`,
    ({ name, amount, numeral }, at) => ({
      name: valueAt(name, at),
      amount: valueAt(amount, at),
      numeral: valueAt(numeral, at),
    }),
  );

test.each([[[]], [["0"]], [["5", "-7", "0", `${10n ** 38n}`, `-${10n ** 38n}`]]])(
  "amounts are read as they are: %j",
  async (amounts) => {
    expect(await list(amounts)).toEqual(
      amounts.map((amount) => ({
        name: amount === "0" ? null : amount,
        amount: BigInt(amount),
        numeral: amount,
      })),
    );
  },
);

test.each([[["1", null, "3"]], [["1", null]], [[null]], [["1", "NaN"]], [["1.5"]]])(
  "rows with an amount that is none are not read: %j",
  async (amounts) => {
    await expect(list(amounts)).rejects.toThrow(UnreadableRow);
  },
);
