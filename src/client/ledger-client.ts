// The client: every route of the API as a method. The package's public export.
import { randomUUID } from "node:crypto";
import { isSameEntry } from "../contract/entry-equality.ts";
import { paths, requireText } from "../contract/paths.ts";
import type {
  Account,
  AccountBalance,
  BulkMovementInput,
  BulkResult,
  Close,
  CloseInput,
  ClosePage,
  ClosePreview,
  CloseWithBalances,
  Entry,
  EntryInput,
  EntryOutcome,
  EntryPage,
  Ledger,
  MovementInput,
  PostedWritePage,
  ReserveInput,
  Reservation,
  ReversalInput,
  TrialBalance,
  WalletBalance,
  WalletLogPage,
  WalletResult,
  EntryReceipt,
} from "../contract/wire.ts";
import { ServiceProblem } from "./errors.ts";
import { WalletStream, type WalletStreamOptions } from "./wallet-stream.ts";
import { parseReply, SignedHttp, type HttpReply, type SignedHttpOptions } from "./signed-http.ts";

export { ServiceProblem, ServiceUnreachable } from "./errors.ts";
export type { Exchange, HttpReply, SignedHttpOptions } from "./signed-http.ts";
export { WalletStream, type WalletStreamOptions } from "./wallet-stream.ts";
export type {
  Account,
  CloseWithBalances,
  ClosePage,
  ClosePreview,
  CloseInput,
  Close,
  AccountBalance,
  CloseBalance,
  TrialBalanceTotals,
  MovedAccount,
  TrialBalance,
  TrialBalanceRow,
  BalanceMessage,
  BulkMovementInput,
  BulkResult,
  MovementInput,
  PostedWritePage,
  ReserveInput,
  Reservation,
  WalletBalance,
  WalletLogPage,
  WalletResult,
  WalletLogEntry,
  TrialBalanceFigures,
  Entry,
  EntryDocument,
  EntryInput,
  EntryOutcome,
  EntryPage,
  Ledger,
  Proof,
  EntryLine,
  EntryLineInput,
  Problem,
  ReversalInput,
  EntryReceipt,
} from "../contract/wire.ts";

/** Which entries a list holds, and which page of it. Times are ISO 8601; `to` is exclusive. */
export interface EntryListQuery {
  readonly limit?: number;
  readonly offset?: number;
  /** A sequence; entries behind it. Excludes offset. */
  readonly after?: number;
  readonly from?: string;
  readonly to?: string;
  /** A period's label: of a closed one, its stored bounds; else what the label itself means. */
  readonly periodId?: string;
  readonly externalId?: string;
  readonly glAccountCode?: string;
}

export interface WalletAddress {
  readonly ledgerId: string;
  readonly callerKey: string;
}

/**
 * Talks to a ledgerctl server. Without a url, apiKey or apiSecret the constructor throws TypeError. Methods resolve with the API's own objects and reject with
 * ServiceProblem (the service said no) or ServiceUnreachable (nobody answered).
 */
export class LedgerClient {
  readonly #http: SignedHttp;

  constructor(options: SignedHttpOptions) {
    this.#http = new SignedHttp(options);
  }

  async listLedgers(): Promise<readonly Ledger[]> {
    const { ledgers } = await this.#get<{ ledgers: Ledger[] }>(paths.listLedgers({}));
    return ledgers;
  }

  async getLedger(ledgerId: string): Promise<Ledger> {
    return this.#get(paths.getLedger({ ledgerId }));
  }

  async listAccounts(
    ledgerId: string,
    query: { activeOnly?: boolean } = {},
  ): Promise<readonly Account[]> {
    const target = withQuery(paths.listAccounts({ ledgerId }), query);
    const { accounts } = await this.#get<{ accounts: Account[] }>(target);
    return accounts;
  }

  /** The balance of an account, exact at any size; `currency` for one transaction currency. */
  async getBalance(
    ledgerId: string,
    query: { account: string; currency?: string },
  ): Promise<AccountBalance> {
    const target = withQuery(paths.getBalance({ ledgerId }), query);
    const { reply } = await this.#http.send({ method: "GET", target });
    const { value, inexactNumbers } = parseReply(reply);
    const held = value as Omit<AccountBalance, "balance"> & { balance: number };
    const digits = inexactNumbers.find(({ path }) => path[0] === "balance")?.text;
    return { ...held, balance: BigInt(digits ?? held.balance) };
  }

