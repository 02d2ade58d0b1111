// Verifying `bench wallets` and `bench transfers`: each wallet's log is replayed and held against what was acknowledged, its
// balance, and the account that writes are posted to.
import { setTimeout as sleep } from "node:timers/promises";
import type { LedgerClient, WalletAddress, WalletLogEntry } from "../../../client/ledger-client.ts";
import { pages, type Range } from "../../connection/pages.ts";
import type { Bench } from "./open-bench.ts";
import { movementBetween, readPosition, type Position } from "./position.ts";
import { eachConcurrently } from "./concurrently.ts";
import { Findings, type Check } from "./findings.ts";
import type { OutcomeLog } from "./outcome-log.ts";
import {
  callerKeyOf,
  fundingAmount,
  fundingIdOf,
  type SentWrites,
  type WalletRun,
} from "./wallet-writes.ts";
import type { Verdict } from "./workload.ts";

const readsAtOnce = 8;
/** Of more wallets than that, those are read that were written to. */
const allReadMax = 100_000;
/** How long writes may wait to be posted; the interval is a second unless the server was told otherwise. */
const postingMsMax = 60_000;
const postingPollMs = 250;

export interface WalletsToVerify {
  readonly client: LedgerClient;
  readonly progress: Bench["progress"];
  readonly walletRun: WalletRun;
  /** The account that credits of the asset are posted to. */
  readonly account: string;
  readonly before: Position;
  readonly sent: SentWrites;
}

export async function verifyWallets(of: WalletsToVerify, outcomes: OutcomeLog): Promise<Verdict> {
  const logs = new WalletLogs(of, outcomes);
  const wallets = walletsToRead(of, outcomes.last);
  of.progress.tell(
    () => `verifying: ${logs.walletsRead} of ${wallets.length} wallets, ${logs.writes} writes read`,
  );
  await eachConcurrently(wallets.length, readsAtOnce, (index) => logs.replay(wallets[index] ?? 0));
  const unread = of.walletRun.walletCount - wallets.length;
  logs.assumeUntouched(unread);
  const lost = new Findings(outcomes.differences("write"));
  const account = await checkAccount(of, logs);
  return {
    checks: [
      lost.check("every acknowledged write is there once", outcomes.acknowledged),
      logs.faults.check("logs have no gaps and give the balances", wallets.length),
      logs.unposted.check("every write was posted", logs.writes),
      ...(account === null ? [] : [account]),
    ],
    notChecked: [
      ...(account === null
        ? [`account ${of.account}: others write to wallets of this ledger at the same time`]
        : []),
      ...(unread > 0 ? [`the logs of ${unread} wallets that nothing was sent to`] : []),
    ],
  };
}

/** All of them, or of very many those that writes 1 to `lastWrite` were sent to. */
function walletsToRead({ walletRun, sent }: WalletsToVerify, lastWrite: number): readonly number[] {
  const { walletCount } = walletRun;
  if (walletCount <= allReadMax) return Array.from({ length: walletCount }, (_, wallet) => wallet);
  const written = new Set<number>();
  for (let number = 1; number <= lastWrite; number += 1) {
    for (const wallet of sent.walletsOf(number)) written.add(wallet);
  }
  return [...written];
}

/** The account has to have moved by what the logs say; null where it moved for others too. */
async function checkAccount(of: WalletsToVerify, logs: WalletLogs): Promise<Check | null> {
  const { client, walletRun, account, before } = of;
  const after = await readPosition(client, walletRun.ledgerId, [account]);
  const moved = movementBetween(before, after, account);
  if (moved === null) return null;
  const posted = await countPostedWrites(of, after.lastSequence);
  if (posted > logs.writes) return null;
  const findings = new Findings();
  if (posted < logs.writes) {
    findings.add(`${logs.writes} writes are in the logs, postings hold ${posted}`);
  }
  if (moved !== -logs.sum) {
    findings.add(`account ${account} moved by ${moved}, the logs sum to ${logs.sum}`);
  }
  return findings.check(`account ${account} moved by minus what wallets took`, 1);
}

