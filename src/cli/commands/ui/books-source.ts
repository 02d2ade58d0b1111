// Asks the service for what the screen for the books shows: what is wanted, at once, and what is new, as the journal's
// stream tells it. Closes, which no stream tells, and everything while there is no stream, are asked for at an interval.
import { setTimeout as sleep } from "node:timers/promises";
import {
  ServiceProblem,
  ServiceUnreachable,
  type Entry,
  type LedgerClient,
} from "../../../client/ledger-client.ts";
import type { Exponents } from "../../connection/exponents.ts";
import { BackwardRegister } from "./backward-register.ts";
import type { UiEvent, UiState } from "./ui-state.ts";
import { wantsOf, type Want } from "./ui-wants.ts";

const pollMs = 1_000;
/** Entries come by themselves, and closes are not in sight. */
const followedPollMs = 5_000;
/** However fast entries come, what is shown is read anew no more often. */
const arrivalMs = 250;
const pageLimit = 100;
/** What is read of a register that is read anew, at the most: the rest is read again by who scrolls there. */
const rereadLinesMax = 1_000;
/** The books with whatever is dated later than now. */
const endOfTime = "9999-12-31T23:59:59.999Z";

export interface Shown {
  readonly state: () => UiState;
  readonly height: () => number;
  readonly change: (event: UiEvent) => void;
}

export class BooksSource {
  readonly #client: LedgerClient;
  readonly #ledgerId: string;
  readonly #exponents: Exponents;
  readonly #shown: Shown;
  readonly #registers = new Map<string, BackwardRegister>();
  /** Until when the accounts are not read again: in large books that costs the service something. */
  #accountsRestUntilMs = 0;
  #wake: () => void = () => undefined;
  #isPoked = false;
  /** Whether the journal's stream tells of new entries, and the last of them that it told of. */
  #isFollowing = false;
  #arrived = 0;
  #arrival: NodeJS.Timeout | null = null;
  #headReadMs = -Infinity;

  constructor(client: LedgerClient, ledgerId: string, exponents: Exponents, shown: Shown) {
    this.#client = client;
    this.#ledgerId = ledgerId;
    this.#exponents = exponents;
    this.#shown = shown;
  }

  /** Something else is shown, for which something may be wanted. */
  poke(): void {
    this.#isPoked = true;
    this.#wake();
  }

  /** Goes on until the signal, also where the service does not answer. Rejects with what it refuses for good. */
  async run(signal: AbortSignal): Promise<void> {
    let isFirst = true;
    while (!signal.aborted) {
      try {
        if (performance.now() >= this.#headDueMs) await this.#readHead();
        if (isFirst) void this.#follow(signal);
        isFirst = false;
        await this.#fulfil(performance.now() + pollMs);
      } catch (error) {
        if (!isPassing(error)) throw error;
        this.#shown.change({ type: "fault", fault: error.message });
        this.#headReadMs = performance.now();
      }
      const woken = new Promise<void>((resolve) => (this.#wake = resolve));
      const pauseMs = Math.max(0, Math.min(pollMs, this.#headDueMs - performance.now()));
      if (!this.#isPoked) await Promise.race([woken, sleep(pauseMs, undefined, { signal })]);
      this.#isPoked = false;
    }
  }

  /** When it is to be asked again what is new. */
  get #headDueMs(): number {
    const isSeldom = this.#isFollowing && this.#shown.state().pane !== "periods";
    return this.#headReadMs + (isSeldom ? followedPollMs : pollMs);
  }

  /** Takes entries as they come. What keeps a stream from being had, leaves asking. */
  async #follow(signal: AbortSignal): Promise<void> {
    const stream = this.#client.followEntries(this.#ledgerId, {
      since: this.#shown.state().lastSequence ?? 0,
      onConnection: (state) => {
        this.#isFollowing = state === "connected";
        if (state === "lost") this.#headReadMs = -Infinity;
      },
    });
    signal.addEventListener("abort", () => {
      stream.close();
    });
    try {
      for await (const { sequence } of stream) this.#arrive(sequence);
    } catch {
      this.#isFollowing = false;
    }
  }

  #arrive(sequence: number): void {
    this.#arrived = sequence;
    this.#arrival ??= setTimeout(() => {
      this.#arrival = null;
      const known = this.#shown.state().lastSequence ?? 0;
      if (this.#arrived <= known) return;
      this.#shown.change({ type: "head", lastSequence: this.#arrived, closes: [] });
      this.poke();
    }, arrivalMs);
  }

