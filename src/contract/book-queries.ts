// Query parameters of registers and statements.
import * as z from "zod";
import { statementSteps } from "../core/statement.ts";
import { label, oneOf, timestamp } from "./field-schemas.ts";
import { limit, optionalParameter } from "./query-schemas.ts";

interface Bounds {
  readonly from: string | null;
  readonly to: string | null;
}

const isInOrder = ({ from, to }: Bounds) => from === null || to === null || from < to;
const toIsTooEarly = { path: ["to"], error: "must be later than from" };

export const registerQuery = z
  .object({
    from: optionalParameter(timestamp),
    to: optionalParameter(timestamp),
    periodId: optionalParameter(label),
    currency: optionalParameter(label),
    limit,
    cursor: optionalParameter(z.string()),
  })
  .refine(isInOrder, toIsTooEarly)
  .refine(({ from, to, periodId }) => periodId === null || (from === null && to === null), {
    path: ["periodId"],
    error: "must not be given beside from or to",
  });

export const statementQuery = z
  .object({
    from: optionalParameter(timestamp),
    to: optionalParameter(timestamp),
    asOf: optionalParameter(timestamp),
    periodId: optionalParameter(label),
    by: optionalParameter(oneOf(statementSteps)),
  })
  .refine(isInOrder, toIsTooEarly)
  .refine(({ from, to, asOf }) => asOf === null || (from === null && to === null), {
    path: ["asOf"],
    error: "must not be given beside from or to",
  })
  .refine(
    ({ from, to, asOf, periodId }) =>
      periodId === null || (from === null && to === null && asOf === null),
    { path: ["periodId"], error: "must not be given beside from, to or asOf" },
  );
