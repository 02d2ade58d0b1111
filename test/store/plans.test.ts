// How the journal's statements of the write path are carried out.
import { randomUUID } from "node:crypto";
import type { Client } from "pg";
import { addToBalances } from "../../src/store/account-balances.ts";
import { listAccountStates } from "../../src/store/accounts.ts";
import type { Timestamp } from "../../src/core/time.ts";
import { listEntryContents } from "../../src/store/entry-contents.ts";
import { listEntriesByExternalId, listOriginals } from "../../src/store/journal-entries.ts";
import { listWalletPostings } from "../../src/store/wallet-postings.ts";
import { describePlans, type PlannedStatement } from "../support/plans.ts";

const rowCount = 20_000;
const end = "9999-12-31T23:59:59.999Z" as Timestamp;
const ledgerId = randomUUID();
const journalIds = Array.from({ length: 50 }, () => randomUUID());
const names = Array.from({ length: 50 }, (_, index) => String(index * 17));

/** One ledger with nearly all rows, so that its id alone narrows nothing. */
async function fill(client: Client): Promise<void> {
  await client.query("SET session_replication_role = replica");
  await client.query(
    `INSERT INTO journal_entries (ledger_id, sequence, journal_id, external_id, transaction_date,
                                  entry_type, metadata, persisted_at, leaf)
     SELECT $1, i, gen_random_uuid(), i::text, now(), 'STANDARD', '{}', now(),
            decode(repeat('00', 32), 'hex')
       FROM generate_series(1, $2::integer) AS i`,
    [ledgerId, rowCount],
  );
  await client.query(
    `INSERT INTO journal_lines (ledger_id, sequence, line_number, gl_account_code, transaction_amount,
                                transaction_currency, functional_amount, functional_currency)
     SELECT $1, i / 2 + 1, i % 2, (i % 1000)::text, 1, 'USD', 1, 'USD'
       FROM generate_series(1, $2::integer) AS i`,
    [ledgerId, 2 * rowCount],
  );
  await client.query(
    `INSERT INTO journal_reversals (ledger_id, journal_id, reversal_journal_id)
     SELECT $1, gen_random_uuid(), gen_random_uuid() FROM generate_series(1, $2::integer)`,
    [ledgerId, rowCount],
  );
  await client.query(
    `INSERT INTO wallet_postings (ledger_id, journal_id, asset_code, rule_version)
     SELECT $1, gen_random_uuid(), 'USD', 1 FROM generate_series(1, $2::integer)`,
    [ledgerId, rowCount],
  );
  await client.query(
    `WITH organization AS (
       INSERT INTO organizations VALUES (gen_random_uuid(), 'x', now()) RETURNING organization_id
     )
     INSERT INTO ledgers (ledger_id, organization_id, name, functional_currency, created_at)
     SELECT $1, organization_id, 'x', 'USD', now() FROM organization`,
    [ledgerId],
  );
  await client.query(
    `INSERT INTO accounts (ledger_id, gl_account_code, name, created_at)
     SELECT $1, i::text, 'x', now() FROM generate_series(1, $2::integer) AS i`,
    [ledgerId, rowCount],
  );
  await client.query(
    `INSERT INTO account_balances (ledger_id, gl_account_code, currency, balance, entry_count)
     SELECT $1, i::text, '', 0, 0 FROM generate_series(1, $2::integer) AS i`,
    [ledgerId, rowCount],
  );
}

const statements: readonly PlannedStatement[] = [
  {
    name: "listAccountStates",
    send: (connection) => listAccountStates(connection, ledgerId, names),
    scans: { accounts: ["ledger_id", "gl_account_code"] },
  },
  {
    name: "listEntriesByExternalId",
    send: (connection) => listEntriesByExternalId(connection, ledgerId, names),
    scans: { journal_entries: ["ledger_id", "external_id"] },
  },
  {
    name: "listOriginals",
    send: (connection) => listOriginals(connection, ledgerId, journalIds),
    scans: {
      journal_entries: ["ledger_id", "journal_id"],
      journal_reversals: ["ledger_id", "journal_id"],
      journal_lines: ["ledger_id", "sequence"],
    },
  },
  {
    name: "listEntryContents",
    send: (connection) =>
      listEntryContents(
        connection,
        ledgerId,
        { startsAt: null, endsAt: end, afterSequence: 5_000, upToSequence: rowCount },
        { limit: 100, bytesMax: 1_000_000 },
      ),
    scans: {
      journal_entries: ["ledger_id", "sequence"],
      journal_lines: ["ledger_id", "sequence"],
    },
  },
  {
    name: "listWalletPostings",
    send: (connection) => listWalletPostings(connection, ledgerId, journalIds),
    scans: { wallet_postings: ["ledger_id", "journal_id"] },
  },
  {
    name: "addToBalances",
    send: (connection) =>
      addToBalances(
        connection,
        ledgerId,
        names.map((glAccountCode) => ({
          glAccountCode,
          currency: null,
          amount: 1n,
          entryCount: 1,
        })),
      ),
    scans: {},
  },
];

const tables = [
  "accounts",
  "account_balances",
  "journal_entries",
  "journal_lines",
  "journal_reversals",
  "wallet_postings",
];

describePlans({ tables, fill, statements });