  async #readHead(): Promise<void> {
    const { closes } = this.#shown.state();
    const [{ total }, page] = await Promise.all([
      this.#client.listEntries(this.#ledgerId, { limit: 1 }),
      this.#client.listCloses(this.#ledgerId, { offset: closes.length, limit: pageLimit }),
    ]);
    this.#shown.change({ type: "head", lastSequence: total, closes: page.closes });
    this.#headReadMs = performance.now();
  }

  /** Answers wants until there are none, or it is time to look for what is new. */
  async #fulfil(untilMs: number): Promise<void> {
    while (performance.now() < untilMs) {
      const wants = wantsOf(this.#shown.state(), this.#shown.height());
      const want = wants.find(
        ({ kind }) => kind !== "accounts" || performance.now() >= this.#accountsRestUntilMs,
      );
      if (want === undefined) return;
      await this.#answer(want, this.#shown.state().lastSequence ?? 0);
    }
  }

  async #answer(want: Want, atSequence: number): Promise<void> {
    switch (want.kind) {
      case "accounts":
        return this.#readAccounts(atSequence);
      case "months":
        return this.#readMonths(atSequence);
      case "journal":
        return this.#readJournal(want.isFollowing, atSequence);
      case "register":
        return this.#readRegister(want.glAccountCode, want.isFollowing, atSequence);
      case "entry": {
        const entry = await this.#client.getEntry(this.#ledgerId, want.journalId);
        await this.#learnExponents(entry);
        this.#shown.change({ type: "entry", entry });
      }
    }
  }

  async #readAccounts(atSequence: number): Promise<void> {
    const beganMs = performance.now();
    const [chart, balances] = await Promise.all([
      this.#client.listAccounts(this.#ledgerId),
      this.#client.getTrialBalance(this.#ledgerId, { asOf: endOfTime }),
    ]);
    const closings = new Map(
      balances.accounts.map(({ glAccountCode, closing }) => [glAccountCode, BigInt(closing)]),
    );
    const accounts = chart.map((account) => ({
      ...account,
      balance: closings.get(account.glAccountCode) ?? 0n,
    }));
    this.#shown.change({ type: "accounts", accounts, atSequence });
    const endedMs = performance.now();
    this.#accountsRestUntilMs = endedMs + 4 * (endedMs - beganMs);
  }

  /** What a preview of a month that nobody keeps books of finds open before it. A closed ledger has none. */
  async #readMonths(atSequence: number): Promise<void> {
    const months = await this.#client
      .previewClose(this.#ledgerId, { periodId: "9999-11" })
      .then(({ earlierOpen }) => earlierOpen)
      .catch((error: unknown) => {
        if (error instanceof ServiceProblem && error.code === "LEDGER_CLOSED") return [];
        throw error;
      });
    this.#shown.change({ type: "months", months, atSequence });
  }

  async #readJournal(isFollowing: boolean, atSequence: number): Promise<void> {
    const { journal, places } = this.#shown.state();
    const { search } = places.journal;
    const page = await this.#client
      .listEntries(this.#ledgerId, {
        direction: "desc",
        limit: pageLimit,
        ...(search === "" ? {} : { text: search }),
        ...(isFollowing ? { offset: journal.entries.length } : {}),
      })
      .catch((error: unknown) => {
        // A journal may be too large to be searched: no reason to end the screen.
        const isOfSearch = error instanceof ServiceProblem && error.status === 400;
        if (search === "" || !isOfSearch) throw error;
        return { entries: [], hasMore: false, refusal: error.message };
      });
    // What came meanwhile has moved the offset.
    const known = new Set(isFollowing ? journal.entries.map(({ journalId }) => journalId) : []);
    this.#shown.change({
      type: "journal",
      search,
      entries: page.entries.filter(({ journalId }) => !known.has(journalId)),
      isFollowing,
      isComplete: !page.hasMore,
      refusal: "refusal" in page ? page.refusal : null,
      atSequence,
    });
  }

  async #readRegister(glAccountCode: string, isFollowing: boolean, atSequence: number) {
    const view = this.#shown.state().opened.at(-1);
    const register = isFollowing ? this.#registers.get(glAccountCode) : undefined;
    const reading =
      register ??
      new BackwardRegister(
        (range) => this.#client.getRegister(this.#ledgerId, glAccountCode, range),
        Date.now(),
      );
    this.#registers.set(glAccountCode, reading);
    const seen = view?.kind === "register" ? view.place.scroll.from + this.#shown.height() : 0;
    const lines = await reading.next();
    while (!isFollowing && lines.length < Math.min(seen, rereadLinesMax) && !reading.isComplete) {
      lines.push(...(await reading.next()));
    }
    const { isComplete } = reading;
    const isMore = register !== undefined;
    this.#shown.change({
      type: "register",
      glAccountCode,
      lines,
      isFollowing: isMore,
      isComplete,
      atSequence,
    });
  }

  async #learnExponents({ lines }: Entry): Promise<void> {
    const codes = lines.map(({ transactionCurrency }) => transactionCurrency);
    await this.#exponents.learn(codes);
  }
}

/** What a service that is back, or less busy, will answer. */
function isPassing(error: unknown): error is Error {
  if (error instanceof ServiceUnreachable) return true;
  return error instanceof ServiceProblem && (error.status === 429 || error.status >= 500);
}
