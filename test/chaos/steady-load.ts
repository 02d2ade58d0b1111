// A steady load of credits, debits and entries at a rate, with the measurements and the verdict of `ledgerctl bench`.
import { LedgerClient } from "../../src/client/ledger-client.ts";
import { prepareEntries } from "../../src/cli/commands/bench/entries.ts";
import { Load, type LoadSettings } from "../../src/cli/commands/bench/load.ts";
import { OutcomeLog } from "../../src/cli/commands/bench/outcome-log.ts";
import { SignedRequests } from "../../src/cli/commands/bench/signed-requests.ts";
import { prepareWallets } from "../../src/cli/commands/bench/wallets.ts";
import type { Workload } from "../../src/cli/commands/bench/workload.ts";

const connections = 64;
const walletCount = 10_000;
/** Of what is read before and after the load: it may take its time. */
const timeoutMs = 60_000;

/** Writes a second of each kind; null: as many as the service takes. */
export interface Rates {
  readonly wallets: number | null;
  readonly entries: number | null;
}

interface Reached {
  readonly url: string;
  readonly key: { readonly apiKey: string; readonly apiSecret: string };
}

/** What is sent to one server, and what became of it, over all parts of a soak. */
class Stream {
  readonly #reached: Reached;
  readonly #workload: Workload;
  readonly #outcomes = new OutcomeLog(1);
  readonly #requests: SignedRequests;

  constructor(reached: Reached, workload: Workload) {
    this.#reached = reached;
    this.#workload = workload;
    const connection = { url: reached.url, ...reached.key, ledger: null };
    // Signed as they are sent: to sign a minute's beforehand would interrupt the load.
    this.#requests = new SignedRequests(connection, workload.request);
  }

  async run(settings: LoadSettings): Promise<Load> {
    const load = new Load(settings, {
      url: new URL(this.#reached.url),
      requests: this.#requests,
      outcomes: this.#outcomes,
      workload: this.#workload,
    });
    await load.run();
    return load;
  }

  /** What is wrong, a line each. */
  async verify(): Promise<string[]> {
    const { checks } = await this.#workload.verify(this.#outcomes);
    return checks.flatMap(({ name, findings }) => findings.map((text) => `${name}: ${text}`));
  }
}

export class SteadyLoad {
  readonly #client: LedgerClient;
  readonly #wallets: Stream;
  readonly #entries: Stream;
  #acknowledgedAt = 0;
  #gapMs = 0;

  private constructor(client: LedgerClient, wallets: Stream, entries: Stream) {
    this.#client = client;
    this.#wallets = wallets;
    this.#entries = entries;
  }

  /** Wallets are written through the first server, entries through the last; in a ledger of their own. */
  static async prepare(servers: readonly Reached[], ledgerId: string): Promise<SteadyLoad> {
    const [first, last] = [servers[0], servers.at(-1)];
    if (first === undefined || last === undefined) throw new Error("there is no server");
    const client = new LedgerClient({ url: first.url, ...first.key, timeoutMs });
    const ledger = await client.getLedger(ledgerId);
    const began = { client, ledger, progress: { tell: () => undefined } };
    const wallets = await prepareWallets({ ...began, run: "wallets" }, { walletCount });
    const entries = await prepareEntries({ ...began, run: "entries" }, {});
    const acknowledged = (_: number, atMs: number) => {
      load.#acknowledge(atMs);
    };
    const load: SteadyLoad = new SteadyLoad(
      client,
      new Stream(first, { ...wallets, acknowledged }),
      new Stream(last, { ...entries, acknowledged }),
    );
    return load;
  }

  /** Runs both for so long. Requests that are late are dropped or wait. */
  async run(
    rates: Rates,
    durationMs: number,
    { isLateDropped }: { isLateDropped: boolean },
  ): Promise<{ wallets: Load; entries: Load; gapMs: number }> {
    this.#acknowledgedAt = performance.now();
    this.#gapMs = 0;
    const settings = { durationMs, connections, isLateDropped };
    const [wallets, entries] = await Promise.all([
      this.#wallets.run({ ...settings, rate: rates.wallets }),
      this.#entries.run({ ...settings, rate: rates.entries }),
    ]);
    return { wallets, entries, gapMs: this.#gapMs };
  }

  /** What is wrong, a line each. */
  async verify(): Promise<string[]> {
    return [...(await this.#wallets.verify()), ...(await this.#entries.verify())];
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  #acknowledge(atMs: number): void {
    this.#gapMs = Math.max(this.#gapMs, atMs - this.#acknowledgedAt);
    this.#acknowledgedAt = atMs;
  }
}
