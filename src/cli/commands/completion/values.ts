// What values of options and arguments are: fixed words, files, or names that the service knows.
import { clientEntryTypes, entryTypes } from "../../../core/journal.ts";
import { accountTypes, scopes } from "../../../core/ledger.ts";
import { logKinds } from "../../../core/log-origin.ts";
import { currencyExponents } from "../../../core/currencies.ts";
import { statementSteps } from "../../../core/statement.ts";
import { settingMembers } from "../../connection/profiles.ts";
import { exportFormats } from "../export/export-format.ts";
import { scripts } from "./completion.ts";

/** Names that are asked of the service. */
export type LiveName =
  "ledger" | "account" | "line" | "closed period" | "open period" | "period" | "wallet";

export type ValueKind = LiveName | "profile" | "file" | "topic" | readonly string[];

const currencies = [...currencyExponents.keys()].sort();

/** By the name of the option or argument, after its command's where that has a meaning of its own for it. */
const kinds: Readonly<Record<string, ValueKind>> = {
  "--ledger": "ledger",
  "--profile": "profile",
  "--account": "account",
  "--wallets-account": "account",
  "--clearing-account": "account",
  "--gains": "account",
  "--losses": "account",
  "entry close-accounts --to": "account",
  "--by": statementSteps,
  "--sort": ["sequence", "date"],
  "entry list --type": entryTypes,
  "entry post --type": clientEntryTypes,
  "--line": "line",
  "--period": "period",
  "--asset": currencies,
  "--currency": currencies,
  "--type": accountTypes,
  "--scope": scopes,
  "--body": "file",
  "--bundle": "file",
  "--policy": "file",
  "--state": "file",
  "--chart": "file",
  "--out": "file",
  "--data-dir": "file",
  "export --format": exportFormats,
  "bundle export --format": exportFormats,
  "entry post --format": ["csv", "json", "ndjson"],
  "sign --format": ["curl", "headers", "json"],
  "merkle verify --period": "closed period",
  "merkle root --period": "closed period",
  "merkle prove --period": "closed period",
  "log prove --close": "closed period",
  file: "file",
  key: "wallet",
  label: "closed period",
  log: logKinds,
  method: ["GET", "POST"],
  "account activate code": "account",
  "account deactivate code": "account",
  "asset set code": currencies,
  "balance code": "account",
  "register code": "account",
  "completion shell": Object.keys(scripts),
  "config set key": Object.keys(settingMembers),
  "help words": "topic",
  "ledger activate id": "ledger",
  "ledger close id": "ledger",
  "ledger suspend id": "ledger",
  "period close label": "open period",
  "period diff a": "closed period",
  "period diff b": "closed period",
  "period preview label": "open period",
  "profile show name": "profile",
  "profile use name": "profile",
};

/** What the value of an option or an argument is, or null if it is unknown. `path`: the command without `ledgerctl`. */
export function kindOfValue(path: string, name: string): ValueKind | null {
  return kinds[`${path} ${name}`] ?? kinds[name] ?? null;
}
