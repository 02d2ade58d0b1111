// Checks that the logs of wallets are the ones that were accepted: their chains, and the digests of what is older.
import type { ChainHash } from "../core/wallet.ts";
import { chainEntry, chainStart } from "../core/wallet-chain.ts";
import type { FoundRow } from "../store/audit/journal.ts";
import type { AuditedWallet, AuditedWrite } from "../store/audit/wallets.ts";
import type { AuditLog, CheckLog } from "./audit-log.ts";

/** Takes the rows of one wallet's log in order; `finish` compares. */
export interface LogChain {
  add(write: AuditedWrite): void;
  finish(): void;
}

export class WalletLogCheck {
  readonly #ledgerId: string;
  readonly #areDigested: boolean;
  readonly #auditLog: AuditLog;
  readonly #log: CheckLog;
  /** Wallets with rows that have no digest yet. */
  #waiting = 0;

  /** `areDigested`: all rows that are older than chains have had their digests. */
  constructor(ledgerId: string, areDigested: boolean, auditLog: AuditLog) {
    this.#ledgerId = ledgerId;
    this.#areDigested = areDigested;
    this.#auditLog = auditLog;
    this.#log = auditLog.of("wallet-logs", ledgerId);
  }

  begin(wallet: AuditedWallet): LogChain {
    const { logHash, digest } = wallet;
    // Without a chain, all of the log is older.
    const chainedAfter = logHash === null ? Infinity : (wallet.chainedAfter ?? 0);
    let older: ChainHash | null = null;
    let chain = this.#start(wallet, wallet.chainedAfter ?? 0);
    return {
      add: (write) => {
        if (write.seq > chainedAfter) chain = chainEntry(chain, write, write);
        else older = chainEntry(older ?? this.#start(wallet, 0), write, write);
      },
      finish: () => {
        this.#log.looked(1);
        const find = (what: string) => {
          this.#log.find(`wallet ${JSON.stringify(wallet.callerKey)}`, what);
        };
        if (logHash !== null && logHash !== chain) {
          find(`is chained to ${logHash}, its log comes to ${chain}`);
        }
        if (logHash === null && older === null) find("has neither a log nor a chain");
        if (digest === null && older !== null) {
          this.#waiting += 1;
          if (this.#areDigested) find("has rows that are in no chain and have no digest");
        } else if (digest !== null && older !== digest) {
          find("has another digest than its rows before the chain come to");
        }
      },
    };
  }

  finish(strayDigests: readonly FoundRow[]): void {
    this.#log.findAll(strayDigests);
    if (this.#areDigested || this.#waiting === 0) return;
    const what = `${this.#waiting} have rows older than chains; a running server makes digests of them`;
    this.#auditLog.note(this.#ledgerId, "wallets", what);
  }

  #start({ walletId, callerKey, assetCode }: AuditedWallet, chainedAfter: number): ChainHash {
    return chainStart({ ledgerId: this.#ledgerId, walletId, callerKey, assetCode, chainedAfter });
  }
}
