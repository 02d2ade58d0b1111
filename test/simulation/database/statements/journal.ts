// The statements of the journal's write path, as the simulated database carries them out.
import type { Entry, EntryType } from "../../../../src/core/journal.ts";
import { addToBalances } from "../../../../src/store/account-balances.ts";
import {
  insertMissingAccounts,
  findAccount,
  listAccountStates,
  updateAccountActive,
} from "../../../../src/store/accounts.ts";
import {
  insertEntries,
  insertLines,
  insertReversals,
  listEntriesByExternalId,
  listOriginals,
} from "../../../../src/store/journal-entries.ts";
import {
  advanceJournalHead,
  lockJournalHead,
  readClock,
  readJournalHead,
} from "../../../../src/store/journal-heads.ts";
import { listWalletPostings } from "../../../../src/store/wallet-postings.ts";
import type { AccountType } from "../../../../src/core/ledger.ts";
import { timestampFromEpochMs } from "../../../../src/core/time.ts";
import type { Execution } from "../execution.ts";
import type { Handlers, Parameters } from "../handler.ts";
import { bytes, numberOrNull, text, texts, time } from "../parameters.ts";
import type { JournalEntryRow, JournalHeadRow, JournalLineRow } from "../tables.ts";
import { anEntry, anId, anyTime } from "./sample.ts";
import { withoutLedger } from "./wallets.ts";

export function addJournalStatements(handlers: Handlers): void {
  addHeadStatements(handlers);
  addEntryStatements(handlers);
  addEntryInserts(handlers);
  addAccountStatements(handlers);
}

const headColumns = ({ lastSequence, lastPersistedAt }: JournalHeadRow) => ({
  lastSequence,
  lastPersistedAt,
});

function addHeadStatements(handlers: Handlers): void {
  handlers.add(
    (connection) => lockJournalHead(connection, anId),
    function* (db, [ledgerId]) {
      const head = yield* db.lock(db.tables.journalHeads, { ledgerId: text(ledgerId) }, "update");
      return head === null ? [] : [headColumns(head)];
    },
  );
  handlers.add(
    (connection) => readJournalHead(connection, anId),
    (db, [ledgerId]) => {
      const head = db.find(db.tables.journalHeads, { ledgerId: text(ledgerId) });
      return head === null ? [] : [headColumns(head)];
    },
  );
  handlers.add(
    (connection) => readClock(connection),
    (db) => [{ now: timestampFromEpochMs(db.clockMs()) }],
  );
  handlers.add(
    (connection) => advanceJournalHead(connection, anId, { sequence: 1, persistedAt: anyTime }),
    function* (db, [sequence, persistedAt, ledgerId]) {
      yield* db.update(db.tables.journalHeads, { ledgerId: text(ledgerId) }, (head) => ({
        ...head,
        lastSequence: Number(sequence),
        lastPersistedAt: time(persistedAt),
      }));
      return [];
    },
  );
}

/** The row of an entry with its lines, as the store reads it. */
function storedEntry(db: Execution, entry: JournalEntryRow): object {
  const { leaf, metadata, ...content } = entry;
  const { ledgerId, journalId, sequence } = entry;
  const lines = db.filter(
    db.tables.journalLines,
    (line) => line.sequence === sequence && line.ledgerId === ledgerId,
  );
  lines.sort((one, other) => one.lineNumber - other.lineNumber);
  const reversal = db.find(db.tables.journalReversals, { ledgerId, journalId });
  return {
    ...content,
    metadata,
    postingStatus: "POSTED",
    reversedByJournalId: reversal?.reversalJournalId ?? null,
    lines: lines.map(lineArray),
  };
}

function lineArray(line: JournalLineRow): readonly unknown[] {
  return [
    line.glAccountCode,
    line.description,
    String(line.transactionAmount),
    line.transactionCurrency,
    String(line.functionalAmount),
    line.functionalCurrency,
    line.spotRate,
  ];
}

function addEntryStatements(handlers: Handlers): void {
  handlers.add(
    (connection) => listOriginals(connection, anId, [anId]),
    (db, [ledgerId, wanted]) =>
      texts(wanted).flatMap((journalId) => {
        const key = { ledgerId: text(ledgerId), journalId };
        const entry = db.findBy(db.tables.journalEntries, "journal_entries_journal_id_key", key);
        return entry === null ? [] : [storedEntry(db, entry)];
      }),
  );
  handlers.add(
    (connection) => listEntriesByExternalId(connection, anId, ["key"]),
    (db, [wanted, ledgerId]) =>
      texts(wanted).flatMap((externalId) => {
        const key = { ledgerId: text(ledgerId), externalId };
        const entry = db.findBy(db.tables.journalEntries, "journal_entries_external_id_key", key);
        if (entry === null) return [];
        const { journalId, persistedAt } = entry;
        return [{ externalId, journalId, persistedAt }];
      }),
  );
  handlers.add(
    (connection) => listWalletPostings(connection, anId, [anId]),
    (db, [wanted, ledgerId]) =>
      texts(wanted).flatMap((journalId) =>
        db.find(db.tables.walletPostings, { ledgerId: text(ledgerId), journalId }) === null
          ? []
          : [{ journalId }],
      ),
  );
}

