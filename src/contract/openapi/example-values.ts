// Values that examples are made from: of members and parameters by their names, and of routes where more than one
// member has to agree. Ids, hashes and times are as the service makes them.
import type { Json } from "./named-schemas.ts";

const ledgerId = "01a1f91e-6efc-74d1-972e-e3431de388e3";
const journalId = "01a1f91f-48bb-7221-ae70-e0e08c5f8dc9";
const reversalId = "01a1f929-f70b-7642-a31d-ba3688c8fc81";
const closeId = "01a1fe5f-cc0e-70d9-a08d-1eca49761e90";
const holdId = "01a1fe61-0b1f-7a52-8d0c-5f1e7f0f6a11";
const persistedAt = "2026-03-15T09:30:02.450Z";
const origin = `ledger.example.com/${ledgerId}/journal`;
const verifierKey = `${origin}+bd2f8b3c+AdNnNQJrQ6cQ1rU0kRkWT2vkNQ4r0o8a9bV8c1mC8u3K`;
const merkleRoot = "c5e94610fc405ca7965cafd5a524cffd32727554c6c0d8d1002ac3083cfea0eb";
const issuedAt = "2026-03-15T09:31:00.000Z";

const deliveryId = "01a20ddf-3221-70f9-8b12-2822d5f4abc7";
const delivery = {
  id: deliveryId,
  url: "https://books.example.com/ledger",
  events: ["entry", "close"],
  status: "active",
  pauseReason: null,
  cursor: "1017.3",
  lag: 0,
  walletCursor: null,
  walletLag: null,
  failingSince: null,
  failure: null,
  createdAt: "2026-03-01T08:00:00.000Z",
  secret: null,
};

const line = (glAccountCode: string, amount: string) => ({
  glAccountCode,
  description: null,
  transactionAmount: amount,
  transactionCurrency: "USD",
  functionalAmount: amount,
  functionalCurrency: "USD",
  spotRate: null,
});

const ledger = {
  id: ledgerId,
  name: "Main",
  status: "active",
  createdAt: "2026-01-02T08:00:00.000Z",
  metadata: {},
  functionalCurrency: "USD",
};

