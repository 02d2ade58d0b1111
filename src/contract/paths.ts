// The paths of the API, from the names of routes. Apart from the table of routes, so that a client
// need not carry the schemas.

type Parameters<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Record<Name, string> & Parameters<Rest>
  : unknown;

const ledger = "/v1/ledgers/{ledgerId}";
const wallet = "/v1/wallets/{walletKey}";

/** Parts in braces are parameters, each a whole segment; `{ledgerId}` is resolved before the handler. */
export const pathTemplates = {
  listLedgers: "/v1/ledgers",
  getLedger: ledger,
  listAccounts: `${ledger}/accounts`,
  importAccounts: `${ledger}/accounts`,
  getRegister: `${ledger}/accounts/{glAccountCode}/register`,
  listAssets: `${ledger}/assets`,
  setAssetRule: `${ledger}/assets/{assetCode}`,
  getBalance: `${ledger}/balances`,
  getTrialBalance: `${ledger}/trial-balance`,
  getBalanceSheet: `${ledger}/statements/balance-sheet`,
  getIncomeStatement: `${ledger}/statements/income-statement`,
  postEntry: `${ledger}/journal-entries`,
  listEntries: `${ledger}/journal-entries`,
  // A router takes what is fixed before a parameter; and no entryId reads so.
  postEntries: `${ledger}/journal-entries/bulk`,
  followEntries: `${ledger}/journal-entries/stream`,
  getEntry: `${ledger}/journal-entries/{entryId}`,
  reverseEntry: `${ledger}/journal-entries/{entryId}/reversal`,
  listPostedWrites: `${ledger}/journal-entries/{entryId}/wallet-writes`,
  closePeriod: `${ledger}/period-closes`,
  listCloses: `${ledger}/period-closes`,
  // A router takes what is fixed before a parameter; and no closeId reads so.
  previewClose: `${ledger}/period-closes/preview`,
  getClose: `${ledger}/period-closes/{closeId}`,
  getProof: `${ledger}/period-closes/{closeId}/proof`,
  getBundle: `${ledger}/period-closes/{closeId}/bundle`,
  getLog: `${ledger}/logs/{log}`,
  getCheckpoint: `${ledger}/logs/{log}/checkpoint`,
  listCheckpoints: `${ledger}/logs/{log}/checkpoints`,
  getConsistency: `${ledger}/logs/{log}/consistency`,
  getLogProof: `${ledger}/logs/{log}/proof`,
  createDelivery: `${ledger}/deliveries`,
  listDeliveries: `${ledger}/deliveries`,
  deleteDelivery: `${ledger}/deliveries/{deliveryId}`,
  pauseDelivery: `${ledger}/deliveries/{deliveryId}/pause`,
  resumeDelivery: `${ledger}/deliveries/{deliveryId}/resume`,
  replayDelivery: `${ledger}/deliveries/{deliveryId}/replay`,
  creditWallet: `${wallet}/credit`,
  debitWallet: `${wallet}/debit`,
  getWalletBalance: `${wallet}/balance`,
  listWalletWrites: `${wallet}/history`,
  streamWallet: `${wallet}/ws`,
  reserveFunds: `${wallet}/reserve`,
  commitHold: `${wallet}/holds/{holdId}/commit`,
  releaseHold: `${wallet}/holds/{holdId}/release`,
  writeWallets: `${ledger}/wallet-writes`,
  transferFunds: `${ledger}/wallet-transfers`,
  listWallets: `${ledger}/wallets`,
  freezeWallet: `${wallet}/freeze`,
  unfreezeWallet: `${wallet}/unfreeze`,
} as const;

export type PathTemplates = typeof pathTemplates;

type PathBuilders = {
  readonly [Name in keyof PathTemplates]: (parameters: Parameters<PathTemplates[Name]>) => string;
};

/** What a caller without types left out is named, not sent as another path. Throws TypeError. */
export function requireText(name: string, value: unknown): string {
  if (typeof value === "string" && value !== "") return value;
  throw new TypeError(`${name} must be a text that is not empty`);
}

/** Functions that fill a route's path with percent-encoded parameters. Throw TypeError where one is missing. */
export const paths = Object.fromEntries(
  Object.entries(pathTemplates).map(([name, template]) => [
    name,
    (parameters: Readonly<Record<string, string>>) =>
      template.replace(/\{(\w+)\}/g, (_, parameter: string) =>
        encodeURIComponent(requireText(parameter, parameters[parameter])),
      ),
  ]),
) as unknown as PathBuilders;
