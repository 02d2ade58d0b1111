// `bench entries`: entries of two lines, found again by reading the journal from where it stood.
import { isDeepStrictEqual } from "node:util";
import { paths } from "../../../contract/paths.ts";
import type { LedgerClient, Entry } from "../../../client/ledger-client.ts";
import type { Environment } from "../../../config.ts";
import { usageFailure, type ExitCode } from "../../failure.ts";
import { eachConcurrently } from "./concurrently.ts";
import { Findings, type Check } from "./findings.ts";
import { readBulk, readLoadSettings, type LoadFlags } from "./load-flags.ts";
import { measure } from "./measure.ts";
import type { BenchLedger } from "./open-bench.ts";
import type { OutcomeLog } from "./outcome-log.ts";
import { movementBetween, readPosition, type Position } from "./position.ts";
import {
  externalIdOf,
  numberOf,
  type BenchRequest,
  type Verdict,
  type Workload,
} from "./workload.ts";

export interface EntriesFlags extends LoadFlags {
  accounts?: string;
  bulk?: string;
}

interface EntriesSettings {
  /** The accounts posted to; null: the first two of the chart. */
  readonly accounts?: Accounts | null;
  /** Entries in a request, all of them or none; null: one, and not as a bulk. */
  readonly bulk?: number | null;
}

export type Accounts = readonly [string, string];

const pageLimit = 100;
const readsAtOnce = 8;

export async function benchEntries(
  flags: EntriesFlags,
  environment: Environment,
): Promise<ExitCode> {
  const settings = readLoadSettings(flags);
  const entriesSettings = {
    accounts: flags.accounts === undefined ? null : readAccounts(flags.accounts),
    bulk: flags.bulk === undefined ? null : readBulk(flags.bulk),
  };
  return measure("entries", flags, environment, {
    prepare: (bench) => prepareEntries(bench, entriesSettings),
    load: async (runLoad) => ({ load: await runLoad(settings) }),
  });
}

function readAccounts(text: string): Accounts {
  const [first = "", second = "", ...more] = text.split(",");
  if (first === "" || second === "" || more.length > 0 || first === second) {
    throw usageFailure("--accounts must be two accounts, such as 1000,4000");
  }
  return [first, second];
}

export async function prepareEntries(
  benchLedger: BenchLedger,
  { accounts: given = null, bulk = null }: EntriesSettings,
): Promise<Workload> {
  const { client, run } = benchLedger;
  const ledgerId = benchLedger.ledger.id;
  const accounts = given ?? (await chooseAccounts(client, ledgerId));
  const before = await readPosition(client, ledgerId, accounts);
  const entryOf = (number: number) => ({
    externalId: externalIdOf(run, number),
    originSystem: "ledgerctl bench",
    lines: linesOf(number, accounts),
  });
  const post = (target: string, body: object): BenchRequest => ({
    method: "POST",
    target,
    body: JSON.stringify(body),
  });
  return {
    described: { accounts, ...(bulk === null ? {} : { bulk }) },
    writesPerRequest: bulk ?? 1,
    request:
      bulk === null
        ? (number) => post(paths.postEntry({ ledgerId }), entryOf(number))
        : (number) => {
            const first = (number - 1) * bulk + 1;
            const entries = Array.from({ length: bulk }, (_, index) => entryOf(first + index));
            return post(paths.postEntries({ ledgerId }), { atomic: true, entries });
          },
    verify: (outcomes) => verifyEntries(benchLedger, accounts, before, outcomes),
  };
}

/** The first two of the chart that are active, except those of wallets: their balances are reconciled with the wallets'. */
export async function chooseAccounts(client: LedgerClient, ledgerId: string): Promise<Accounts> {
  const chart = await client.listAccounts(ledgerId, { activeOnly: true });
  const [first, second] = chart
    .map(({ glAccountCode }) => glAccountCode)
    .filter((code) => !/^wallets(-clearing)?:/.test(code));
  if (first === undefined || second === undefined) {
    throw usageFailure("the chart has no two active accounts; name two with --accounts A,B");
  }
  return [first, second];
}

/** Amounts differ from entry to entry, and so do their directions. */
export function linesOf(number: number, [first, second]: Accounts) {
  const amount = (number % 2 === 0 ? 1 : -1) * (1 + (number % 997));
  return [
    { glAccountCode: first, functionalAmount: String(amount) },
    { glAccountCode: second, functionalAmount: String(-amount) },
  ];
}

async function verifyEntries(
  { client, ledger: { id: ledgerId }, run, progress }: BenchLedger,
  accounts: Accounts,
  before: Position,
  outcomes: OutcomeLog,
): Promise<Verdict> {
  const after = await readPosition(client, ledgerId, accounts);
  const findings = new Findings();
  const sums = new Map<string, bigint>();
  const written = after.lastSequence - before.lastSequence;
  let read = 0;
  progress.tell(() => `verifying: ${read} of ${written} entries read`);
  // Sequences have no gaps: where a page begins is known before the one ahead of it is read.
  await eachConcurrently(Math.ceil(written / pageLimit), readsAtOnce, async (page) => {
    const first = before.lastSequence + page * pageLimit + 1;
    const limit = Math.min(pageLimit, after.lastSequence - first + 1);
    const { entries } = await client.listEntries(ledgerId, { after: first - 1, limit });
    for (let index = 0; index < limit; index += 1) {
      const entry = entries[index];
      if (entry?.sequence !== first + index) {
        findings.add(`the journal has no entry with the sequence ${first + index}`);
        return;
      }
      for (const { glAccountCode, functionalAmount } of entry.lines) {
        sums.set(glAccountCode, (sums.get(glAccountCode) ?? 0n) + BigInt(functionalAmount));
      }
      const number = numberOf(run, entry.externalId);
      if (number === null) continue;
      if (!outcomes.see(number)) findings.add(`entry ${number} was never sent and is there`);
      else if (!isAsSent(entry, number, accounts)) {
        findings.add(`entry ${number} has other lines than were sent`);
      }
    }
    read += limit;
  });
  for (const text of outcomes.differences("entry")) findings.add(text);
  const balances = checkBalances(before, after, sums, accounts);
  return {
    checks: [
      findings.check("every acknowledged entry is there once", outcomes.acknowledged),
      ...(balances === null ? [] : [balances]),
    ],
    notChecked:
      balances === null
        ? ["balances: others post to this ledger without a pause, so no balance holds still"]
        : [],
  };
}

function isAsSent({ lines }: Entry, number: number, accounts: Accounts): boolean {
  const stored = lines.map(({ glAccountCode, functionalAmount }) => ({
    glAccountCode,
    functionalAmount,
  }));
  return isDeepStrictEqual(stored, linesOf(number, accounts));
}

/** Others may post to the accounts too: what they posted was read as well. */
function checkBalances(
  before: Position,
  after: Position,
  sums: ReadonlyMap<string, bigint>,
  accounts: Accounts,
): Check | null {
  const findings = new Findings();
  for (const account of accounts) {
    const moved = movementBetween(before, after, account);
    if (moved === null) return null;
    const sum = sums.get(account) ?? 0n;
    if (moved !== sum) {
      findings.add(`account ${account} moved by ${moved}, its entries sum to ${sum}`);
    }
  }
  return findings.check("balances moved by what was posted", accounts.length);
}
