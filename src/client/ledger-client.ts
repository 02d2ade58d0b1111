// The client: every route of the API as a method. The package's public export.
import { randomUUID } from "node:crypto";
import { isSameEntry } from "../contract/entry-equality.ts";
import { wholeNumberAt } from "../contract/exact-json.ts";
import { paths, requireText } from "../contract/paths.ts";
import type * as wire from "../contract/types.ts";
import { ReservationConflict, ServiceProblem } from "./errors.ts";
import { EntryStream, type EntryStreamOptions } from "./entry-stream.ts";
import { WalletStream, type WalletStreamOptions } from "./wallet-stream.ts";
import {
  parseReply,
  problemOf,
  SignedHttp,
  type HttpReply,
  type SignedHttpOptions,
} from "./signed-http.ts";

export { ReservationConflict, ServiceProblem, ServiceUnreachable } from "./errors.ts";
export type { Exchange, HttpReply, SignedHttpOptions } from "./signed-http.ts";
export {
  DeliverySignatureError,
  readDelivery,
  type ReceivedDelivery,
} from "./delivery-signature.ts";
export type { EntryStream, EntryStreamOptions } from "./entry-stream.ts";
export type { WalletMessage, WalletStream, WalletStreamOptions } from "./wallet-stream.ts";
export type * from "../contract/types.ts";

/** Which entries a list holds, and which page of it. Times are ISO 8601 with `Z` or an offset. */
export interface EntryListQuery extends PageQuery {
  /** A sequence; only entries after it. Not beside `offset`. */
  readonly after?: number;
  /** The transactionDate at or after. */
  readonly from?: string;
  /** The transactionDate before. */
  readonly to?: string;
  /** A period's label: of a closed period its stored bounds, else the interval that the label says. */
  readonly periodId?: string;
  readonly externalId?: string;
  /** With at least one line on this account. */
  readonly glAccountCode?: string;
  /** In a description, the externalId or a value of the metadata, without regard to case. */
  readonly text?: string;
  /** Of any line: its functional amount without its sign, in smallest units. Not beside the other two. */
  readonly amount?: string;
  readonly minAmount?: string;
  readonly maxAmount?: string;
  readonly entryType?: wire.Entry["entryType"];
  /** `sequence` unless given; by `date`, entries of one date are in the order of their sequences. */
  readonly order?: "sequence" | "date";
  /** `asc` unless given. */
  readonly direction?: "asc" | "desc";
}

/** Which lines of an account, and which page of them. Times are ISO 8601 with `Z` or an offset. */
export interface RegisterQuery {
  /** The transactionDate at or after. */
  readonly from?: string;
  /** The transactionDate before. */
  readonly to?: string;
  /** A period's label, in place of `from` and `to`. */
  readonly periodId?: string;
  /** Lines in this transaction currency alone, with amounts and balances in it. */
  readonly currency?: string;
  /** 1 to 100; 50 unless given. */
  readonly limit?: number;
  /** The page before's `nextCursor`; all else as for that page. */
  readonly cursor?: string;
}

/** What a statement is about. Times are ISO 8601 with `Z` or an offset. */
export interface StatementQuery {
  /** The transactionDate at or after; from the first entry on unless given. */
  readonly from?: string;
  /** The transactionDate before; up to now unless given. */
  readonly to?: string;
  /** The transactionDate before, in place of `from` and `to`. */
  readonly asOf?: string;
  /** A period's label, in place of the others. */
  readonly periodId?: string;
  /** A column for each; one column unless given. */
  readonly by?: "month" | "quarter" | "year";
}

/** A page of a list. */
export interface PageQuery {
  /** 1 to 100; 50 unless given. */
  readonly limit?: number;
  /** How many to skip; 0 unless given. */
  readonly offset?: number;
}

/** Which wallets, and which page of them. */
export interface WalletListQuery {
  /** What their callerKeys begin with. */
  readonly prefix?: string;
  readonly assetCode?: string;
  /** 1 to 100; 50 unless given. */
  readonly limit?: number;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string;
}

