// What values of options and arguments are: fixed words, files, or names that the service knows.
import { accountTypes, scopes } from "../../../core/ledger.ts";
import { currencyExponents } from "../../../core/currencies.ts";
import { exportFormats } from "../export/export-format.ts";
import { scripts } from "./completion.ts";

/** Names that are asked of the service or read from the configuration file. */
export type LiveName =
  "ledger" | "account" | "line" | "closed period" | "open period" | "period" | "wallet" | "profile";

export type ValueKind = LiveName | "file" | "topic" | readonly string[];

const currencies = [...currencyExponents.keys()].sort();

const ofOptions: Readonly<Record<string, ValueKind>> = {
  "--ledger": "ledger",
  "--profile": "profile",
  "--account": "account",
  "--wallets-account": "account",
  "--clearing-account": "account",
  "--line": "line",
  "--period": "period",
  "--asset": currencies,
  "--currency": currencies,
  "--type": accountTypes,
  "--scope": scopes,
  "--body": "file",
  "--bundle": "file",
  "--chart": "file",
  "--out": "file",
  "--data-dir": "file",
  "export --format": exportFormats,
  "entry post --format": ["csv", "json", "ndjson"],
  "sign --format": ["curl", "headers", "json"],
  "merkle verify --period": "closed period",
  "merkle root --period": "closed period",
  "merkle prove --period": "closed period",
};

const methods = ["GET", "POST"];

const ofArguments: Readonly<Record<string, ValueKind>> = {
  "account activate code": "account",
  "account deactivate code": "account",
  "account import file": "file",
  "asset set code": currencies,
  "balance code": "account",
  "bundle label": "closed period",
  "completion shell": Object.keys(scripts),
  "config set key": ["api-key", "api-secret", "ledger", "url"],
  "entry post file": "file",
  "help words": "topic",
  "ledger activate id": "ledger",
  "ledger close id": "ledger",
  "ledger suspend id": "ledger",
  "merkle check file": "file",
  "period close label": "open period",
  "period preview label": "open period",
  "period show label": "closed period",
  "profile show name": "profile",
  "profile use name": "profile",
  "request method": methods,
  "sign method": methods,
};

/** What the value of an option is, or null where nothing is known of it. `path`: the command without `ledgerctl`. */
export function kindOfOption(path: string, name: string): ValueKind | null {
  return ofOptions[`${path} ${name}`] ?? ofOptions[name] ?? null;
}

export function kindOfArgument(path: string, name: string): ValueKind | null {
  // Every command of wallets names a wallet first.
  if (path.startsWith("wallet ") && name === "key") return "wallet";
  return ofArguments[`${path} ${name}`] ?? null;
}