const members: Readonly<Record<string, unknown>> = {
  account: "1000",
  accounts: [{ glAccountCode: "1000", name: "Cash", active: true, type: "asset" }],
  active: true,
  activeOnly: "true",
  amount: "2500",
  amounts: ["12500"],
  asOf: "2026-04-01T00:00:00Z",
  assetCode: "USD",
  assetsWithoutRate: [],
  unknownCurrencies: [],
  at: persistedAt,
  atomic: true,
  auditPath: ["3afea35397ab7ef049f98921cd2a3491e905e51225510a7f40e0a0793931b5af"],
  available: "10000",
  balance: "12500",
  balanced: true,
  balancesRoot: "3afea35397ab7ef049f98921cd2a3491e905e51225510a7f40e0a0793931b5af",
  callerKey: "alice",
  checkpoint: null,
  clearingAccount: "wallets-clearing:USD",
  closeHash: "1dda2b5332016ba3bbb610e093ce0bd90d6820eb749a219b7187588040138a6f",
  closeId,
  closedAt: "2026-04-02T08:00:00.000Z",
  closesToDate: false,
  closing: "12500",
  code: "PERIOD_CLOSED",
  columns: [{ from: "2026-03-01T00:00:00.000Z", to: "2026-04-01T00:00:00.000Z" }],
  cosigned: "true",
  counterAccounts: ["4000"],
  cosigners: [],
  createdAt: "2026-01-02T08:00:00.000Z",
  credits: "0",
  currency: "USD",
  debits: "12500",
  deliveries: [delivery],
  deliveryId,
  description: "Invoice 42",
  detail: "2026-03 is closed",
  earlierOpen: [],
  endsAt: "2026-04-01T00:00:00.000Z",
  endsInFuture: false,
  entryCount: 1,
  entryId: journalId,
  entryType: "STANDARD",
  error: "the wallet has 100 available",
  exponent: 2,
  externalId: "invoice-2026-0042",
  from: "2026-03-01T00:00:00Z",
  functionalAmount: "12500",
  functionalCurrency: "USD",
  glAccountCode: "1000",
  halted: null,
  hasMore: false,
  hashes: ["xelGEPxAXKeWXK/VpSTP/TJydVTGwNjRACrDCDz+oOs="],
  dailyDebitMax: null,
  held: "2500",
  holdId,
  id: ledgerId,
  instance: "urn:request:01a1f91f-523c-7018-85ed-598dd2b57040",
  isInPeriod: true,
  issuedAt,
  journalId,
  lastSequence: 1,
  leafIndex: 0,
  ledgerId,
  limit: 50,
  lines: [line("1100", "12500"), line("4000", "-12500")],
  log: "journal",
  merkleAlgorithm: "rfc6962-sha256-jcs-v1",
  merkleRoot,
  metadata: { customer: "C-17" },
  moved: [],
  ledgers: [ledger],
  name: "Cash",
  number: 1,
  offset: 0,
  opening: "0",
  origin,
  origins: [{ origin, verifierKey }],
  maxBalance: null,
  overdraftLimit: "0",
  prefix: "al",
  pendingPostings: [],
  periodId: "2026-03",
  persistedAt,
  previewedAt: persistedAt,
  rate: "1",
  reason: "month-end",
  rootHash: merkleRoot,
  sequence: 1,
  since: 17,
  size: 1,
  startsAt: "2026-03-01T00:00:00.000Z",
  title: "Period closed",
  to: "2026-04-01T00:00:00Z",
  total: 1,
  totals: { opening: "0", debits: "12500", credits: "-12500", closing: "0" },
  transactionAmount: "12500",
  transactionCurrency: "USD",
  transactionDate: "2026-03-15T09:30:00.000Z",
  treeSize: 1,
  type: "urn:ledgerctl:problem:period-closed",
  verifierKey,
  walletKey: `${ledgerId}:alice`,
  walletsAccount: "wallets:USD",
  witnessLines: [],
  witnesses: [],
  nextCursor: null,
  result: ["0"],
  // What is null until something happens.
  close: null,
  previousCloseHash: null,
  reversedByJournalId: null,
  reversesJournalId: null,
  eventType: null,
  originAccount: null,
  originSystem: null,
};

/** Where members by one name are of different types. */
const otherMembers: Readonly<Record<string, unknown>> = {
  balance: 12_500,
  metadata: '{"order":"17"}',
  totals: ["12500"],
};

/** What a member may have in an example: the first that its schema allows. */
export const memberExamples: Readonly<Record<string, readonly unknown[]>> = Object.fromEntries(
  Object.entries(members).map(([name, value]) => [
    name,
    name in otherMembers ? [value, otherMembers[name]] : [value],
  ]),
);

interface RouteExample {
  readonly query?: Json;
  readonly body?: unknown;
  readonly reply?: unknown;
  /** Of a reply that is a text. */
  readonly text?: string;
}

const sale = (externalId: string, amount: string) => ({
  externalId,
  lines: [
    { glAccountCode: "1100", functionalAmount: amount },
    { glAccountCode: "4000", functionalAmount: `-${amount}` },
  ],
});

const signature = `— ${origin} vS+LPKx8…\n`;
const checkpoint = `${origin}\n1\nxelGEPxAXKeWXK/VpSTP/TJydVTGwNjRACrDCDz+oOs=\n\n${signature}`;

