// `seed`: its flags checked, the books made, and what was made printed.
import type { Environment } from "../../../config.ts";
import { readPeriodLabel } from "../../../core/period.ts";
import { labelCodePointsMax, textFault } from "../../../core/text.ts";
import { messageOf } from "../../../core/thrown.ts";
import { seedBooks, type SeedOutcome } from "../../../seed/seed-books.ts";
import type { SeedPeriod, SeedSettings } from "../../../seed/seed-schedule.ts";
import { loadMasterKeys } from "../../../server/master-keys.ts";
import { analyzeTables } from "../../../store/analyze-tables.ts";
import { withDatabase } from "../../connection/database-context.ts";
import { CommandFailure, exitCodes, usageFailure } from "../../failure.ts";
import type { DatabaseFlags } from "../../definition/options.ts";
import { members, type Output } from "../../terminal/output.ts";
import { describeProgress, withProgress } from "../../terminal/progress-line.ts";
import { requireWholeNumber } from "../../input/arguments.ts";

export interface SeedFlags extends DatabaseFlags {
  seed: string;
  entries: string;
  wallets?: string;
  writes?: string;
  transfers: string;
  frozen: string;
  limits?: boolean;
  periods: string;
}

const countMax = 10_000_000;
const walletsDefault = 20;
const writesPerWalletDefault = 10;
/** From as many on, two of them have one asset: there are three. */
const walletsToTransferMin = 4;

export async function seed(flags: SeedFlags, environment: Environment): Promise<void> {
  const settings = readSettings(flags);
  await withDatabase(
    flags,
    environment,
    async ({ output, pool, database, now }) => {
      const masterKeys = await loadMasterKeys(environment, pool, database.dataDir);
      const key = { masterKey: masterKeys.current, createdAt: now() };
      const { entries } = settings;
      let handled = 0;
      const describe = (elapsedMs: number) =>
        describeProgress({ handled, elapsedMs, share: entries === 0 ? null : handled / entries });
      const made = await withProgress(!output.isQuiet, describe, () =>
        seedBooks(pool, settings, key, (written) => {
          handled = written;
        }),
      );
      if (made.outcome === "seededBefore") {
        throw new CommandFailure(
          `seed ${settings.seed} is in this database already, as organization ${made.organizationId}; ` +
            "take another --seed, or an empty database",
          exitCodes.conflict,
        );
      }
      // First: the secret is shown this once.
      print(made, output);
      await analyzeTables(database.url, "seed").catch((error: unknown) => {
        output.note(`the statistics of its tables could not be gathered: ${messageOf(error)}`);
      });
    },
    // Whoever tries the program may well begin here.
    true,
  );
}

function readSettings(flags: SeedFlags): SeedSettings {
  const entries = requireWholeNumber("--entries", flags.entries, 0, countMax);
  const { wallets, writes } = readWallets(flags);
  if (entries === 0 && writes > 0) {
    throw usageFailure("--writes need an entry that posts them: --entries must be 1 or more");
  }
  return {
    seed: requireWholeNumber("--seed", flags.seed, 0),
    entries,
    wallets,
    writes,
    ...readLastEvening(flags, wallets),
    periods: readPeriods(flags.periods),
  };
}

/** Without entries there are no wallets either, unless they are asked for. */
function readWallets(flags: SeedFlags): { wallets: number; writes: number } {
  const given = (argument: string, text: string | undefined) =>
    text === undefined ? null : requireWholeNumber(argument, text, 0, countMax);
  const givenWallets = given("--wallets", flags.wallets);
  const givenWrites = given("--writes", flags.writes);
  const usual = Number(flags.entries) === 0 ? 0 : walletsDefault;
  const wallets = givenWallets ?? Math.min(usual, givenWrites ?? usual);
  const writes = givenWrites ?? wallets * writesPerWalletDefault;
  if (writes < wallets || (wallets === 0 && writes > 0)) {
    throw usageFailure(
      `each wallet is made by its first write: ${wallets} wallets can't have ${writes} writes`,
    );
  }
  return { wallets, writes };
}

function readLastEvening(
  { transfers, frozen, limits = false }: SeedFlags,
  wallets: number,
): Pick<SeedSettings, "transfers" | "frozen" | "limits"> {
  const count = requireWholeNumber("--transfers", transfers, 0, countMax);
  if (count > 0 && wallets < walletsToTransferMin) {
    throw usageFailure(
      `--transfers need two wallets of one asset: ${walletsToTransferMin} wallets or more`,
    );
  }
  return {
    transfers: count,
    frozen: requireWholeNumber("--frozen", frozen, 0, wallets),
    limits,
  };
}

/** In order; labels that are dates, apart from each other. */
function readPeriods(text: string): readonly SeedPeriod[] {
  const periods = text
    .split(",")
    .map((label) => readPeriod(label.trim()))
    .sort((a, b) => (a.startsAt < b.startsAt ? -1 : 1));
  for (const [index, period] of periods.entries()) {
    const before = periods[index - 1];
    if (before !== undefined && period.startsAt < before.endsAt) {
      throw usageFailure(`--periods: ${before.periodId} and ${period.periodId} overlap`);
    }
  }
  return periods;
}

function readPeriod(label: string): SeedPeriod {
  const fault = textFault(label, labelCodePointsMax);
  if (fault !== null) throw usageFailure(`--periods: a label ${fault}`);
  const meaning = readPeriodLabel(label);
  if (meaning === "toDate") {
    throw usageFailure(`--periods: ${label} is no calendar period such as 2026-01 or 2026-Q1`);
  }
  if ("fault" in meaning)
    throw usageFailure(`--periods: ${JSON.stringify(label)} ${meaning.fault}`);
  const { startsAt, endsAt } = meaning;
  if (startsAt === null) throw new Error("a calendar period has a start");
  return { periodId: label, startsAt, endsAt };
}

function print(made: Extract<SeedOutcome, { outcome: "done" }>, output: Output): void {
  const { organizationId, ledgerId, apiKey, apiSecret, entries, closes } = made;
  output.result({ organizationId, ledgerId, apiKey, apiSecret, entries, closes }, () => {
    // The secret is shown this once, so it is part of what is left when all else is left out.
    if (output.isQuiet) return `${ledgerId} ${apiKey} ${apiSecret}`;
    const secret = `${apiSecret}   (shown this once)`;
    const table = output.table(closes, [
      { title: "PERIOD", value: ({ periodId }) => periodId },
      { title: "ENTRIES", align: "right", value: ({ entryCount }) => String(entryCount) },
      { title: "MERKLE ROOT", value: ({ merkleRoot }) => merkleRoot },
    ]);
    const credentials = { organizationId, ledgerId, apiKey, apiSecret: secret, entries };
    return `${members(credentials)}\n\n${table}`;
  });
}