function addEntryInserts(handlers: Handlers): void {
  handlers.addInsert(
    (connection, entries) => insertEntries(connection, anId, entries),
    anEntry,
    (db, ledgerId, row) => db.insert(db.tables.journalEntries, entryRow(ledgerId, row)),
  );
  handlers.addInsert(
    (connection, entries) => insertLines(connection, anId, entries),
    anEntry,
    (db, ledgerId, row) => db.insert(db.tables.journalLines, lineRow(ledgerId, row)),
  );
  handlers.addInsert(
    (connection, entries) => insertReversals(connection, anId, entries),
    anEntry,
    (db, ledgerId, [journalId, reversalJournalId]) =>
      db.insert(db.tables.journalReversals, {
        ledgerId,
        journalId: text(journalId),
        reversalJournalId: text(reversalJournalId),
      }),
  );
}

function entryRow(ledgerId: string, row: Parameters): JournalEntryRow {
  const [sequence, journalId, externalId, originSystem, originAccount, eventType, ...rest] = row;
  const [description, transactionDate, entryType, metadata, persistedAt, reversed, leaf] = rest;
  return {
    ledgerId,
    sequence: Number(sequence),
    journalId: text(journalId),
    externalId: externalId ?? null,
    originSystem: originSystem ?? null,
    originAccount: originAccount ?? null,
    eventType: eventType ?? null,
    description: description ?? null,
    transactionDate: time(transactionDate),
    entryType: text(entryType) as EntryType,
    metadata: JSON.parse(text(metadata)) as Entry["metadata"],
    persistedAt: time(persistedAt),
    reversesJournalId: reversed ?? null,
    leaf: bytes(leaf),
  };
}

function lineRow(ledgerId: string, row: Parameters): JournalLineRow {
  const [sequence, lineNumber, glAccountCode, description, amount, currency, ...rest] = row;
  const [functionalAmount, functionalCurrency, spotRate] = rest;
  return {
    ledgerId,
    sequence: Number(sequence),
    lineNumber: Number(lineNumber),
    glAccountCode: text(glAccountCode),
    description: description ?? null,
    transactionAmount: BigInt(text(amount)),
    transactionCurrency: text(currency),
    functionalAmount: BigInt(text(functionalAmount)),
    functionalCurrency: text(functionalCurrency),
    spotRate: numberOrNull(spotRate),
  };
}

function addAccountStatements(handlers: Handlers): void {
  handlers.add(
    (connection) => findAccount(connection, anId, "1000"),
    (db, [ledgerId, code]) => {
      const key = { ledgerId: text(ledgerId), glAccountCode: text(code) };
      const found = db.find(db.tables.accounts, key);
      return found === null ? [] : [withoutLedger(found)];
    },
  );
  handlers.add(
    (connection) => listAccountStates(connection, anId, ["1", "2", "3", "4", "5"]),
    (db, [wanted, ledgerId]) =>
      texts(wanted).flatMap((code) => {
        const key = { ledgerId: text(ledgerId), glAccountCode: code };
        const found = db.find(db.tables.accounts, key);
        return found === null ? [] : [{ code, active: found.active }];
      }),
  );
  handlers.addInsert(
    (connection, changes) => addToBalances(connection, anId, changes),
    { glAccountCode: "1000", currency: null, amount: 1n, entryCount: 1 },
    (db, ledgerId, [glAccountCode, currency, amount, entryCount]) => {
      const added = {
        ledgerId,
        glAccountCode: text(glAccountCode),
        currency: text(currency),
        balance: BigInt(text(amount)),
        entryCount: Number(entryCount),
      };
      return db.insert(db.tables.accountBalances, added, (held) => ({
        ...held,
        balance: held.balance + added.balance,
        entryCount: held.entryCount + added.entryCount,
      }));
    },
  );
  handlers.addInsert(
    (connection, accounts) => insertMissingAccounts(connection, anId, accounts, anyTime),
    { glAccountCode: "1000", name: "x", type: null, active: true },
    (db, ledgerId, [glAccountCode, name, type, active]) => {
      const account = {
        ledgerId,
        glAccountCode: text(glAccountCode),
        name: text(name),
        type: (type ?? null) as AccountType | null,
        active: active === "true",
      };
      return db.insert(db.tables.accounts, account, "nothing");
    },
  );
  handlers.add(
    (connection) => updateAccountActive(connection, anId, "1000", true),
    function* (db, [active, ledgerId, glAccountCode]) {
      const key = { ledgerId: text(ledgerId), glAccountCode: text(glAccountCode) };
      const isActive = active === "true";
      yield* db.update(db.tables.accounts, key, (account) => ({ ...account, active: isActive }));
      const changed = db.find(db.tables.accounts, key);
      if (changed === null) return [];
      const { name, type } = changed;
      return [{ glAccountCode: key.glAccountCode, name, type, active: isActive }];
    },
  );
}
