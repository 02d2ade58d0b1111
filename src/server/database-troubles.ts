// What the database refuses a server for, by what it says of an error, and what somebody has to do about it.
import { errorCode } from "../core/thrown.ts";
import { sqlStateOf } from "../store/database/errors.ts";

export interface DatabaseTrouble {
  /** Everybody may read it: what an error says may name hosts and users. */
  readonly reason: string;
  /** For the log, where no attempt succeeds before it is done. */
  readonly remedy?: string;
}

/** By SQLSTATE, or its class; the longer one counts. */
const troubles: Readonly<Record<string, DatabaseTrouble>> = {
  "25006": {
    reason:
      "the database is read-only: let it take writes, or let the database URL name the primary",
  },
  "28": {
    reason: "the database refuses the login: check the user and the password in the database URL",
    remedy:
      "Mend the role, its password or pg_hba.conf. A new password goes into --database-url (LEDGERCTL_DATABASE_URL); " +
      "then restart ledgerctl.",
  },
  "3D": {
    reason: "the database that the database URL names is not there: create it, or correct the URL",
    remedy:
      "Name the right database in --database-url (LEDGERCTL_DATABASE_URL), and restart ledgerctl.",
  },
  "42501": {
    reason: "the role of the database URL lacks privileges: grant what docs/operations.md lists",
  },
  "42P01": { reason: "the database lacks a table: run `ledgerctl migrate`" },
  "53100": { reason: "the database's disk is full: free some of it" },
  "53300": {
    reason:
      "the database has no connection left: raise its max_connections, or end what else uses it",
    remedy:
      "Raise max_connections, or the limit of the role or the database, or end what else is connected.",
  },
  "53": { reason: "the database lacks resources: look at its log" },
  "55P03": { reason: "a session locks the table commit_probes: end it" },
  "57P03": { reason: "the database is starting up or shutting down" },
  "58": { reason: "the database can't read or write its files: look at its log and its disks" },
};

/** What is wrong, by the SQLSTATE of an error or of what caused it; null where nothing is known. */
export function databaseTrouble(error: unknown): DatabaseTrouble | null {
  const code = sqlStateOf(error) ?? errorCode(error) ?? "";
  return troubles[code] ?? troubles[code.slice(0, 2)] ?? null;
}