/** Which checkpoint of a log; the newest unless given. */
export interface CheckpointQuery {
  /** Leaves in its tree. */
  readonly size?: number;
  /** The newest that enough witnesses cosigned. Not beside `size`. */
  readonly cosigned?: boolean;
  /** An earlier origin of the log, before it was begun anew. */
  readonly origin?: string;
}

/** The record to prove, one of both, and the size of the checkpoint to prove it by; the newest unless given. */
export interface LogProofQuery {
  readonly entryId?: string;
  readonly closeId?: string;
  readonly size?: number;
}

/** A wallet: the ledger that it belongs to, and the caller's own name for it. */
export interface WalletAddress {
  readonly ledgerId: string;
  readonly callerKey: string;
}

/** A hold that was made, or was made before under the same externalId. Amounts are in smallest units. */
export interface Reservation extends wire.WalletResult {
  /** For `commitHold` and `releaseHold`. */
  readonly holdId: string;
}

/**
 * Talks to a ledgerctl server.
 *
 * Amounts are integers in the smallest unit of their currency or asset. In the journal debits are positive and credits
 * negative; amounts of wallets are never negative. Replies are the API's own objects.
 *
 * Every method but `request`, `createDelivery` and `streamBundle` sends again what a lost connection, a 429 or a 503 kept from
 * being answered, for `retryForMs`, with growing pauses. Writes carry an externalId, made up where the caller gave none, so
 * that nothing is written twice. Rejects with ServiceProblem (the last answer was an error), ServiceUnreachable (there was
 * none), or TypeError (an id is missing).
 */
export class LedgerClient {
  readonly #http: SignedHttp;

  /** Opens no connection yet. Throws TypeError without a url, apiKey or apiSecret. */
  constructor(options: SignedHttpOptions) {
    this.#http = new SignedHttp(options);
  }

  /** All ledgers of the key's organization, in the order in which they were made. */
  async listLedgers(): Promise<readonly wire.Ledger[]> {
    const { ledgers } = await this.#get<{ ledgers: wire.Ledger[] }>(paths.listLedgers({}));
    return ledgers;
  }

  /** One ledger; 404 also for another organization's. */
  async getLedger(ledgerId: string): Promise<wire.Ledger> {
    return this.#get(paths.getLedger({ ledgerId }));
  }

  /** The chart of accounts by the UTF-8 bytes of the codes, inactive accounts included unless `activeOnly`. */
  async listAccounts(
    ledgerId: string,
    query: { activeOnly?: boolean } = {},
  ): Promise<readonly wire.Account[]> {
    const target = withQuery(paths.listAccounts({ ledgerId }), query);
    const { accounts } = await this.#get<{ accounts: wire.Account[] }>(target);
    return accounts;
  }

