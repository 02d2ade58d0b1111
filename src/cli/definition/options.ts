// Options that many commands share, and what they parse to. In help texts they stand below a command's own.
import { Option, type Command } from "commander";
import type { DocumentFilter } from "../terminal/output.ts";
import type { ResultSink } from "../terminal/pager.ts";

export interface OutputFlags {
  json?: boolean;
  /** An expression of jq; it implies `json`. */
  jq?: string;
  /** What `jq` was made into before the command runs. */
  filter?: DocumentFilter;
  /** Of commands with results that may be long: whether a pager may show them. */
  pager?: boolean;
  /** The pager, once the command runs and has one. */
  sink?: ResultSink;
  csv?: boolean;
  minor?: boolean;
  quiet?: boolean;
  color?: boolean;
  verbose?: boolean;
}

export interface ServiceFlags extends OutputFlags {
  url?: string | undefined;
  apiKey?: string | undefined;
  ledger?: string | undefined;
  profile?: string | undefined;
}

export interface DatabaseFlags extends OutputFlags {
  databaseUrl?: string;
  dataDir?: string;
}

/** The headings under which help texts list what commands share, in this order. */
export const sharedOptionGroups = ["Service:", "Database:", "Output:"] as const;

type SharedOptionGroup = (typeof sharedOptionGroups)[number];

function shared(
  command: Command,
  group: SharedOptionGroup,
  options: readonly (readonly [flags: string, description: string])[],
): Command {
  for (const [flags, description] of options) {
    command.addOption(new Option(flags, description).helpGroup(group));
  }
  return command;
}

export function outputOptions(command: Command): Command {
  return shared(command, "Output:", [
    ["--json", "print the API's own objects as JSON"],
    ["--jq <expr>", "print what this expression of jq makes of each JSON object"],
    ["-q, --quiet", "print results only, of what is made or listed only ids"],
    ["--no-color", "no colours"],
    ["--verbose", "show what is exchanged, secrets left out"],
  ]);
}

/** For commands with results that may be longer than a terminal. */
export function pagerOption(command: Command): Command {
  return shared(command, "Output:", [
    ["--no-pager", "print what is longer than the terminal, and show it in no pager"],
  ]);
}

/** For lists: CSV for programs, and a pager for people. */
export function listOptions(command: Command): Command {
  return pagerOption(command).option(
    "--csv",
    "as CSV (RFC 4180): the JSON's names above, amounts in smallest units",
  );
}

/** For commands whose text has amounts that `--minor` shows in smallest units. */
export function minorOption(command: Command): Command {
  return command.option("--minor", "amounts in smallest units, as --json has them");
}

/** For commands that call the service. */
export function serviceOptions(command: Command): Command {
  return shared(outputOptions(command), "Service:", [
    ["--url <url>", "the service (LEDGERCTL_URL)"],
    [
      "--api-key <key>",
      "the API key (LEDGERCTL_API_KEY); its secret comes from the environment or profile",
    ],
    ["--ledger <id>", "the ledger, or its name where only one has it (LEDGERCTL_LEDGER)"],
    ["--profile <name>", "a profile of the configuration file (LEDGERCTL_PROFILE)"],
  ]);
}

/** For commands that work on the database itself. */
export function databaseOptions(command: Command): Command {
  return databasePlace(outputOptions(command));
}

/** For commands that exist on both sides. */
export function eitherOptions(command: Command): Command {
  return databasePlace(serviceOptions(command));
}

/** For commands that work on one ledger in the database. */
export function ledgerOptions(command: Command): Command {
  return shared(databaseOptions(command), "Database:", [
    [
      "--ledger <id>",
      "the ledger, or its name where only one has it (LEDGERCTL_LEDGER, or the profile's)",
    ],
    ["--profile <name>", "a profile of the configuration file, for its ledger (LEDGERCTL_PROFILE)"],
  ]);
}

function databasePlace(command: Command): Command {
  return shared(command, "Database:", [
    ["--database-url <url>", "a PostgreSQL database (LEDGERCTL_DATABASE_URL)"],
    ["--data-dir <dir>", "the folder of the embedded database (LEDGERCTL_DATA_DIR)"],
  ]);
}

/** Whom a command trusts that checks what logs have signed. */
export function policyOptions(command: Command): Command {
  return command
    .option("--policy <file>", "the logs and witnesses that are trusted, a C2SP tlog-policy")
    .option(
      "--verifier-key <vkey>",
      "the verifier key of a log that is trusted; repeat it",
      collect,
    )
    .option(
      "--witness-key <vkey>",
      "the key of a witness that must have cosigned; repeat it",
      collect,
    );
}

/** Of `--allow-unknown-currency`. */
export const unknownCurrencyHelp =
  "take a code of three letters that is no currency of ISO 4217 as a code of its own";

/** The values of an option that can be repeated. */
export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}
