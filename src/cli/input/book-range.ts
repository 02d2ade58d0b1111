// Which part of the books a report is about: `--from`, `--to`, `--period` or `--as-of`.
import { requireEnd, requireMoment, requirePeriodLabel } from "./arguments.ts";
import { usageFailure } from "../failure.ts";

export interface BookRangeFlags {
  from?: string;
  to?: string;
  period?: string;
  asOf?: string;
}

/** As the API takes it. `--from` and `--to` go together, the others alone; else it is a usage failure. */
export function requireBookRange({ from, to, period, asOf }: BookRangeFlags): {
  readonly from?: string;
  readonly to?: string;
  readonly periodId?: string;
  readonly asOf?: string;
} {
  const given = {
    "--from and --to": from ?? to,
    "--period": period,
    "--as-of": asOf,
  };
  const names = Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [name],
  );
  if (names.length > 1) throw usageFailure(`${names.join(", ")} exclude each other`);
  const range = {
    ...(from === undefined ? {} : { from: requireMoment("--from", from) }),
    ...(to === undefined ? {} : { to: requireMoment("--to", to) }),
    ...(period === undefined ? {} : { periodId: requirePeriodLabel("--period", period) }),
    ...(asOf === undefined ? {} : { asOf: requireEnd("--as-of", asOf) }),
  };
  if (range.from !== undefined && range.to !== undefined && range.from >= range.to) {
    throw usageFailure("--to must be later than --from");
  }
  return range;
}
