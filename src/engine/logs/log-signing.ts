// With which names and keys logs are signed, and what forbids it.
import { formatOrigin, logSigner, type LogIdentity } from "../../core/log-origin.ts";
import { formatVerifierKey, type NoteSigner } from "../../core/note.ts";
import type { StoredCheckpoint } from "../../store/log-checkpoints.ts";
import type { DatabaseIdentity, LogState } from "../../store/logs.ts";

/** What an operator has set for the logs of all ledgers. */
export interface LogSettings {
  readonly logName: string;
  /** 32 bytes each. The first is the log key; checkpoints are signed with the others too while these are rotated out. */
  readonly logKeys: readonly [Uint8Array, ...Uint8Array[]];
}

/** The name of a log, and the keys that sign it: the log's own first. */
export interface LogSigners {
  readonly origin: string;
  readonly own: NoteSigner;
  readonly all: readonly NoteSigner[];
}

export function signersOf({ logName, logKeys }: LogSettings, identity: LogIdentity): LogSigners {
  const origin = formatOrigin(logName, identity);
  const [first, ...previous] = logKeys;
  const own = logSigner(first, origin);
  return { origin, own, all: [own, ...previous.map((key) => logSigner(key, origin))] };
}

/**
 * Why a server with these names and keys does not sign a log whose newest checkpoint this is; null where it may. A server
 * with the right ones goes on, so this is not recorded.
 */
export function settingsFault(
  { origin, all }: LogSigners,
  newest: Pick<StoredCheckpoint, "origin" | "verifierKey"> | null,
): string | null {
  if (newest === null) return null;
  if (newest.origin !== origin) {
    return `this server's name for the log is ${origin}, but its checkpoints have ${newest.origin} (LEDGERCTL_LOG_NAME)`;
  }
  if (all.some(({ verifierKey }) => formatVerifierKey(verifierKey) === newest.verifierKey)) {
    return null;
  }
  return `this server's log key is not the one that signed the newest checkpoint, ${newest.verifierKey} (LEDGERCTL_LOG_KEY)`;
}

/** Why nothing is signed in this database that was not signed in before; null where it may be. */
export function databaseFault(state: LogState, database: DatabaseIdentity): string | null {
  const { systemIdentifier, timeline } = state;
  if (systemIdentifier !== database.systemIdentifier) {
    return `the log was signed in the database system ${systemIdentifier}, and this is ${database.systemIdentifier}: a copy or a restored backup`;
  }
  if (timeline !== database.timeline) {
    return `the log was signed on timeline ${timeline} of the database, and this is timeline ${database.timeline}: it was promoted or brought back to an earlier moment`;
  }
  return null;
}