  /** The trial balance of the live books: of a period, up to a moment, or up to now. */
  async getTrialBalance(
    ledgerId: string,
    query: { periodId?: string; asOf?: string } = {},
  ): Promise<TrialBalance> {
    return this.#get(withQuery(paths.getTrialBalance({ ledgerId }), query));
  }

  async listEntries(ledgerId: string, query: EntryListQuery = {}): Promise<EntryPage> {
    return this.#get(withQuery(paths.listEntries({ ledgerId }), query));
  }

  async getEntry(ledgerId: string, entryId: string): Promise<Entry> {
    return this.#get(paths.getEntry({ ledgerId, entryId }));
  }

  /**
   * Posts an entry. Without an externalId one is made up, so that a lost answer can be asked for
   * again; an entry that got in at the first attempt resolves as if it had been answered.
   */
  async postEntry(ledgerId: string, entry: EntryInput): Promise<EntryReceipt> {
    const body = withExternalId(entry);
    const target = paths.postEntry({ ledgerId });
    return this.#write(ledgerId, target, body, (stored) => isSameEntry(body, stored));
  }

  /**
   * Posts up to 1,000 entries, each by itself: what became of each, in order. An externalId is made up as
   * for `postEntry`, and what got in at an attempt whose answer was lost has been posted.
   */
  async postEntries(
    ledgerId: string,
    entries: readonly EntryInput[],
  ): Promise<readonly EntryOutcome[]> {
    const bodies = entries.map(withExternalId);
    const { reply, wasRepeated } = await this.#postBulk(ledgerId, { entries: bodies });
    const { results } = parseReply(reply).value as { results: readonly EntryOutcome[] };
    if (!wasRepeated) return results;
    return Promise.all(
      results.map(async (result, index): Promise<EntryOutcome> => {
        const isKnown = "title" in result && result.code === "DUPLICATE_ENTRY";
        if (!isKnown || result.journalId === undefined) return result;
        const stored = await this.getEntry(ledgerId, result.journalId);
        const body = bodies[index];
        if (body === undefined || !isSameEntry(body, stored)) return result;
        return { status: 201, journalId: stored.journalId, persistedAt: stored.persistedAt };
      }),
    );
  }

  /**
   * Posts up to 1,000 entries together: all of them, or none, and then it rejects with the problem of the
   * first that fails. ExternalIds are made up, and a lost answer is asked for again, as for `postEntry`.
   */
  async postAtomicEntries(
    ledgerId: string,
    entries: readonly EntryInput[],
  ): Promise<readonly EntryReceipt[]> {
    const bodies = entries.map(withExternalId);
    try {
      const { reply } = await this.#postBulk(ledgerId, { entries: bodies, atomic: true });
      return (parseReply(reply).value as { results: readonly EntryReceipt[] }).results;
    } catch (error) {
      const isOurs = error instanceof ServiceProblem && error.wasRepeated;
      if (!isOurs || error.code !== "DUPLICATE_ENTRY") throw error;
      return Promise.all(
        bodies.map(async (body) => {
          const { externalId } = body;
          const [stored] = (await this.listEntries(ledgerId, { externalId })).entries;
          if (stored === undefined || !isSameEntry(body, stored)) throw error;
          return { journalId: stored.journalId, persistedAt: stored.persistedAt };
        }),
      );
    }
  }