  /**
   * Makes accounts, up to 1,000, and renames those that are there, all of them or none; what a row leaves out stays as it
   * is, and nothing is deleted. Resolves with these accounts, by code. For a key with the scope `admin`. 409 ACCOUNT_IN_USE
   * where one is to be deactivated that wallets are posted to.
   */
  async importAccounts(
    ledgerId: string,
    accounts: readonly wire.AccountInput[],
  ): Promise<readonly wire.Account[]> {
    const target = paths.importAccounts({ ledgerId });
    return (await this.#call<{ accounts: wire.Account[] }>("POST", target, { accounts })).accounts;
  }

  /**
   * Changes the rule of an asset; what is left out stays as it is, and `"none"` takes a rate or a limit away. Writes that
   * were accepted before keep the rule that they were accepted under. For a key with the scope `admin`.
   */
  async setAssetRule(
    ledgerId: string,
    assetCode: string,
    change: wire.AssetRuleInput,
  ): Promise<wire.Asset> {
    return this.#call("PUT", paths.setAssetRule({ ledgerId, assetCode }), change);
  }

  /** The newest rules of assets, by the UTF-8 bytes of the codes; an asset that was never used or set has none. */
  async listAssets(ledgerId: string): Promise<readonly wire.Asset[]> {
    const { assets } = await this.#get<{ assets: wire.Asset[] }>(paths.listAssets({ ledgerId }));
    return assets;
  }

  /**
   * The balance of an account: the sum of its lines in functional currency, or, with `currency`, of its amounts in that
   * transaction currency; with `asOf`, of what is dated before it. Smallest units, debits positive, exact at any size. 404
   * ACCOUNT_NOT_FOUND.
   */
  async getBalance(
    ledgerId: string,
    query: { account: string; currency?: string; asOf?: string },
  ): Promise<wire.AccountBalance> {
    const target = withQuery(paths.getBalance({ ledgerId }), query);
    const { reply } = await this.#http.send({ method: "GET", target });
    const read = parseReply(reply) as wire.AccountBalance;
    const balance = wholeNumberAt(reply.text, "balance");
    if (balance === null) throw new SyntaxError("a reply without a balance");
    return { ...read, balance };
  }

  /**
   * The trial balance of the live books: of a period, of everything dated before `asOf`, or of everything up to now. Strings
   * of smallest units of the functional currency, debits positive. 404 CLOSE_NOT_FOUND for a label that means no period.
   */
  async getTrialBalance(
    ledgerId: string,
    query: { periodId?: string; asOf?: string } = {},
  ): Promise<wire.TrialBalance> {
    return this.#get(withQuery(paths.getTrialBalance({ ledgerId }), query));
  }

  /**
   * A page of an account's lines by transaction date, with the running balance. To read all, go on with `cursor`: the page's
   * `nextCursor`, while it is not null. Entries posted meanwhile are in none of these pages. 404 ACCOUNT_NOT_FOUND.
   */
  async getRegister(
    ledgerId: string,
    glAccountCode: string,
    query: RegisterQuery = {},
  ): Promise<wire.Register> {
    return this.#get(withQuery(paths.getRegister({ ledgerId, glAccountCode }), query));
  }

  /**
   * What assets, liabilities and equity came to at the end of each column, and income and expenses up to then. Strings of
   * smallest units of the functional currency, debits positive: a profit is negative. 404 CLOSE_NOT_FOUND.
   */
  async getBalanceSheet(ledgerId: string, query: StatementQuery = {}): Promise<wire.Statement> {
    return this.#get(withQuery(paths.getBalanceSheet({ ledgerId }), query));
  }

  /** Income and expenses of each column, entries of the type CLOSING apart; else as `getBalanceSheet`. */
  async getIncomeStatement(ledgerId: string, query: StatementQuery = {}): Promise<wire.Statement> {
    return this.#get(withQuery(paths.getIncomeStatement({ ledgerId }), query));
  }

  /**
   * A page of entries. To read all by sequence, go on with `after`: the last entry's sequence, while `hasMore`; by date, with
   * `offset`.
   */
  async listEntries(ledgerId: string, query: EntryListQuery = {}): Promise<wire.EntryPage> {
    return this.#get(withQuery(paths.listEntries({ ledgerId }), query));
  }

  /** An entry with its lines. 404 ENTRY_NOT_FOUND. */
  async getEntry(ledgerId: string, entryId: string): Promise<wire.Entry> {
    return this.#get(paths.getEntry({ ledgerId, entryId }));
  }

  /**
   * Posts an entry, whose functional amounts have to sum to zero. Rejects with 400 VALIDATION_ERROR, 409 DUPLICATE_ENTRY
   * (the externalId is in use) or PERIOD_CLOSED, or 403 LEDGER_SUSPENDED or LEDGER_CLOSED. An entry that was posted by an
   * attempt whose answer was lost resolves as if it had been answered.
   */
  async postEntry(ledgerId: string, entry: wire.EntryInput): Promise<wire.EntryReceipt> {
    const body = withExternalId(entry);
    const target = paths.postEntry({ ledgerId });
    return this.#write(ledgerId, target, body, (stored) => isSameEntry(body, stored));
  }

  /**
   * Posts up to 1,000 entries, each by itself, and resolves with what became of each, in order: status 201, or a problem.
   * What was posted by an attempt whose answer was lost has status 201, too.
   */
  async postEntries(
    ledgerId: string,
    entries: readonly wire.EntryInput[],
  ): Promise<readonly wire.EntryOutcome[]> {
    const bodies = entries.map(withExternalId);
    const target = paths.postEntries({ ledgerId });
    const sent = await this.#send<{ results: wire.EntryOutcome[] }>("POST", target, {
      entries: bodies,
    });
    const { results } = sent.value;
    if (!sent.wasRepeated) return results;
    return Promise.all(
      results.map(async (result, index): Promise<wire.EntryOutcome> => {
        const isDuplicate = "title" in result && result.code === "DUPLICATE_ENTRY";
        if (!isDuplicate || result.journalId === undefined) return result;
        const stored = await this.getEntry(ledgerId, result.journalId);
        const body = bodies[index];
        if (body === undefined || !isSameEntry(body, stored)) return result;
        return { status: 201, ...receiptOf(stored) };
      }),
    );
  }

  /**
   * Posts up to 1,000 entries, all of them or none; their sequences follow each other. Rejects with the problem of the
   * first that fails, whose `errors` begin with its place (`#/entries/17`). A lost answer is found as for `postEntry`.
   */
  async postAtomicEntries(
    ledgerId: string,
    entries: readonly wire.EntryInput[],
  ): Promise<readonly wire.EntryReceipt[]> {
    const bodies = entries.map(withExternalId);
    const target = paths.postEntries({ ledgerId });
    try {
      const body = { entries: bodies, atomic: true };
      return (await this.#call<{ results: wire.EntryReceipt[] }>("POST", target, body)).results;
    } catch (error) {
      const mayBeOurs = error instanceof ServiceProblem && error.wasRepeated;
      if (!mayBeOurs || error.code !== "DUPLICATE_ENTRY") throw error;
      return Promise.all(
        bodies.map(async (body) => {
          const { externalId } = body;
          const [stored] = (await this.listEntries(ledgerId, { externalId })).entries;
          if (stored === undefined || !isSameEntry(body, stored)) throw error;
          return receiptOf(stored);
        }),
      );
    }
  }

  /**
   * Posts the reversal of an entry: the same lines, every amount negated. Rejects with 404 ENTRY_NOT_FOUND, 409
   * ALREADY_REVERSED, REVERSAL_NOT_REVERSIBLE or WALLET_BATCH_NOT_REVERSIBLE, and as `postEntry` does.
   */
  async reverseEntry(
    ledgerId: string,
    entryId: string,
    reversal: wire.ReversalInput = {},
  ): Promise<wire.EntryReceipt> {
    const body = withKey(reversal);
    const target = paths.reverseEntry({ ledgerId, entryId });
    return this.#write(
      ledgerId,
      target,
      body,
      (stored) => stored.reversesJournalId === entryId.toLowerCase(),
    );
  }

  /** A page of the wallet writes that an entry posts; empty for an entry that a client posted. */
  async listPostedWrites(
    ledgerId: string,
    entryId: string,
    query: PageQuery = {},
  ): Promise<wire.PostedWritePage> {
    return this.#get(withQuery(paths.listPostedWrites({ ledgerId, entryId }), query));
  }

  /**
   * Closes a period: from then on no entry can be dated in it. A period that is closed already resolves with the record
   * that it has. Rejects with 409 PERIOD_OUT_OF_ORDER in a ledger whose closes come in order.
   */
  async closePeriod(ledgerId: string, close: wire.CloseInput): Promise<wire.Close> {
    return this.#call("POST", paths.closePeriod({ ledgerId }), close);
  }

  /** What closing a period would do now, pending postings of wallets included. Writes nothing. */
  async previewClose(
    ledgerId: string,
    query: { periodId: string; startsAt?: string; endsAt?: string },
  ): Promise<wire.ClosePreview> {
    return this.#get(withQuery(paths.previewClose({ ledgerId }), query));
  }

  /** A page of the ledger's closes, oldest first. */
  async listCloses(ledgerId: string, query: PageQuery = {}): Promise<wire.ClosePage> {
    return this.#get(withQuery(paths.listCloses({ ledgerId }), query));
  }

  /** A close with its trial balance, in smallest units, debits positive. 404 CLOSE_NOT_FOUND. */
  async getClose(ledgerId: string, closeId: string): Promise<wire.CloseWithBalances> {
    return this.#get(paths.getClose({ ledgerId, closeId }));
  }

  /**
   * The proof that an entry is in a close (RFC 6962, section 2.1.1), as the text that is checked; parsed, it is a `Proof`.
   * 404 CLOSE_NOT_FOUND, also for an entry that the close does not cover.
   */
  async getProof(ledgerId: string, closeId: string, entryId: string): Promise<string> {
    return this.#getText(withQuery(paths.getProof({ ledgerId, closeId }), { entryId }));
  }

  /**
   * A close with all its entries: the bytes of a bundle (NDJSON) as they come. Is sent once: nothing is retried. Where the
   * connection breaks, reading rejects with ServiceUnreachable. A bundle without its trailer was cut off.
   */
  async streamBundle(ledgerId: string, closeId: string): Promise<AsyncIterable<Uint8Array>> {
    return this.#http.stream(paths.getBundle({ ledgerId, closeId }));
  }

  /** One of a ledger's logs: its newest checkpoint, its keys, and whether it is halted. 404 CHECKPOINT_NOT_FOUND without a log key. */
  async getLog(ledgerId: string, log: wire.LogKind): Promise<wire.Log> {
    return this.#get(paths.getLog({ ledgerId, log }));
  }

  /**
   * A checkpoint of a log, a signed note as the log gave it out: the newest, that of a size, or the newest that meets the
   * quorum of the server's policy. 404 CHECKPOINT_NOT_FOUND.
   */
  async getCheckpoint(
    ledgerId: string,
    log: wire.LogKind,
    query: CheckpointQuery = {},
  ): Promise<string> {
    return this.#getText(withQuery(paths.getCheckpoint({ ledgerId, log }), { ...query }));
  }

  /** A page of a log's checkpoints, oldest first. `origin` names an earlier one of the log, before it was begun anew. */
  async listCheckpoints(
    ledgerId: string,
    log: wire.LogKind,
    query: PageQuery & { readonly origin?: string } = {},
  ): Promise<wire.CheckpointPage> {
    return this.#get(withQuery(paths.listCheckpoints({ ledgerId, log }), { ...query }));
  }

  /** The proof that the tree of `to` leaves begins with that of `from` (RFC 6962, section 2.1.2). */
  async getConsistency(
    ledgerId: string,
    log: wire.LogKind,
    query: { readonly from: number; readonly to: number },
  ): Promise<wire.Consistency> {
    return this.#get(withQuery(paths.getConsistency({ ledgerId, log }), { ...query }));
  }

  /**
   * The proof that an entry is in the log `journal`, or a close in the log `closes`: a tlog-proof, which has the record in it.
   * 409 NOT_LOGGED_YET until a checkpoint covers it.
   */
  async getLogProof(ledgerId: string, log: wire.LogKind, query: LogProofQuery): Promise<string> {
    return this.#getText(withQuery(paths.getLogProof({ ledgerId, log }), { ...query }));
  }

  /**
   * Has events of a ledger delivered to an https URL, from the next one on or behind the cursors `since` (of the journal) and
   * `walletSince` (of wallet writes). The secret is told here alone. Is sent once: an attempt whose answer is lost may have made
   * a delivery, which `listDeliveries` shows. This and what follows is for a key with the scope `admin`.
   */
  async createDelivery(ledgerId: string, delivery: wire.DeliveryInput): Promise<wire.Delivery> {
    const target = paths.createDelivery({ ledgerId });
    const request = { method: "POST", target, body: JSON.stringify(delivery) };
    const reply = await this.#http.sendOnce(request);
    if (reply.status >= 300) throw problemOf(reply, false);
    return parseReply(reply) as wire.Delivery;
  }

  /** The deliveries of a ledger, in the order in which they were made; `secret` is null. */
  async listDeliveries(ledgerId: string): Promise<readonly wire.Delivery[]> {
    const target = paths.listDeliveries({ ledgerId });
    return (await this.#get<{ deliveries: wire.Delivery[] }>(target)).deliveries;
  }

  /** Pauses a delivery. 404 DELIVERY_NOT_FOUND. */
  async pauseDelivery(ledgerId: string, deliveryId: string): Promise<wire.Delivery> {
    return this.#call("POST", paths.pauseDelivery({ ledgerId, deliveryId }));
  }

  /** Lets a delivery go on from where it was, at once. 404 DELIVERY_NOT_FOUND. */
  async resumeDelivery(ledgerId: string, deliveryId: string): Promise<wire.Delivery> {
    return this.#call("POST", paths.resumeDelivery({ ledgerId, deliveryId }));
  }

  /**
   * Delivers again what is behind a cursor: `since` of the journal, `0.0` is everything; `walletSince` of wallet writes. What
   * is not named goes on from where it is. 404 DELIVERY_NOT_FOUND.
   */
  async replayDelivery(
    ledgerId: string,
    deliveryId: string,
    replay: { readonly since?: string; readonly walletSince?: string },
  ): Promise<wire.Delivery> {
    return this.#call("POST", paths.replayDelivery({ ledgerId, deliveryId }), replay);
  }

  /** Removes a delivery, and resolves with what it was. 404 DELIVERY_NOT_FOUND, also where an answer was lost before. */
  async deleteDelivery(ledgerId: string, deliveryId: string): Promise<wire.Delivery> {
    return this.#call("DELETE", paths.deleteDelivery({ ledgerId, deliveryId }));
  }

  /**
   * Adds to a wallet. `duplicate` where the externalId was used before in this wallet, with the figures of now. Without an
   * externalId of the caller's, a write that was made by an attempt whose answer was lost resolves as `accepted`.
   */
  async creditWallet(
    wallet: WalletAddress,
    movement: wire.MovementInput,
  ): Promise<wire.WalletResult> {
    return this.#writeWallet(paths.creditWallet({ walletKey: walletKeyOf(wallet) }), movement);
  }

  /** Takes from a wallet, as `creditWallet` adds. 422 where that is more than is available. */
  async debitWallet(
    wallet: WalletAddress,
    movement: wire.MovementInput,
  ): Promise<wire.WalletResult> {
    return this.#writeWallet(paths.debitWallet({ walletKey: walletKeyOf(wallet) }), movement);
  }

  /**
   * Holds a part of a wallet, until the hold is committed, released, or expires. 422 where that is more than is available.
   * Rejects with ReservationConflict where the externalId is that of a credit or a debit: nothing is held then.
   */
  async reserveFunds(wallet: WalletAddress, hold: wire.ReserveInput): Promise<Reservation> {
    const target = paths.reserveFunds({ walletKey: walletKeyOf(wallet) });
    const result = await this.#writeWallet<wire.ReserveResult>(target, hold);
    const { holdId } = result;
    if (holdId === null) throw new ReservationConflict(result);
    return { ...result, holdId };
  }

  /**
   * Takes what was held, or less of it, which releases the rest. `duplicate` where the hold has been committed; 404 without
   * such a hold, 409 where it was released or has expired.
   */
  async commitHold(
    wallet: WalletAddress,
    holdId: string,
    commit: { amount?: string } = {},
  ): Promise<wire.WalletResult> {
    const target = paths.commitHold({ walletKey: walletKeyOf(wallet), holdId });
    // To resolve a hold the same way twice is a duplicate, whoever did it first: it needs no externalId.
    return this.#call("POST", target, commit);
  }

  /** Releases what was held. `duplicate`, 404 and 409 as for `commitHold`. */
  async releaseHold(wallet: WalletAddress, holdId: string): Promise<wire.WalletResult> {
    return this.#call("POST", paths.releaseHold({ walletKey: walletKeyOf(wallet), holdId }));
  }

  /** What is in a wallet; zero for one that was never written. */
  async getWalletBalance(wallet: WalletAddress): Promise<wire.WalletBalance> {
    return this.#get(paths.getWalletBalance({ walletKey: walletKeyOf(wallet) }));
  }

  /** A page of a wallet's log, in order of seq: up to 100 entries after the seq `after`. */
  async listWalletWrites(
    wallet: WalletAddress,
    query: { after?: number; limit?: number } = {},
  ): Promise<wire.WalletLogPage> {
    return this.#get(withQuery(paths.listWalletWrites({ walletKey: walletKeyOf(wallet) }), query));
  }

  /** Up to 1,000 credits and debits, each by itself: for each, in order, its result or its status and error. */
  async writeWallets(
    ledgerId: string,
    writes: readonly wire.BulkMovementInput[],
  ): Promise<wire.BulkResult> {
    const keyed = writes.map(withKey);
    const target = paths.writeWallets({ ledgerId });
    const sent = await this.#send<wire.BulkResult>("POST", target, { writes: keyed });
    return { results: resultsOf(sent, writes) };
  }

  /**
   * Up to 1,000 transfers, each by itself: for each, in order, its result or its status and error. `duplicate` where the
   * externalId was used before in `from`; without one of the caller's, a transfer that was made by an attempt whose answer
   * was lost resolves as `accepted`.
   */
  async transferFunds(
    ledgerId: string,
    transfers: readonly wire.TransferInput[],
  ): Promise<wire.TransfersResult> {
    return this.#transfer(ledgerId, transfers, {});
  }

  /**
   * Up to 1,000 transfers, all of them or none, in order. Rejects with the problem of the first that fails, whose `errors`
   * begin with its place (`#/transfers/17`): 422 INSUFFICIENT_FUNDS, 403 WALLET_FROZEN, 409 where only some were made before.
   */
  async transferAtomically(
    ledgerId: string,
    transfers: readonly wire.TransferInput[],
  ): Promise<readonly wire.TransferResult[]> {
    const { results } = await this.#transfer(ledgerId, transfers, { atomic: true });
    return results as readonly wire.TransferResult[];
  }

  /** A page of the ledger's wallets, by the UTF-8 bytes of their callerKeys. To read all, go on with `cursor`: `nextCursor`. */
  async listWallets(ledgerId: string, query: WalletListQuery = {}): Promise<wire.WalletPage> {
    return this.#get(withQuery(paths.listWallets({ ledgerId }), query));
  }

  /** Lets nothing be taken out of a wallet: scope `admin`. `duplicate` where it is frozen; 404 where it was never written. */
  async freezeWallet(wallet: WalletAddress): Promise<wire.FreezeResult> {
    return this.#call("POST", paths.freezeWallet({ walletKey: walletKeyOf(wallet) }));
  }

  /** Lets a frozen wallet be used again, as `freezeWallet`. */
  async unfreezeWallet(wallet: WalletAddress): Promise<wire.FreezeResult> {
    return this.#call("POST", paths.unfreezeWallet({ walletKey: walletKeyOf(wallet) }));
  }

  /** Every change of a wallet as it happens. Connects when it is first read, and again whenever the connection is lost. */
  streamWallet(wallet: WalletAddress, options: WalletStreamOptions = {}): WalletStream {
    const walletKey = walletKeyOf(wallet);
    const history = paths.listWalletWrites({ walletKey });
    return new WalletStream(this.#http, paths.streamWallet({ walletKey }), history, options);
  }

  /**
   * Every entry of a ledger as it is recorded, in order of sequence. Connects when it is first read, and again whenever the
   * connection is lost. With `since`, first what follows that sequence; without it, from the next entry on.
   */
  followEntries(ledgerId: string, options: EntryStreamOptions = {}): EntryStream {
    const list = paths.listEntries({ ledgerId });
    return new EntryStream(this.#http, paths.followEntries({ ledgerId }), list, options);
  }

  /**
   * Sends any signed request once, and resolves with the answer, whatever its status. `target` is the path with its query,
   * percent-encoded. Rejects with ServiceUnreachable.
   */
  async request(method: string, target: string, body?: string | Uint8Array): Promise<HttpReply> {
    return this.#http.sendOnce({ method, target, ...(body === undefined ? {} : { body }) });
  }

  /** Closes the connections once the requests under way are answered. Streams are closed by themselves. */
  async close(): Promise<void> {
    await this.#http.close();
  }

  async #get<Reply>(target: string): Promise<Reply> {
    return this.#call("GET", target);
  }

  async #getText(target: string): Promise<string> {
    const { reply } = await this.#http.send({ method: "GET", target });
    return reply.text;
  }

  /** Resolves with the reply to a request that does no harm when it is sent twice. */
  async #call<Reply>(method: string, target: string, body?: object): Promise<Reply> {
    return (await this.#send<Reply>(method, target, body)).value;
  }

  async #send<Reply>(method: string, target: string, body?: object): Promise<Sent<Reply>> {
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const { reply, wasRepeated } = await this.#http.send({ method, target, ...content });
    return { value: parseReply(reply) as Reply, wasRepeated };
  }

  async #writeWallet<Reply extends wire.WalletResult>(
    target: string,
    movement: wire.MovementInput,
  ): Promise<Reply> {
    const { value, wasRepeated } = await this.#send<Reply>("POST", target, withKey(movement));
    return wasRepeated && isUnkeyed(movement) ? asAccepted(value) : value;
  }

  async #transfer(
    ledgerId: string,
    transfers: readonly wire.TransferInput[],
    more: { readonly atomic?: true },
  ): Promise<wire.TransfersResult> {
    const body = { transfers: transfers.map(withKey), ...more };
    const target = paths.transferFunds({ ledgerId });
    const sent = await this.#send<wire.TransfersResult>("POST", target, body);
    return { results: resultsOf(sent, transfers) };
  }

  async #write(
    ledgerId: string,
    target: string,
    body: wire.EntryInput | wire.ReversalInput,
    isOurs: (stored: wire.Entry) => boolean,
  ): Promise<wire.EntryReceipt> {
    try {
      return await this.#call<wire.EntryReceipt>("POST", target, body);
    } catch (error) {
      // A duplicate of an attempt of ours whose answer was lost is that answer.
      const first = error instanceof ServiceProblem && error.wasRepeated ? error.problem : {};
      if (first.code !== "DUPLICATE_ENTRY" || first.journalId === undefined) throw error;
      const stored = await this.getEntry(ledgerId, first.journalId);
      if (!isOurs(stored)) throw error;
      return receiptOf(stored);
    }
  }
}