/** What the members by themselves would not tell. */
export const routeExamples: Readonly<Partial<Record<string, RouteExample>>> = {
  getLedger: { reply: ledger },
  postEntry: {
    body: {
      ...sale("invoice-2026-0042", "12500"),
      description: "Invoice 42",
      transactionDate: "2026-03-15T09:30:00Z",
      metadata: { customer: "C-17" },
    },
  },
  postEntries: {
    body: { entries: [sale("order-17", "12500"), sale("order-18", "700")] },
    reply: {
      results: [
        { journalId, persistedAt, status: 201 },
        { journalId: "01a1f91f-48bb-7221-ae70-e0e08c5f8dca", persistedAt, status: 201 },
      ],
    },
  },
  listEntries: { query: { limit: 2, after: 0 } },
  reverseEntry: {
    body: { externalId: "invoice-2026-0042-cancelled", reason: "cancelled" },
    reply: { journalId: reversalId, persistedAt },
  },
  importAccounts: {
    body: { accounts: [{ glAccountCode: "1000", name: "Cash", type: "asset" }] },
  },
  // Of the ledger's own currency, which takes no rate.
  setAssetRule: { body: { overdraftLimit: "0", dailyDebitMax: "none" } },
  createDelivery: {
    body: { url: delivery.url, events: delivery.events },
    reply: { ...delivery, secret: "ds_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8" },
  },
  deleteDelivery: { reply: delivery },
  pauseDelivery: { reply: { ...delivery, status: "paused", pauseReason: "asked" } },
  resumeDelivery: { reply: delivery },
  replayDelivery: { body: { since: "0.0" }, reply: { ...delivery, cursor: "0.0", lag: 1017 } },
  getRegister: { query: { periodId: "2026-03" } },
  getBalanceSheet: { query: { periodId: "2026-03" } },
  getIncomeStatement: { query: { periodId: "2026-03" } },
  getTrialBalance: { query: { periodId: "2026-03" } },
  closePeriod: { body: { periodId: "2026-03", reason: "month-end" } },
  getCheckpoint: { text: checkpoint },
  getConsistency: {
    query: { from: 1, to: 2 },
    reply: { from: 1, to: 2, hashes: ["xelGEPxAXKeWXK/VpSTP/TJydVTGwNjRACrDCDz+oOs="] },
  },
  getLogProof: {
    query: { entryId: journalId },
    text: `c2sp.org/tlog-proof@v1\nextra eyJkZXNjcmlwdGlvbiI6…\nindex 0\n\n${checkpoint}`,
  },
  getBundle: {
    text:
      '{"kind":"close","format":"ledgerctl-bundle-v1","close":{…}}\n{"kind":"account","account":{…}}\n' +
      '{"kind":"entry","entry":{…}}\n{"kind":"trailer","accounts":1,"entries":1}\n',
  },
  debitWallet: { body: { amount: "700", assetCode: "USD", externalId: "order-17" } },
  commitHold: { body: { amount: "2000" } },
  releaseHold: { body: {} },
  listWallets: {
    query: { prefix: "al", assetCode: "USD" },
    reply: {
      wallets: [
        {
          ...{ callerKey: "alice", assetCode: "USD", balance: "12500", available: "10000" },
          ...{ held: "2500", seq: 3, createdAt: persistedAt, updatedAt: persistedAt },
        },
      ],
      nextCursor: null,
    },
  },
  transferFunds: {
    body: {
      transfers: [
        { from: "alice", to: "bob", amount: "500", assetCode: "USD", externalId: "rent" },
      ],
    },
    reply: {
      results: [
        {
          ...{ status: "accepted", transferId: journalId },
          from: { balance: "12000", available: "9500" },
          to: { balance: "500", available: "500" },
        },
      ],
    },
  },
  writeWallets: {
    body: {
      writes: [
        { callerKey: "alice", type: "credit", amount: "2500", assetCode: "USD", externalId: "p-1" },
        { callerKey: "bob", type: "debit", amount: "700", assetCode: "USD", externalId: "p-2" },
      ],
    },
    reply: {
      results: [
        { status: "accepted", balance: "12500", available: "10000" },
        { status: 422, error: "the wallet has 100 available" },
      ],
    },
  },
};
