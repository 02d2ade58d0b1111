// Cases of statements of the store whose plans are looked at, and the rows of the large books that they name.
import type { Timestamp } from "../../../src/core/time.ts";
import type { Connection } from "../../../src/store/database/connection.ts";
import { entryNames, idOf, largeLedger } from "../../support/million-rows.ts";

/** What a function of the store sends for one call. */
export interface Case {
  readonly name: string;
  /** Functions whose statements it sends. */
  readonly of: readonly string[];
  readonly send: (connection: Connection) => unknown;
}

/** The same for a batch of one, which has statements of its own. */
export function ofOne<Rows extends readonly unknown[]>(
  call: (connection: Connection, ledgerId: string, rows: Rows) => unknown,
  rows: Rows,
  inside: readonly string[] = [],
): Case {
  return {
    name: `${call.name} of one`,
    of: [call.name, ...inside],
    send: (connection) => call(connection, ledgerId, rows.slice(0, 1) as unknown as Rows),
  };
}

/** `costMax`: what each statement may cost, see `costOf`. */
export interface LimitedCase extends Case {
  readonly costMax: number;
}

export const limited = (costMax: number, cases: readonly Case[]): LimitedCase[] =>
  cases.map((each) => ({ ...each, costMax }));

export function of<Arguments extends unknown[]>(
  call: (connection: Connection, ...given: Arguments) => unknown,
  ...given: Arguments
): Case {
  return { name: call.name, of: [call.name], send: (connection) => call(connection, ...given) };
}

/** The same, of a statement that is in another function. */
export function within(each: Case, inside: string): Case {
  return { ...each, name: `${each.name}, ${inside}`, of: [...each.of, inside] };
}

export const { ledgerId, entryCount, busyAccount, rareAccount, busyWallet, walletCount } =
  largeLedger;
export const { walletId } = busyWallet;
const end = "9999-12-31T23:59:59.999Z" as Timestamp;
export const now = "2026-01-01T00:00:00.000Z" as Timestamp;
export const externalIds = entryNames(50);

export const callerKeys = [
  busyWallet.callerKey,
  ...Array.from({ length: 49 }, (_, index) => String((index * 997) % walletCount)),
];
export const walletIds = callerKeys.map((callerKey) => idOf(`wallet ${callerKey}`));
export const codes = Array.from({ length: 50 }, (_, index) => String(index * 7));
export const newIds = Array.from({ length: 50 }, (_, index) => idOf(`new ${index}`));

export const whole = { startsAt: null, endsAt: end, afterSequence: 0, upToSequence: entryCount };
/** As much as a server leaves to those who read sums. */
export const unsummed = { afterSequence: entryCount - 8_192, upToSequence: entryCount };
export const closed = { ledgerId, number: 12 };

export const journalLog = { ledgerId, log: "journal", generation: 1 } as const;

export const page = { afterSequence: 0, offset: 0, limit: 100, bytesMax: 8_000_000 };
export const march = {
  from: "2025-03-01T00:00:00.000Z" as Timestamp,
  to: "2025-04-01T00:00:00.000Z" as Timestamp,
};
export const marchDays = { fromDay: "2025-03-01", untilDay: "2025-04-01" };
/** As many entries as are dated in a month, in a part of the journal. */
export const marchSpan = {
  ...whole,
  startsAt: march.from,
  endsAt: march.to,
  afterSequence: 250_000,
};
