// `bench entries`: entries of two lines, found again by reading the journal from where it stood.
import { paths } from "../../../contract/paths.ts";
import type { LedgerClient, Entry } from "../../../client/ledger-client.ts";
import { usageFailure } from "../../failure.ts";
import { movementBetween, readPosition, type Position } from "./position.ts";
import { eachConcurrently } from "./concurrently.ts";
import { Findings, type Check } from "./findings.ts";
import type { WorkloadBench } from "./open-bench.ts";
import { Sightings, type OutcomeLog } from "./outcome-log.ts";
import type { WorkloadSettings } from "./settings.ts";
import { externalIdOf, numberOf, type Verdict, type Workload } from "./workload.ts";

export type Accounts = readonly [string, string];

const pageLimit = 100;
const readsAtOnce = 8;

export async function prepareEntries(
  { client, ledger: { id: ledgerId }, run }: WorkloadBench,
  settings: WorkloadSettings,
): Promise<Workload> {
  const accounts = settings.accounts ?? (await chooseAccounts(client, ledgerId));
  const before = await readPosition(client, ledgerId, accounts);
  const target = paths.postEntry({ ledgerId });
  return {
    described: { accounts },
    writesPerRequest: 1,
    request: (number) => ({
      method: "POST",
      target,
      body: JSON.stringify({
        externalId: externalIdOf(run, number),
        originSystem: "ledgerctl bench",
        lines: linesOf(number, accounts),
      }),
    }),
    verify: (outcomes, tell) =>
      new EntriesVerifier({ client, ledgerId, run, accounts, before }).verify(outcomes, tell),
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

interface EntriesToVerify {
  readonly client: LedgerClient;
  readonly ledgerId: string;
  readonly run: string;
  readonly accounts: Accounts;
  readonly before: Position;
}

class EntriesVerifier {
  readonly #of: EntriesToVerify;
  readonly #sightings = new Sightings();
  readonly #findings = new Findings();
  readonly #sums = new Map<string, bigint>();
  #read = 0;

  constructor(of: EntriesToVerify) {
    this.#of = of;
  }

  async verify(outcomes: OutcomeLog, tell: (progress: () => string) => void): Promise<Verdict> {
    const { client, ledgerId, accounts, before } = this.#of;
    const after = await readPosition(client, ledgerId, accounts);
    const written = after.lastSequence - before.lastSequence;
    tell(() => `verifying: ${this.#read} of ${written} entries read`);
    await eachConcurrently(Math.ceil(written / pageLimit), readsAtOnce, (page) =>
      this.#readPage(before.lastSequence + page * pageLimit, after.lastSequence),
    );
    outcomes.compare(this.#sightings, "entry", this.#findings);
    const balances = this.#checkBalances(after);
    return {
      checks: [
        this.#findings.check("every acknowledged entry is there once", outcomes.acknowledged),
        ...(balances === null ? [] : [balances]),
      ],
      notChecked:
        balances === null
          ? ["balances: others post to this ledger without a pause, so no balance holds still"]
          : [],
    };
  }

  /** Reads the entries after a sequence, as many as a page holds: sequences have no gaps. */
  async #readPage(afterSequence: number, lastSequence: number): Promise<void> {
    const { client, ledgerId } = this.#of;
    const limit = Math.min(pageLimit, lastSequence - afterSequence);
    const { entries } = await client.listEntries(ledgerId, { after: afterSequence, limit });
    for (let index = 0; index < limit; index += 1) {
      const sequence = afterSequence + 1 + index;
      const entry = entries[index];
      if (entry?.sequence !== sequence) {
        this.#findings.add(`the journal has no entry with the sequence ${sequence}`);
        return;
      }
      this.#take(entry);
    }
    this.#read += limit;
  }

  #take(entry: Entry): void {
    const { run, accounts } = this.#of;
    for (const { glAccountCode, functionalAmount } of entry.lines) {
      const sum = this.#sums.get(glAccountCode) ?? 0n;
      this.#sums.set(glAccountCode, sum + BigInt(functionalAmount));
    }
    const number = numberOf(run, entry.externalId);
    if (number === null) return;
    this.#sightings.see(number);
    const isAsSent = linesOf(number, accounts).every(
      (sent, index) =>
        entry.lines[index]?.glAccountCode === sent.glAccountCode &&
        entry.lines[index].functionalAmount === sent.functionalAmount,
    );
    if (!isAsSent || entry.lines.length !== 2) {
      this.#findings.add(`entry ${number} has other lines than were sent`);
    }
  }

  /** Others may post to the accounts too: what they posted was read as well. */
  #checkBalances(after: Position): Check | null {
    const { accounts, before } = this.#of;
    const findings = new Findings();
    for (const account of accounts) {
      const moved = movementBetween(before, after, account);
      if (moved === null) return null;
      const sum = this.#sums.get(account) ?? 0n;
      if (moved !== sum) {
        findings.add(`account ${account} moved by ${moved}, its entries sum to ${sum}`);
      }
    }
    return findings.check("balances moved by what was posted", accounts.length);
  }
}
