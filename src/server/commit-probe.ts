// Whether a write would succeed now: commits to a table of its own, on a session like those of the write path.
import { randomInt } from "node:crypto";
import { messageOf } from "../core/thrown.ts";
import {
  findWait,
  getSession,
  probeSlots,
  requireDiskSpace,
  upsertCommitProbe,
  type Session,
} from "../store/commit-probes.ts";
import { DatabaseUnavailable } from "../store/database-unavailable.ts";
import type { Connection } from "../store/database/connection.ts";
import {
  findCause,
  HostFailure,
  isCommitWarning,
  sqlStateOf,
  StandbyHost,
} from "../store/database/errors.ts";
import type { PipelinedConnection } from "../store/database/pipeline.ts";
import type { Pool } from "../store/database/pool.ts";
import { databaseTrouble } from "./database-troubles.ts";

/** A probe that takes longer makes the server not ready. What it waits for is looked up this often. */
const overdueMs = 2_000;
/** How long a session has to tell its settings: also a busy machine answers by then. */
const answerMsMax = 5_000;

const noAnswer = "the database does not answer: check that it runs and can be reached";
const onlyStandby =
  "the database is a standby, which takes no writes: let the database URL name the primary, or promote this one";
const noPrimary =
  "no host of the database URL takes writes: start the primary, or promote a standby; the log says what each host failed of";
const noStandby =
  "COMMIT waits for a synchronous standby: start the standby, or take it out of synchronous_standby_names";

type OnResult = (reason: string | null, cause: string | null) => void;

interface Attempt {
  connection: PipelinedConnection | null;
  /** When its session was asked for its settings, on the clock of performance.now. */
  askedAtMs: number;
  /** Null until the database has told. */
  session: Session | null;
  isLookedAt: boolean;
  isOver: boolean;
}

export class CommitProbe {
  readonly #pool: Pool;
  readonly #observer: Connection;
  readonly #onResult: OnResult;
  #slot = randomInt(probeSlots);
  /** On the clock of performance.now; null where the last that is known is something else. */
  waitingForStandbySinceMs: number | null = null;

  /**
   * `pool` has one connection, with the settings of the write path. `observer` is for looking at what that one does.
   * `onResult` gets nulls when a commit succeeded, else why none does and what to do, and what the log is to say more.
   */
  constructor(pool: Pool, observer: Connection, onResult: OnResult) {
    this.#pool = pool;
    this.#observer = observer;
    this.#onResult = (reason, cause) => {
      if (reason !== noStandby) this.waitingForStandbySinceMs = null;
      else this.waitingForStandbySinceMs ??= performance.now();
      onResult(reason, cause);
    };
  }

  /**
   * Makes one commit. Never throws. While COMMIT waits for a standby it goes on waiting, on the one session: each that
   * was left alone would go on waiting in the database, until that has no connection for anybody.
   */
  async commit(): Promise<void> {
    const attempt: Attempt = {
      connection: null,
      askedAtMs: Infinity,
      session: null,
      isLookedAt: false,
      isOver: false,
    };
    const overdue = setInterval(() => void this.#explain(attempt), overdueMs);
    try {
      await this.#pool.withConnection((connection) => this.#commitOn(connection, attempt));
      this.#onResult(null, null);
    } catch (error) {
      // Another server's commit to the same row may wait for ever.
      if (sqlStateOf(error) === "55P03") this.#slot = randomInt(probeSlots);
      if (error instanceof SettingFault) this.#onResult(error.message, null);
      else this.#onResult(reasonOf(error), messageOf(error));
    } finally {
      attempt.isOver = true;
      clearInterval(overdue);
    }
  }

  async #commitOn(connection: PipelinedConnection, attempt: Attempt): Promise<void> {
    attempt.connection = connection;
    attempt.askedAtMs = performance.now();
    const session = await getSession(connection);
    attempt.session = session;
    requireSettings(session);
    await connection.transaction(async (transaction) => {
      await Promise.all([
        upsertCommitProbe(transaction, this.#slot),
        requireDiskSpace(transaction),
      ]);
    });
  }

  /** Says what an overdue commit waits for, and cuts its connection where the database does not work on it. */
  async #explain(attempt: Attempt): Promise<void> {
    const { session, connection } = attempt;
    if (session === null) {
      this.#onResult(noAnswer, null);
      // The connection may be lost without this end knowing. No COMMIT waits there yet, so another one is tried.
      if (performance.now() - attempt.askedAtMs > answerMsMax) connection?.cut();
      return;
    }
    if (attempt.isLookedAt) return;
    attempt.isLookedAt = true;
    const wait = await findWait(this.#observer, session).catch(() => null);
    attempt.isLookedAt = false;
    if (attempt.isOver) return;
    if (wait?.isActive !== true) {
      this.#onResult(noAnswer, null);
      connection?.cut();
    } else if (wait.waitEvent === "SyncRep") {
      this.#onResult(noStandby, null);
    } else {
      const waitsFor = wait.waitEvent === null ? "" : `, and waits for ${wait.waitEvent}`;
      this.#onResult(
        `the database takes longer than ${overdueMs / 1000} s to commit${waitsFor}: look at its log and its disks`,
        null,
      );
    }
  }
}

class SettingFault extends Error {}

/** A pooler may have dropped them. */
function requireSettings(session: Session): void {
  if (session.isStandby) throw new SettingFault(onlyStandby);
  for (const [name, value, wanted] of [
    ["synchronous_commit", session.synchronousCommit, "on"],
    ["client_min_messages", session.clientMinMessages, "warning"],
  ]) {
    if (value === wanted) continue;
    throw new SettingFault(
      `the connection has ${name} = ${value} although it asked for ${wanted}: a pooler in between must pass settings on`,
    );
  }
}

/** Of fixed texts: everybody may read it, and what an error says may name hosts and users. */
function reasonOf(error: unknown): string {
  if (isCommitWarning(error)) return noStandby;
  const refused = findCause(error, DatabaseUnavailable);
  if (refused !== null) return refused.message;
  const trouble = databaseTrouble(error);
  if (trouble !== null) return trouble.reason;
  const failures: unknown[] = findCause(error, AggregateError)?.errors ?? [];
  if (failures.some((failure) => failure instanceof HostFailure)) return noPrimary;
  return findCause(error, StandbyHost) === null ? noAnswer : onlyStandby;
}
