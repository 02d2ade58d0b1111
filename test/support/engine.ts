// Parts of the engine on a test's books, for what has to happen at a moment that the test chooses.
import { auditLedgers } from "../../src/audit/audit.ts";
import type { CloseRecord } from "../../src/core/close.ts";
import { ClosedPeriods } from "../../src/engine/closed-periods.ts";
import type { CloseRequest } from "../../src/core/period.ts";
import { Closes } from "../../src/engine/closes.ts";
import { setAssetRule, type AssetRuleChange } from "../../src/engine/assets.ts";
import { changeLedgerStatus, type StateChange } from "../../src/engine/ledger-state.ts";
import { Poster } from "../../src/engine/posting.ts";
import { Pool } from "../../src/store/database/pool.ts";
import type { LedgerStatus } from "../../src/core/ledger.ts";
import type { AssetRule } from "../../src/core/asset.ts";

/** An interval so long that services post only when they stop. */
export const neverPosting = { variables: { LEDGERCTL_POST_INTERVAL_MS: "3600000" } };

export interface TestEngine {
  /** Closes a period, as `POST …/period-closes` does. */
  close(ledgerId: string, periodId: string, more?: Partial<CloseRequest>): Promise<CloseRecord>;
  /** Posts what waits in a ledger, now. Throws what a poster of the service would only tell. */
  post(ledgerId: string): Promise<void>;
  setRule(ledgerId: string, assetCode: string, change: AssetRuleChange): Promise<AssetRule>;
  changeStatus(ledgerId: string, status: LedgerStatus): Promise<StateChange>;
  /** The names of the checks that an audit of a ledger finds something in. */
  failingChecks(ledgerId: string): Promise<readonly string[]>;
  end(): Promise<void>;
}

export function openEngine(databaseUrl: string): TestEngine {
  const connections = new Pool({
    databaseUrl,
    connectionsMax: 4,
    lockTimeoutMs: 10_000,
    answerTimeoutMs: 20_000,
  });
  const poster = new Poster(connections, {
    intervalMs: 1,
    onFailure: (error) => {
      throw error;
    },
  });
  const closes = new Closes(connections, new ClosedPeriods());
  return {
    close: (ledgerId, periodId, more) =>
      closes.closePeriod(ledgerId, {
        periodId,
        reason: null,
        startsAt: null,
        endsAt: null,
        ...more,
      }),
    post: (ledgerId) => poster.postLedger(ledgerId),
    setRule: async (ledgerId, assetCode, change) => {
      const made = await setAssetRule(connections, ledgerId, assetCode, change);
      if (made.outcome !== "done") throw new Error(made.outcome);
      return made.rule;
    },
    changeStatus: (ledgerId, status) => changeLedgerStatus(connections, ledgerId, status),
    failingChecks: async (ledgerId) => {
      const report = await connections.twoOfOneSnapshot((reads, beside) =>
        auditLedgers(reads, ledgerId, undefined, beside),
      );
      if (report === null) throw new Error("the ledger is there");
      return report.checks.filter(({ ok }) => !ok).map(({ name }) => name);
    },
    end: () => connections.end(),
  };
}
