// The chart of accounts of a seeded ledger, and the currencies its business deals in.
import { defaultAssetRule, type AssetRule } from "../core/asset.ts";
import { walletAccounts, type Account, type AccountType } from "../core/ledger.ts";

export const functionalCurrency = "USD";

const account = (glAccountCode: string, name: string, type: AccountType): Account => ({
  glAccountCode,
  name,
  type,
  active: true,
});

/** What wallets hold: the ledger's own currency, another one, and points that are no money. */
export const walletAssets: readonly AssetRule[] = [
  defaultAssetRule(functionalCurrency, functionalCurrency),
  { ...defaultAssetRule("EUR", functionalCurrency), rate: "1.085" },
  defaultAssetRule("POINTS", functionalCurrency),
];

/** Every account of the ledger, those of its wallets included. */
export const seedChart: readonly Account[] = [
  account("1000", "Bank USD", "asset"),
  account("1010", "Bank EUR", "asset"),
  account("1020", "Bank GBP", "asset"),
  account("1030", "Bank JPY", "asset"),
  account("1040", "Bank KWD", "asset"),
  account("1100", "Accounts receivable", "asset"),
  account("1500", "Equipment", "asset"),
  account("1510", "Accumulated depreciation", "asset"),
  account("2000", "Accounts payable", "liability"),
  account("2100", "Payroll taxes withheld", "liability"),
  account("2200", "Sales tax payable", "liability"),
  account("3000", "Share capital", "equity"),
  account("4000", "Product sales", "income"),
  account("4100", "Services", "income"),
  account("5000", "Cost of goods", "expense"),
  account("5100", "Rent", "expense"),
  account("5200", "Salaries", "expense"),
  account("5210", "Employer's payroll taxes", "expense"),
  account("5300", "Cloud and software", "expense"),
  account("5400", "Travel", "expense"),
  account("5500", "Bank fees", "expense"),
  account("5600", "Depreciation", "expense"),
  account("7000", "Exchange gains and losses", "income"),
  ...walletAssets.flatMap(({ assetCode }) => Object.values(walletAccounts(assetCode))),
];

/** A currency that customers pay in. */
export interface ForeignCurrency {
  readonly code: string;
  readonly bankAccount: string;
  /** Millionths of a dollar for one major unit, around which its rate moves. */
  readonly rateMicros: number;
  /** Smallest units in a cent's worth, about: what amounts are made from. */
  readonly unitsPerCent: number;
}

export const euro = { code: "EUR", bankAccount: "1010", rateMicros: 1_085_000, unitsPerCent: 1 };

/** With two, none and three decimals. */
export const foreignCurrencies: readonly ForeignCurrency[] = [
  euro,
  { code: "GBP", bankAccount: "1020", rateMicros: 1_270_000, unitsPerCent: 1 },
  { code: "JPY", bankAccount: "1030", rateMicros: 6_550, unitsPerCent: 1.5 },
  { code: "KWD", bankAccount: "1040", rateMicros: 3_250_000, unitsPerCent: 3 },
];

export const customers: readonly string[] = [
  "Abernathy & Sons",
  "Blue Harbor Foods",
  "Café Zoë",
  "Delgado Hnos.",
  'Eastgate "Express" Ltd',
  "Fjällräven Handel AB",
  "Grüner Markt GmbH",
  "Håkonsen, Lie; Partnere",
  "Ibarra Textiles",
  "Jönsson Bygg",
  "Kuwait Trading Co.",
  "Łódź Meble",
  "Northwind Outdoor",
  "大阪商事株式会社",
  "Пекарня Заря",
];

export const suppliers: readonly { readonly name: string; readonly expense: string }[] = [
  { name: "Paper & Board Inc.", expense: "5000" },
  { name: "Harvest Wholesale", expense: "5000" },
  { name: "Stratus Hosting", expense: "5300" },
  { name: "Ledgerly Software", expense: "5300" },
  { name: "Meridian Travel", expense: "5400" },
  { name: "Côte d'Azur Hôtels", expense: "5400" },
];
