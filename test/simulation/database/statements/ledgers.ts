// The statements on a ledger's identity and state, as the simulated database carries them out.
import type { LedgerStatus } from "../../../../src/core/ledger.ts";
import {
  deleteStateRequest,
  lockLedgerState,
  lockLedgerStateShared,
  writeBarrier,
  readLedgerState,
  isLedgerStateLockedByOthers,
  updateLedgerState,
  upsertStateRequest,
} from "../../../../src/store/ledger-states.ts";
import { getLedgerIdentity, hasClosesInOrder } from "../../../../src/store/ledgers.ts";
import type { Handlers } from "../handler.ts";
import { text } from "../parameters.ts";
import { anId } from "./sample.ts";

export function addLedgerStatements(handlers: Handlers): void {
  addStates(handlers);
  addStateRequests(handlers);
  handlers.add(
    (connection) => getLedgerIdentity(connection, anId),
    (db, [ledgerId]) => {
      const ledger = db.find(db.tables.ledgers, { ledgerId: text(ledgerId) });
      if (ledger === null) return [];
      const { organizationId, functionalCurrency } = ledger;
      return [{ ledgerId, organizationId, functionalCurrency }];
    },
  );
  handlers.add(
    (connection) => hasClosesInOrder(connection, anId),
    (db, [ledgerId]) => {
      const ledger = db.find(db.tables.ledgers, { ledgerId: text(ledgerId) });
      return ledger === null ? [] : [{ closesInOrder: ledger.closesInOrder }];
    },
  );
}

function addStates(handlers: Handlers): void {
  handlers.add(
    (connection) => lockLedgerStateShared(connection, anId),
    function* (db, [ledgerId]) {
      const key = { ledgerId: text(ledgerId) };
      const state = yield* db.lock(db.tables.ledgerStates, key, "share");
      return state === null ? [] : [{ status: state.status, ordersWalletWrites: false }];
    },
    (db, [msMax, ledgerId]) => {
      const request = db.find(db.tables.stateRequests, { ledgerId: text(ledgerId) });
      if (request === null) return [];
      const leftMs = request.waitsUntilMs - db.clockMs();
      return [{ isPending: leftMs > 0 && leftMs <= Number(msMax) }];
    },
  );
  handlers.add(
    (connection) => isLedgerStateLockedByOthers(connection, anId),
    () => [],
    (db, [ledgerId]) => {
      const key = { ledgerId: text(ledgerId) };
      const state = db.find(db.tables.ledgerStates, key);
      if (state === null || !db.canLock(db.tables.ledgerStates, key, "noKeyUpdate")) return [];
      return [{ status: state.status }];
    },
    // The lock is released at once: it was not taken.
    () => [],
    () => [],
  );
  handlers.add(
    (connection) => lockLedgerState(connection, anId),
    function* (db, [ledgerId]) {
      const key = { ledgerId: text(ledgerId) };
      const state = yield* db.lock(db.tables.ledgerStates, key, "update");
      return state === null ? [] : [{ status: state.status }];
    },
  );
  handlers.add(
    (connection) => writeBarrier(connection, anId),
    function* (db, [ledgerId]) {
      const state = yield* db.lock(
        db.tables.ledgerStates,
        { ledgerId: text(ledgerId) },
        "keyShare",
      );
      return state === null ? [] : [{ status: state.status }];
    },
  );
  handlers.add(
    (connection) => readLedgerState(connection, anId),
    (db, [ledgerId]) => {
      const state = db.find(db.tables.ledgerStates, { ledgerId: text(ledgerId) });
      return state === null ? [] : [{ status: state.status }];
    },
  );
  handlers.add(
    (connection) => updateLedgerState(connection, anId, "active"),
    function* (db, [status, ledgerId]) {
      const changed = text(status) as LedgerStatus;
      const key = { ledgerId: text(ledgerId) };
      yield* db.update(db.tables.ledgerStates, key, (row) => ({ ...row, status: changed }));
      return [];
    },
  );
}

function addStateRequests(handlers: Handlers): void {
  handlers.add(
    (connection) => upsertStateRequest(connection, anId, 1),
    function* (db, [ledgerId, waitMs]) {
      const waitsUntilMs = db.clockMs() + Number(waitMs);
      const request = { ledgerId: text(ledgerId), waitsUntilMs };
      yield* db.insert(db.tables.stateRequests, request, (held) => ({ ...held, waitsUntilMs }));
      return [];
    },
  );
  handlers.add(
    (connection) => deleteStateRequest(connection, anId),
    function* (db, [ledgerId]) {
      yield* db.delete(db.tables.stateRequests, { ledgerId: text(ledgerId) });
      return [];
    },
  );
}