  /** Reverses an entry; an externalId is made up as for `postEntry`. */
  async reverseEntry(
    ledgerId: string,
    entryId: string,
    reversal: ReversalInput = {},
  ): Promise<EntryReceipt> {
    const body = { ...reversal, externalId: reversal.externalId ?? randomUUID() };
    const target = paths.reverseEntry({ ledgerId, entryId });
    return this.#write(
      ledgerId,
      target,
      body,
      (stored) => stored.reversesJournalId === entryId.toLowerCase(),
    );
  }

  /** The wallet writes that an entry posts: none for an entry that a client posted. */
  async listPostedWrites(
    ledgerId: string,
    entryId: string,
    query: { limit?: number; offset?: number } = {},
  ): Promise<PostedWritePage> {
    return this.#get(withQuery(paths.listPostedWrites({ ledgerId, entryId }), query));
  }

  /** Closes a period; one that is closed gives the record that it has. */
  async closePeriod(ledgerId: string, close: CloseInput): Promise<Close> {
    const target = paths.closePeriod({ ledgerId });
    const body = JSON.stringify(close);
    const { reply } = await this.#http.send({ method: "POST", target, body });
    return parseReply(reply).value as Close;
  }

  /** What closing a period would do now. */
  async previewClose(
    ledgerId: string,
    query: { periodId: string; startsAt?: string; endsAt?: string },
  ): Promise<ClosePreview> {
    return this.#get(withQuery(paths.previewClose({ ledgerId }), query));
  }

  /** Closes, oldest first. */
  async listCloses(
    ledgerId: string,
    query: { limit?: number; offset?: number } = {},
  ): Promise<ClosePage> {
    return this.#get(withQuery(paths.listCloses({ ledgerId }), query));
  }

  async getClose(ledgerId: string, closeId: string): Promise<CloseWithBalances> {
    return this.#get(paths.getClose({ ledgerId, closeId }));
  }

  /** The proof that an entry is in a close, as the text that is checked. */
  async getProof(ledgerId: string, closeId: string, entryId: string): Promise<string> {
    const target = withQuery(paths.getProof({ ledgerId, closeId }), { entryId });
    const { reply } = await this.#http.send({ method: "GET", target });
    return reply.text;
  }

  /** A close with all its entries: the bytes of a bundle as they come. */
  async streamBundle(ledgerId: string, closeId: string): Promise<AsyncIterable<Uint8Array>> {
    return this.#http.stream(paths.getBundle({ ledgerId, closeId }));
  }

  /**
   * Adds to a wallet. Without an externalId one is made up, so that a lost answer can be asked for again;
   * a write that got in at such an attempt resolves as accepted, with the figures of now. With an externalId
   * of the caller's it resolves as duplicate then: nobody can tell it from an earlier call's.
   */
  async creditWallet(wallet: WalletAddress, movement: MovementInput): Promise<WalletResult> {
    return this.#writeWallet(paths.creditWallet({ walletKey: walletKeyOf(wallet) }), movement);
  }

  /** Takes from a wallet; refused with 422 where that is more than is available. */
  async debitWallet(wallet: WalletAddress, movement: MovementInput): Promise<WalletResult> {
    return this.#writeWallet(paths.debitWallet({ walletKey: walletKeyOf(wallet) }), movement);
  }

  async reserveFunds(wallet: WalletAddress, hold: ReserveInput): Promise<Reservation> {
    return this.#writeWallet(paths.reserveFunds({ walletKey: walletKeyOf(wallet) }), hold);
  }

  /** Takes what was held, or less of it, which lets go of the rest. */
  async commitHold(
    wallet: WalletAddress,
    holdId: string,
    commit: { amount?: string } = {},
  ): Promise<WalletResult> {
    const target = paths.commitHold({ walletKey: walletKeyOf(wallet), holdId });
    return this.#resolveHold(target, commit);
  }

  async releaseHold(wallet: WalletAddress, holdId: string): Promise<WalletResult> {
    return this.#resolveHold(paths.releaseHold({ walletKey: walletKeyOf(wallet), holdId }), {});
  }

  async getWalletBalance(wallet: WalletAddress): Promise<WalletBalance> {
    return this.#get(paths.getWalletBalance({ walletKey: walletKeyOf(wallet) }));
  }

  /** A wallet's log, in order of seq. */
  async listWalletWrites(
    wallet: WalletAddress,
    query: { after?: number; limit?: number } = {},
  ): Promise<WalletLogPage> {
    return this.#get(withQuery(paths.listWalletWrites({ walletKey: walletKeyOf(wallet) }), query));
  }

  /** Up to 1,000 credits and debits, each by itself: a result for each, in order. */
  async writeWallets(ledgerId: string, writes: readonly BulkMovementInput[]): Promise<BulkResult> {
    const target = paths.writeWallets({ ledgerId });
    const keyed = writes.map((write) => ({
      ...write,
      externalId: write.externalId ?? randomUUID(),
    }));
    const body = JSON.stringify({ writes: keyed });
    const { reply, wasRepeated } = await this.#http.send({ method: "POST", target, body });
    const { results } = parseReply(reply).value as BulkResult;
    return {
      results: results.map((result, index) =>
        wasRepeated && isUnkeyed(writes[index]) ? asAccepted(result) : result,
      ),
    };
  }

  /** Every change of a wallet, as it happens; reconnects by itself and then misses nothing. */
  streamWallet(wallet: WalletAddress, options: WalletStreamOptions = {}): WalletStream {
    return new WalletStream(
      this.#http,
      paths.streamWallet({ walletKey: walletKeyOf(wallet) }),
      options,
    );
  }

  /** Sends any signed request once and resolves with the answer, whatever its status. */
  async request(method: string, target: string, body?: string | Buffer): Promise<HttpReply> {
    return this.#http.sendOnce({ method, target, ...(body === undefined ? {} : { body }) });
  }

  async close(): Promise<void> {
    await this.#http.close();
  }

  async #get<Reply>(target: string): Promise<Reply> {
    const { reply } = await this.#http.send({ method: "GET", target });
    return parseReply(reply).value as Reply;
  }

  async #writeWallet<Reply extends WalletResult>(
    target: string,
    movement: MovementInput,
  ): Promise<Reply> {
    const body = JSON.stringify({ ...movement, externalId: movement.externalId ?? randomUUID() });
    const { reply, wasRepeated } = await this.#http.send({ method: "POST", target, body });
    const result = parseReply(reply).value as Reply;
    return wasRepeated && isUnkeyed(movement) ? asAccepted(result) : result;
  }

  /**
   * Resolving a hold twice the same way answers "duplicate", so it needs no key of its own. A duplicate
   * after a lost answer stays one: whoever resolved the hold, it is resolved that way.
   */
  async #resolveHold(target: string, commit: object): Promise<WalletResult> {
    const body = JSON.stringify(commit);
    const { reply } = await this.#http.send({ method: "POST", target, body });
    return parseReply(reply).value as WalletResult;
  }

  async #postBulk(ledgerId: string, bulk: object) {
    const body = JSON.stringify(bulk);
    return this.#http.send({ method: "POST", target: paths.postEntries({ ledgerId }), body });
  }

  async #write(
    ledgerId: string,
    target: string,
    body: EntryInput | ReversalInput,
    isOurs: (stored: Entry) => boolean,
  ): Promise<EntryReceipt> {
    const json = JSON.stringify(body);
    try {
      const request = { method: "POST", target, body: json };
      const { reply } = await this.#http.send(request);
      return parseReply(reply).value as EntryReceipt;
    } catch (error) {
      // A duplicate of an attempt of ours whose answer was lost is that answer.
      const first = error instanceof ServiceProblem && error.wasRepeated ? error.problem : {};
      if (first.code !== "DUPLICATE_ENTRY" || first.journalId === undefined) throw error;
      const stored = await this.getEntry(ledgerId, first.journalId);
      if (!isOurs(stored)) throw error;
      return { journalId: stored.journalId, persistedAt: stored.persistedAt };
    }
  }
}

/** Whether the externalId of a write was made up here: a duplicate of it can only be an attempt of ours. */
function isUnkeyed(write: MovementInput | undefined): boolean {
  return write !== undefined && (write.externalId ?? null) === null;
}

/** What an attempt of ours whose answer was lost had been told. */
function asAccepted<Result extends { readonly status: string | number }>(result: Result): Result {
  return result.status === "duplicate" ? { ...result, status: "accepted" } : result;
}

/** An entry as it is sent: with the externalId that it has, or one that is made up. */
function withExternalId(entry: EntryInput): EntryInput & { readonly externalId: string } {
  return asSent({ ...entry, externalId: entry.externalId ?? randomUUID() });
}

/** What JSON makes of a value: members that are undefined are not there. */
function asSent<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}

function walletKeyOf({ ledgerId, callerKey }: WalletAddress): string {
  return `${requireText("ledgerId", ledgerId)}:${requireText("callerKey", callerKey)}`;
}

function withQuery(path: string, query: object): string {
  const pairs = Object.entries(
    query as Record<string, string | number | boolean | undefined>,
  ).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  return pairs.length === 0 ? path : `${path}?${pairs.join("&")}`;
}
