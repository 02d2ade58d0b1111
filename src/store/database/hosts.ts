// The hosts of a database: which of them serves, and the sessions that are open on each. A process has one record of
// each database, so that what one of its pools learns, all of them know.
import { parseDatabaseUrl, type DatabaseHost } from "./connection-url.ts";
import { ConnectionBroken, HostFailure, isServerAnswer, StandbyHost } from "./errors.ts";

/** A session, as far as it matters here. */
interface OpenSession {
  cut(reason: Error): void;
}

/** What a host that was connected to says of itself. */
export interface HostState {
  readonly isStandby: boolean;
  /** Grows with each promotion, and can be compared as text; null where it was not asked for. */
  readonly timeline: string | null;
}

/** Called with the host that serves from now on. */
type TakeoverListener = (host: DatabaseHost) => void;

const hostsByUrl = new Map<string, DatabaseHosts>();

/** The record of a database. Throws InvalidDatabaseUrl. */
export function hostsOf(databaseUrl: string): DatabaseHosts {
  const known = hostsByUrl.get(databaseUrl) ?? new DatabaseHosts(databaseUrl);
  hostsByUrl.set(databaseUrl, known);
  return known;
}

export class DatabaseHosts {
  readonly all: readonly DatabaseHost[];
  readonly needsPrimary: boolean;
  /** Whether a pooler stands in front of the database. */
  isPooled = false;
  #refusal: Error | null = null;
  #current = 0;
  #serving: DatabaseHost | null = null;
  /** The latest that a host was on. */
  #timeline = "";
  readonly #sessions = new Map<OpenSession, DatabaseHost>();
  readonly #takeoverListeners = new Set<TakeoverListener>();

  constructor(databaseUrl: string) {
    const { hosts, needsPrimary } = parseDatabaseUrl(databaseUrl);
    this.all = hosts;
    this.needsPrimary = needsPrimary;
  }

  /** The host that is connected to next: the one that serves, unless it failed. */
  get current(): DatabaseHost {
    const host = this.all[this.#current];
    if (host === undefined) throw new Error("a database has a host");
    return host;
  }

  /** The host that was connected to last; null before there was one. */
  get serving(): DatabaseHost | null {
    return this.#serving;
  }

  get isSeveral(): boolean {
    return this.all.length > 1;
  }

  /**
   * Has `listener` called when another host serves, or the same one after it was promoted again: it may lack what was
   * read from the one before. Returns what ends that.
   */
  onTakeover(listener: TakeoverListener): () => void {
    this.#takeoverListeners.add(listener);
    return () => void this.#takeoverListeners.delete(listener);
  }

  /** Whether a host in this state was promoted after the one that serves. */
  isSupersededBy({ isStandby, timeline }: HostState): boolean {
    if (this.#serving === null || isStandby || timeline === null) return false;
    return timeline > this.#timeline;
  }

  /** Throws ConnectionBroken where no session may be used. */
  requireUse(): void {
    if (this.#refusal !== null) throw new ConnectionBroken(this.#refusal);
  }

  /**
   * Tries `connect` on one host after the other, beginning with the current one, until it succeeds. Rejects with
   * ConnectionBroken, which names what each host failed of.
   */
  async inTurn<Result>(connect: () => Promise<Result>): Promise<Result> {
    const failures: HostFailure[] = [];
    for (;;) {
      this.requireUse();
      try {
        return await connect();
      } catch (error) {
        if (!(error instanceof HostFailure)) throw error;
        failures.push(error);
        const isPassedOver = this.isSeveral && error.host !== this.current.name;
        if (isPassedOver && failures.length < this.all.length) continue;
        if (failures.length === 1) throw error;
        // What the database itself said tells more than a host that is not there.
        const cause = failures.find(isServerAnswer) ?? error;
        throw new ConnectionBroken(new AggregateError(failures, "", { cause }));
      }
    }
  }

  /**
   * Takes note of a session that is open. Throws where its host is not the one to write to. With a new host, the
   * sessions on all others are cut: their host may hang, and what they wait for can be tried again on this one.
   */
  adopt(host: DatabaseHost, session: OpenSession, state: HostState): void {
    const { isStandby, timeline } = state;
    const isPromoted = this.isSupersededBy(state);
    if (this.needsPrimary) {
      if (isStandby) throw new StandbyHost();
      if (timeline !== null && timeline < this.#timeline) {
        throw new Error(
          `it takes writes on timeline ${timeline}, although another host was promoted to ${this.#timeline}: ` +
            "it is an old primary, which must not come back as it is",
        );
      }
      this.#timeline = timeline ?? this.#timeline;
    }
    this.#sessions.set(session, host);
    const before = this.#serving;
    if (before === host && !isPromoted) return;
    this.#serving = host;
    this.#current = this.all.indexOf(host);
    if (this.needsPrimary) this.#cutAll(new Error(`${host.name} serves now`), host);
    if (before === null) return;
    for (const listener of this.#takeoverListeners) listener(host);
  }

  forget(session: OpenSession): void {
    this.#sessions.delete(session);
  }

  /**
   * Goes on to the next host after a failure of one. A host that served and answers, if only that it has no
   * connection to give, is still the one: going on would find an old primary, if anything.
   */
  passOver(host: DatabaseHost, error: unknown): void {
    if (host !== this.current || (host === this.#serving && isServerAnswer(error))) return;
    this.#current = (this.#current + 1) % this.all.length;
  }

  /** Cuts all sessions and lets none be opened, for a reason that a person has to mend; null: they may be again. */
  refuse(reason: Error | null): void {
    this.#refusal = reason;
    if (reason !== null) this.#cutAll(reason, null);
  }

  /** Cuts all sessions: what runs on them fails for this reason, and new ones may be opened. */
  cutSessions(reason: Error): void {
    this.#cutAll(reason, null);
  }

  #cutAll(reason: Error, kept: DatabaseHost | null): void {
    for (const [session, host] of this.#sessions) if (host !== kept) session.cut(reason);
  }
}
