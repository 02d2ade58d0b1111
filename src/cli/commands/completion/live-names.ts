// Names that the service knows, for completion: what can't be had quickly is left out, and nothing is said of it.
import { LedgerClient } from "../../../client/ledger-client.ts";
import { findNamedLedger } from "../../connection/named-ledger.ts";
import type { Connection } from "../../connection/settings.ts";
import type { LiveName } from "./values.ts";

export interface Candidate {
  readonly value: string;
  readonly description?: string | undefined;
}

/** Nobody who presses Tab waits longer. */
const timeoutMs = 1_000;
const closesMax = 100;
const walletsMax = 100;
const monthsMax = 13;

/** `typed`: of the name, so far. Fails where the service does, or takes too long. */
export async function listLiveNames(
  name: LiveName,
  source: Connection,
  typed: string,
): Promise<Candidate[]> {
  const { ledger, ...connection } = source;
  const signal = AbortSignal.timeout(timeoutMs);
  const client = new LedgerClient({ ...connection, timeoutMs, retryForMs: 0, signal });
  try {
    if (name === "ledger") return await listLedgers(client);
    const ledgerId = await findNamedLedger(client, ledger);
    return await ofLedger[name](client, ledgerId(), typed);
  } finally {
    await client.close();
  }
}

type List = (client: LedgerClient, ledgerId: string, typed: string) => Promise<Candidate[]>;

const ofLedger: Readonly<Record<Exclude<LiveName, "ledger">, List>> = {
  account: (client, ledgerId) => listAccounts(client, ledgerId, ""),
  line: (client, ledgerId) => listAccounts(client, ledgerId, ":"),
  "closed period": listClosed,
  "open period": async (client, ledgerId) => openMonths(await listClosed(client, ledgerId)),
  period: async (client, ledgerId) => {
    const closed = await listClosed(client, ledgerId);
    return [...closed, ...openMonths(closed)];
  },
  wallet: listWallets,
};

async function listLedgers(client: LedgerClient): Promise<Candidate[]> {
  const ledgers = await client.listLedgers();
  return ledgers.map(({ id, name }) => ({ value: id, description: name }));
}

async function listAccounts(
  client: LedgerClient,
  ledgerId: string,
  suffix: string,
): Promise<Candidate[]> {
  const accounts = await client.listAccounts(ledgerId, { activeOnly: true });
  return accounts.map(({ glAccountCode, name }) => ({
    value: glAccountCode + suffix,
    description: name,
  }));
}

async function listClosed(client: LedgerClient, ledgerId: string): Promise<Candidate[]> {
  const { closes } = await client.listCloses(ledgerId, { limit: closesMax });
  return closes.map(({ periodId, closedAt }) => ({
    value: periodId,
    description: `closed on ${closedAt.slice(0, 10)}`,
  }));
}

/** The months up to this one that are not closed, the oldest first. */
function openMonths(closes: readonly Candidate[]): Candidate[] {
  const closed = new Set(closes.map(({ value }) => value));
  const now = new Date();
  const months = Array.from({ length: monthsMax }, (_, back) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back)).toISOString().slice(0, 7),
  );
  return months
    .filter((month) => !closed.has(month))
    .reverse()
    .map((value) => ({ value, description: "not closed" }));
}

/** Those that begin with what is typed: there may be very many. */
async function listWallets(
  client: LedgerClient,
  ledgerId: string,
  typed: string,
): Promise<Candidate[]> {
  const { wallets } = await client.listWallets(ledgerId, {
    ...(typed === "" ? {} : { prefix: typed }),
    limit: walletsMax,
  });
  return wallets.map(({ callerKey, assetCode }) => ({ value: callerKey, description: assetCode }));
}
