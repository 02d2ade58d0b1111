// Ledgers, their states and their accounts.

export const ledgerStatuses = ["active", "suspended", "closed"] as const;
export type LedgerStatus = (typeof ledgerStatuses)[number];

/** What never changes about a ledger. */
export interface LedgerIdentity {
  readonly ledgerId: string;
  readonly organizationId: string;
  readonly functionalCurrency: string;
}

export const accountTypes = ["asset", "liability", "equity", "income", "expense"] as const;
export type AccountType = (typeof accountTypes)[number];

export interface Account {
  readonly glAccountCode: string;
  readonly name: string;
  readonly type: AccountType | null;
  readonly active: boolean;
}

/** The pair of accounts through which wallets of an asset are posted. */
export function walletAccounts(assetCode: string): { wallets: Account; clearing: Account } {
  const account = (prefix: string, name: string, type: AccountType): Account => ({
    glAccountCode: `${prefix}:${assetCode}`,
    name: `${name} ${assetCode}`,
    type,
    active: true,
  });
  return {
    wallets: account("wallets", "Wallets", "liability"),
    clearing: account("wallets-clearing", "Wallets clearing", "asset"),
  };
}

/** What a key has that was made without naming scopes. */
export const defaultScopes = ["read", "wallets:write", "entries:write", "periods:close"] as const;
export const scopes = [...defaultScopes, "admin"] as const;
export type Scope = (typeof scopes)[number];
