// What operators do on the database itself: organizations, keys, ledgers, charts of accounts.
import { randomBytes } from "node:crypto";
import type { ChartRow } from "./accounts.ts";
import { newId } from "./new-id.ts";
import { walletAccounts, type Account, type Scope } from "../core/ledger.ts";
import { apiKeyFromRandom, deriveApiSecret, masterKeyFingerprint } from "../core/signing.ts";
import type { Timestamp } from "../core/time.ts";
import { upsertAccounts } from "../store/accounts.ts";
import { insertApiKey } from "../store/api-keys.ts";
import { findLedger, insertLedger, type LedgerRecord } from "../store/ledgers.ts";
import { findOrganization, insertOrganization, type Organization } from "../store/organizations.ts";
import type { Connection } from "../store/database/connection.ts";

export async function createOrganization(
  connection: Connection,
  name: string,
  createdAt: Timestamp,
): Promise<Organization> {
  const organization = { organizationId: newId(), name, createdAt };
  await insertOrganization(connection, organization);
  return organization;
}

/** Makes a key and its secret, which is shown here and never again; null when there is no such organization. */
export async function createApiKey(
  connection: Connection,
  key: {
    organizationId: string;
    /** What it is for; null unless given. */
    name?: string | null;
    scopes: readonly Scope[];
    masterKey: Buffer;
    createdAt: Timestamp;
    expiresAt: Timestamp | null;
  },
): Promise<{ apiKey: string; apiSecret: string } | null> {
  const { masterKey, ...record } = key;
  if ((await findOrganization(connection, key.organizationId)) === null) return null;
  const apiKey = apiKeyFromRandom(randomBytes(16));
  await insertApiKey(connection, {
    ...record,
    name: key.name ?? null,
    apiKey,
    masterKeyFingerprint: masterKeyFingerprint(masterKey),
  });
  return { apiKey, apiSecret: deriveApiSecret(masterKey, apiKey) };
}

/**
 * Makes a ledger with its chart of accounts and the pair of accounts for wallets in its functional
 * currency (those that the chart has already are used); null when there is no such organization.
 */
export async function createLedger(
  connection: Connection,
  ledger: {
    organizationId: string;
    name: string;
    functionalCurrency: string;
    chart: readonly ChartRow[];
    /** Whether its periods are closed in order; false unless given. */
    closesInOrder?: boolean;
    createdAt: Timestamp;
  },
): Promise<LedgerRecord | null> {
  const { chart, closesInOrder = false, ...identity } = ledger;
  if ((await findOrganization(connection, ledger.organizationId)) === null) return null;
  const ledgerId = newId();
  const pair = Object.values(walletAccounts(ledger.functionalCurrency));
  const codes = new Set(chart.map(({ glAccountCode }) => glAccountCode));
  const missing = pair.filter((row) => !codes.has(row.glAccountCode));
  await connection.transaction(async (transaction) => {
    await insertLedger(transaction, { ...identity, closesInOrder, ledgerId });
    await upsertAccounts(transaction, ledgerId, [...chart, ...missing], ledger.createdAt);
  });
  return findLedger(connection, ledgerId);
}

/** The chart that a first ledger starts with. */
export const starterChart: readonly Account[] = [
  { glAccountCode: "1000", name: "Cash", type: "asset", active: true },
  { glAccountCode: "1100", name: "Accounts receivable", type: "asset", active: true },
  { glAccountCode: "2000", name: "Accounts payable", type: "liability", active: true },
  { glAccountCode: "3000", name: "Equity", type: "equity", active: true },
  { glAccountCode: "4000", name: "Revenue", type: "income", active: true },
  { glAccountCode: "5000", name: "Expenses", type: "expense", active: true },
];