/** The reply to a request, and whether an earlier attempt's answer was lost. */
interface Sent<Reply> {
  readonly value: Reply;
  readonly wasRepeated: boolean;
}

function receiptOf({ journalId, persistedAt }: wire.Entry): wire.EntryReceipt {
  return { journalId, persistedAt };
}

/** Whether the externalId of a write was made up here: a duplicate of it can only be an attempt of ours. */
function isUnkeyed(write: Pick<wire.MovementInput, "externalId"> | undefined): boolean {
  return write !== undefined && (write.externalId ?? null) === null;
}

/** The lost answer to an earlier attempt of ours, made from that to its duplicate. */
function asAccepted<Result extends { readonly status: string | number }>(result: Result): Result {
  return result.status === "duplicate" ? { ...result, status: "accepted" } : result;
}

/** What became of each of several writes, of which `sent` is the reply. */
function resultsOf<Result extends { readonly status: string | number }>(
  { value, wasRepeated }: Sent<{ readonly results: readonly Result[] }>,
  writes: readonly Pick<wire.MovementInput, "externalId">[],
): Result[] {
  return value.results.map((result, index) =>
    wasRepeated && isUnkeyed(writes[index]) ? asAccepted(result) : result,
  );
}

/** A write with an externalId, made up where it has none. */
function withKey<Write extends Pick<wire.MovementInput, "externalId">>(write: Write) {
  return { ...write, externalId: write.externalId ?? randomUUID() };
}

type KeyedEntry = wire.EntryInput & { readonly externalId: string };

/** An entry as JSON has it, without members that are undefined, and with an externalId, made up where it has none. */
function withExternalId(entry: wire.EntryInput): KeyedEntry {
  return JSON.parse(JSON.stringify(withKey(entry))) as KeyedEntry;
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
