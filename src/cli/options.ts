// Options that many commands share, and what they parse to.
import type { Command } from "commander";

export interface OutputFlags {
  json?: boolean;
  quiet?: boolean;
  color?: boolean;
  verbose?: boolean;
}

export interface ServiceFlags extends OutputFlags {
  url?: string;
  apiKey?: string;
  ledger?: string;
  profile?: string;
}

export interface DatabaseFlags extends OutputFlags {
  databaseUrl?: string;
  dataDir?: string;
}

export function outputOptions(command: Command): Command {
  return command
    .option("--json", "print the API's own objects as JSON")
    .option("-q, --quiet", "print results only, and of a write only its id")
    .option("--no-color", "no colours")
    .option("--verbose", "show what is exchanged with the service, secrets left out");
}

/** For commands that call the service. */
export function serviceOptions(command: Command): Command {
  return outputOptions(command)
    .option("--url <url>", "the service (LEDGERCTL_URL)")
    .option(
      "--api-key <key>",
      "the API key (LEDGERCTL_API_KEY); its secret comes from the environment or profile",
    )
    .option("--ledger <id>", "the ledger (LEDGERCTL_LEDGER)")
    .option("--profile <name>", "a profile of the configuration file (LEDGERCTL_PROFILE)");
}

/** For commands that work on the database itself. */
export function databaseOptions(command: Command): Command {
  return outputOptions(command)
    .option("--database-url <url>", "a PostgreSQL database (LEDGERCTL_DATABASE_URL)")
    .option("--data-dir <dir>", "the folder of the embedded database (LEDGERCTL_DATA_DIR)");
}
