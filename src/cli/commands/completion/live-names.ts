// Names that the service knows, for completion: what can't be had quickly is left out, and nothing is said of it.
import { LedgerClient, type Entry } from "../../../client/ledger-client.ts";
import type { Connection } from "../../connection/settings.ts";
import type { LiveName } from "./values.ts";

export interface Candidate {
  readonly value: string;
  readonly description?: string | undefined;
}

/** Nobody who presses Tab waits longer. */
const timeoutMs = 1_000;
const closesMax = 100;
/** How far back postings are looked through for wallets. */
const entriesMax = 100;
const postingsMax = 5;
const monthsMax = 13;

/** Fails where the service does, or takes too long. */
export async function listLiveNames(name: LiveName, source: Connection): Promise<Candidate[]> {
  const { ledger: ledgerId, ...connection } = source;
  const signal = AbortSignal.timeout(timeoutMs);
  const client = new LedgerClient({ ...connection, timeoutMs, retryForMs: 0, signal });
  try {
    if (name === "ledger") return await listLedgers(client);
    return ledgerId === null ? [] : await ofLedger[name](client, ledgerId);
  } finally {
    await client.close();
  }
}

type List = (client: LedgerClient, ledgerId: string) => Promise<Candidate[]>;

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

/** The service has no list of wallets; those that moved of late are in what was posted of late. */
async function listWallets(client: LedgerClient, ledgerId: string): Promise<Candidate[]> {
  const { total } = await client.listEntries(ledgerId, { limit: 1 });
  const after = Math.max(0, total - entriesMax);
  const { entries } = await client.listEntries(ledgerId, { after, limit: entriesMax });
  const postings = entries.filter(isPosting).slice(-postingsMax);
  const pages = await Promise.all(
    postings.map(({ journalId }) => client.listPostedWrites(ledgerId, journalId, { limit: 100 })),
  );
  const keys = new Set(pages.flatMap(({ writes }) => writes.map(({ callerKey }) => callerKey)));
  return [...keys].sort().map((value) => ({ value }));
}

function isPosting({ originSystem, eventType }: Entry): boolean {
  return originSystem === "ledgerctl" && eventType === "WALLET_BATCH";
}
