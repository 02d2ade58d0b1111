// When things happen in a seeded ledger: an exact number of entries spread over the days of its periods.
import type { ClosedPeriod } from "../core/period.ts";
import { SeededRandom } from "./seeded-random.ts";

/** A period that is filled and closed; it has a start. */
export interface SeedPeriod {
  readonly periodId: string;
  readonly startsAt: NonNullable<ClosedPeriod["startsAt"]>;
  readonly endsAt: ClosedPeriod["endsAt"];
}

export interface SeedSettings {
  readonly seed: number;
  /** Entries in all, postings of wallets among them. */
  readonly entries: number;
  readonly wallets: number;
  /** Writes of wallets in all: none, or at least one a wallet. */
  readonly writes: number;
  /** Transfers between wallets, once all else has happened. */
  readonly transfers: number;
  /** Wallets that are frozen in the end. */
  readonly frozen: number;
  /** Whether assets have limits in the end. */
  readonly limits: boolean;
  /** In order, without overlaps. */
  readonly periods: readonly SeedPeriod[];
}

/** One entry to be made, in the order in which they are. */
export type Slot = EntrySlot | WalletSlot;

export interface EntrySlot {
  readonly atMs: number;
  readonly kind: "opening" | "rent" | "payroll" | "depreciation" | "revaluation" | "trade";
}

/** Writes of wallets of one asset, and the entry that posts them. */
export interface WalletSlot {
  readonly atMs: number;
  readonly kind: "wallets";
  readonly assetIndex: number;
  readonly writes: number;
  /** How many of the writes are the first of their wallets. */
  readonly newWallets: number;
}

const dayMs = 86_400_000;
const hourMs = 3_600_000;
/** A period with fewer entries than this has entries of trade only. */
const entriesWithCalendarMin = 20;

/** Period by period its slots, in the order of time: as many in all as there are to be entries. */
export function* scheduleOf(
  settings: SeedSettings,
  assetsMax: number,
): Generator<{ readonly period: SeedPeriod; readonly slots: readonly Slot[] }> {
  const random = new SeededRandom(`ledgerctl/seed/schedule/${settings.seed}`);
  const postings = walletSlots(settings, assetsMax, random);
  const others = settings.entries - postings.reduce((sum, slots) => sum + slots.length, 0);
  for (const [index, period] of settings.periods.entries()) {
    const count = shareOf(others, settings.periods.length, index);
    const slots = [...(postings[index] ?? []), ...entrySlots(period, count, index === 0, random)];
    yield { period, slots: slots.sort((a, b) => a.atMs - b.atMs) };
  }
}

/** One of several whole-numbered shares of a whole; the first shares get what is left over. */
export function shareOf(whole: number, parts: number, index: number): number {
  return Math.floor(whole / parts) + (index < whole % parts ? 1 : 0);
}

/** On evenings, by period: at most a posting a day and asset, and a tenth of all entries. */
function walletSlots(
  settings: SeedSettings,
  assetsMax: number,
  random: SeededRandom,
): readonly (readonly Slot[])[] {
  const { entries, periods, writes, wallets } = settings;
  const days = periods.flatMap((period, index) =>
    daysOf(period).map((startMs) => ({ startMs, index })),
  );
  const slots: Slot[][] = periods.map(() => []);
  if (writes === 0) return slots;
  const postingsMax = Math.max(1, Math.floor(entries / 10));
  // Each asset needs a posting of its own.
  const assets = Math.min(assetsMax, wallets, postingsMax);
  for (let assetIndex = 0; assetIndex < assets; assetIndex += 1) {
    const firstWrites = shareOf(wallets, assets, assetIndex);
    const ownWrites = firstWrites + shareOf(writes - wallets, assets, assetIndex);
    const ownPostingsMax = shareOf(postingsMax, assets, assetIndex);
    const count = Math.min(ownWrites, days.length, ownPostingsMax);
    for (let number = 0; number < count; number += 1) {
      // Days apart by about as much, the same day never twice.
      const from = Math.floor((number * days.length) / count);
      const to = Math.floor(((number + 1) * days.length) / count);
      const day = days[from + random.below(to - from)];
      if (day === undefined) throw new Error("a share of the days has a day");
      const atMs = day.startMs + 21 * hourMs + assetIndex * 60_000;
      slots[day.index]?.push({
        kind: "wallets",
        atMs,
        assetIndex,
        writes: shareOf(ownWrites, count, number),
        newWallets: shareOf(firstWrites, count, number),
      });
    }
  }
  return slots;
}

/** Everything but postings of wallets. */
function entrySlots(
  period: SeedPeriod,
  count: number,
  isFirst: boolean,
  random: SeededRandom,
): readonly Slot[] {
  const days = workdaysOf(period);
  const first = days[0] ?? 0;
  const middle = days[Math.floor(days.length / 2)] ?? first;
  const last = days.at(-1) ?? first;
  const lastEvening = Date.parse(period.endsAt) - 6 * hourMs;
  const opening: Slot[] =
    isFirst && count > 0 ? [{ kind: "opening", atMs: first + 8 * hourMs }] : [];
  const calendar: Slot[] =
    count < entriesWithCalendarMin
      ? []
      : [
          { kind: "rent", atMs: first + 9 * hourMs },
          { kind: "payroll", atMs: middle + 12 * hourMs },
          { kind: "payroll", atMs: last + 12 * hourMs },
          { kind: "depreciation", atMs: lastEvening },
          { kind: "revaluation", atMs: lastEvening + 60_000 },
        ];
  const fixed = [...opening, ...calendar];
  const trade = Array.from({ length: count - fixed.length }, (): Slot => {
    const atMs = random.pick(days) + 9 * hourMs + random.below(8 * hourMs);
    return { kind: "trade", atMs };
  });
  return [...fixed, ...trade];
}

/** The first instant of each day, in milliseconds since 1970. */
function daysOf({ startsAt, endsAt }: SeedPeriod): readonly number[] {
  const days: number[] = [];
  for (let day = Date.parse(startsAt); day < Date.parse(endsAt); day += dayMs) days.push(day);
  return days;
}

/** Monday to Friday; a period of a weekend has its own days. */
function workdaysOf(period: SeedPeriod): readonly number[] {
  const days = daysOf(period);
  const workdays = days.filter((day) => ![0, 6].includes(new Date(day).getUTCDay()));
  return workdays.length > 0 ? workdays : days;
}