/** How many wallet writes the postings to the account hold that were made since the start. */
async function countPostedWrites(of: WalletsToVerify, lastSequence: number): Promise<number> {
  const { client, walletRun, account, before } = of;
  const listed = pages(
    (range) => client.listEntries(walletRun.ledgerId, { ...range, glAccountCode: account }),
    ({ entries }) => entries.map(({ sequence }) => sequence),
    { after: before.lastSequence, limit: Infinity },
  );
  let count = 0;
  for await (const { entries } of listed) {
    for (const { sequence, metadata, eventType } of entries) {
      const { writes } = metadata;
      if (sequence > lastSequence) return count;
      // An entry that a client posted to the account spoils the sum as others' writes do.
      count += eventType === "WALLET_BATCH" && typeof writes === "number" ? writes : Infinity;
    }
  }
  return count;
}

class WalletLogs {
  readonly faults = new Findings();
  readonly unposted = new Findings();
  /** Of all wallets: what went in less what went out. */
  sum = 0n;
  /** Those that are posted: transfers between wallets are not. */
  writes = 0;
  walletsRead = 0;
  readonly #of: WalletsToVerify;
  readonly #outcomes: OutcomeLog;
  readonly #untilMs = performance.now() + postingMsMax;

  constructor(of: WalletsToVerify, outcomes: OutcomeLog) {
    this.#of = of;
    this.#outcomes = outcomes;
  }

  /** Counts wallets that are not read with what they were funded with; the account tells whether that is so. */
  assumeUntouched(count: number): void {
    this.sum += BigInt(count) * fundingAmount;
    this.writes += count;
  }

  async replay(wallet: number): Promise<void> {
    const { client, walletRun } = this.#of;
    const address = { ledgerId: walletRun.ledgerId, callerKey: callerKeyOf(walletRun, wallet) };
    const listed = pages(
      (range) => this.#readPosted(address, range),
      ({ writes }) => writes.map(({ seq }) => seq),
    );
    let seq = 0;
    let balance = 0n;
    for await (const { writes } of listed) {
      for (const write of writes) {
        seq += 1;
        balance += this.#take(wallet, write, seq);
        if (write.balance !== balance.toString()) {
          this.#fault(wallet, `says ${write.balance} at seq ${write.seq}, replayed ${balance}`);
        }
      }
    }
    const stored = await client.getWalletBalance(address);
    if (stored.balance !== balance.toString()) {
      this.#fault(wallet, `has a balance of ${stored.balance}, its log gives ${balance}`);
    }
    this.walletsRead += 1;
  }

  /** A page of a log, once all of it has been posted or there was time enough for that. */
  async #readPosted(wallet: WalletAddress, range: Range) {
    for (;;) {
      const page = await this.#of.client.listWalletWrites(wallet, range);
      const isPosted = page.writes.every((row) => row.journalId !== null || isTransfer(row));
      if (isPosted || performance.now() > this.#untilMs) return page;
      await sleep(postingPollMs);
    }
  }

  /** Takes in a row of a log and gives what it adds to the balance. */
  #take(wallet: number, write: WalletLogEntry, seq: number): bigint {
    const { walletRun, sent } = this.#of;
    if (write.seq !== seq) this.#fault(wallet, `has seq ${write.seq} where ${seq} is due`);
    const amount = isOut(write) ? -BigInt(write.amount) : BigInt(write.amount);
    if (write.externalId === fundingIdOf(walletRun)) {
      if (seq !== 1 || amount !== fundingAmount) this.#fault(wallet, "was funded otherwise");
    } else {
      const fault = sent.see(wallet, write, this.#outcomes);
      if (fault !== null) this.#fault(wallet, fault);
    }
    this.sum += amount;
    if (isTransfer(write)) return amount;
    this.writes += 1;
    if (write.journalId === null) {
      this.unposted.add(`seq ${write.seq} of ${callerKeyOf(walletRun, wallet)} was not posted`);
    }
    return amount;
  }

  #fault(wallet: number, text: string): void {
    this.faults.add(`${callerKeyOf(this.#of.walletRun, wallet)} ${text}`);
  }
}

function isTransfer({ type }: WalletLogEntry): boolean {
  return type === "transfer-out" || type === "transfer-in";
}

function isOut({ type }: WalletLogEntry): boolean {
  return type === "debit" || type === "transfer-out";
}
