// The books of a database, and what an operator does to them.
import type { ChartRow } from "../../src/engine/accounts.ts";
import { defaultScopes, type LedgerStatus, type Scope } from "../../src/core/ledger.ts";
import type { Timestamp } from "../../src/core/time.ts";
import { createApiKey, createLedger, createOrganization } from "../../src/engine/administration.ts";
import { changeLedgerStatus } from "../../src/engine/ledger-state.ts";
import { Pool } from "../../src/store/database/pool.ts";
import type { Credentials } from "./signed-request.ts";

/** Accounts of every ledger made here; 9000 is inactive. */
const chart = ["1000", "1100", "2000", "4000", "9000"].map((glAccountCode) => ({
  glAccountCode,
  name: `Account ${glAccountCode}`,
  type: null,
  active: glAccountCode !== "9000",
}));

export interface OpenBooks {
  readonly databaseUrl: string;
  readonly pool: Pool;
  readonly masterKey: Buffer;
  readonly organizationId: string;
  createOrganization(): Promise<string>;
  createKey(options?: {
    organizationId?: string;
    scopes?: readonly Scope[];
    expiresAt?: string;
    masterKey?: Buffer;
  }): Promise<Credentials>;
  createLedger(options?: {
    organizationId?: string;
    currency?: string;
    chart?: readonly ChartRow[];
    closesInOrder?: boolean;
  }): Promise<string>;
  changeStatus(ledgerId: string, status: LedgerStatus): Promise<void>;
}

/** With an organization of their own, unless there is one. */
export async function openBooks(
  databaseUrl: string,
  masterKey: Buffer,
  existingId?: string,
): Promise<OpenBooks> {
  const pool = new Pool({
    databaseUrl,
    connectionsMax: 4,
    lockTimeoutMs: 10_000,
    answerTimeoutMs: 20_000,
  });
  const makeOrganization = async () =>
    (await createOrganization(pool, "Test", now())).organizationId;
  const organizationId = existingId ?? (await makeOrganization());
  return {
    databaseUrl,
    pool,
    masterKey,
    organizationId,
    createOrganization: makeOrganization,
    createKey: async (options = {}) => {
      const { expiresAt, ...given } = options;
      const key = await createApiKey(pool, {
        organizationId,
        scopes: defaultScopes,
        masterKey,
        ...given,
        createdAt: now(),
        expiresAt: (expiresAt ?? null) as Timestamp | null,
      });
      if (key === null) throw new Error("there is no such organization");
      return key;
    },
    createLedger: async (options = {}) => {
      const ledger = await createLedger(pool, {
        organizationId: options.organizationId ?? organizationId,
        name: "Books",
        functionalCurrency: options.currency ?? "USD",
        chart: options.chart ?? chart,
        closesInOrder: options.closesInOrder ?? false,
        createdAt: now(),
      });
      if (ledger === null) throw new Error("there is no such organization");
      return ledger.ledgerId;
    },
    changeStatus: async (ledgerId, status) => {
      const { outcome } = await changeLedgerStatus(pool, ledgerId, status);
      if (outcome !== "done") throw new Error(outcome);
    },
  };
}

function now(): Timestamp {
  return new Date().toISOString() as Timestamp;
}
