// Whose signatures `log watch` believes: the policy that it was given, and the key that the server tells of a log where the
// policy can't name it.
import { parseCheckpoint } from "../../../core/checkpoint.ts";
import { parseOrigin, type LogKind } from "../../../core/log-origin.ts";
import { MalformedNote, parseNote, type VerifierKey } from "../../../core/note.ts";
import { policyOfKeys, type TlogPolicy } from "../../../core/tlog-policy.ts";
import {
  UntrustedCheckpoint,
  verifyCheckpoint,
  type VerifiedCheckpoint,
} from "../../../verify/checkpoint.ts";

/** A note that was verified, and how. */
export interface TrustedNote {
  readonly note: string;
  readonly checkpoint: VerifiedCheckpoint;
  readonly policy: TlogPolicy;
  /** The log's key, where the server told it and nobody else. */
  readonly toldKey: VerifierKey | null;
}

/** Which log is watched. */
export interface WatchedLog {
  readonly ledgerId: string;
  readonly log: LogKind;
}

export const nobody: TlogPolicy = policyOfKeys([], []);

/** The same logs, without witnesses. */
export function withoutWitnesses({ logs }: TlogPolicy): TlogPolicy {
  return policyOfKeys(
    logs.map(({ key }) => key),
    [],
  );
}

/** Whether an origin is what a log goes by since it was begun anew. */
export function isLaterOrigin(origin: string, earlier: string): boolean {
  const [next, last] = [parseOrigin(origin), parseOrigin(earlier)];
  return (
    next !== null &&
    last !== null &&
    next.logName === last.logName &&
    next.ledgerId === last.ledgerId &&
    next.log === last.log &&
    next.generation > last.generation
  );
}

/** The origin of a note, no signature checked. Throws MalformedNote, or UntrustedCheckpoint for another log's. */
export function originOf(note: string, { ledgerId, log }: WatchedLog): string {
  const { origin } = parseCheckpoint(parseNote(note).text);
  const identity = parseOrigin(origin);
  if (identity?.ledgerId === ledgerId && identity.log === log) return origin;
  throw new UntrustedCheckpoint(`it is of ${origin}, not of the log ${log} of ledger ${ledgerId}`);
}

/** Whether only the server can tell the key of an origin: nobody was named, or the log before it was begun anew. */
export function isKeyUntold(origin: string, policy: TlogPolicy | null): boolean {
  if (policy === null) return true;
  const names = policy.logs.map(({ key }) => key.name);
  return !names.includes(origin) && names.some((name) => isLaterOrigin(origin, name));
}

/** Verifies a note by a policy. Throws MalformedNote or UntrustedCheckpoint. */
export function trustNote(note: string, policy: TlogPolicy): TrustedNote {
  return { note, checkpoint: verifyCheckpoint(note, policy), policy, toldKey: null };
}

/**
 * Verifies a note by the one of these keys that holds, with the witnesses of the policy. One key alone is what the log goes
 * by from then on: a server may tell several.
 */
export function trustToldKey(
  note: string,
  origin: string,
  policy: TlogPolicy | null,
  keys: readonly VerifierKey[],
): TrustedNote {
  let failure: unknown = new UntrustedCheckpoint(`the server tells no key of the log ${origin}`);
  for (const key of keys.filter(({ name }) => name === origin)) {
    try {
      const trusted = { ...(policy ?? nobody), logs: [{ key, url: null }] };
      return { ...trustNote(note, trusted), toldKey: key };
    } catch (error) {
      if (!isUntrusted(error)) throw error;
      failure = error;
    }
  }
  throw failure;
}

/** Whether an error says that a note can't be trusted. */
export function isUntrusted(error: unknown): error is Error {
  return error instanceof MalformedNote || error instanceof UntrustedCheckpoint;
}
