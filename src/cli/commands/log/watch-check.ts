// One check of a log: the newest checkpoint against the last one that was good. Of what the server says, nothing is believed
// but the key of a log on first use, and of one that was begun anew and still has all that was seen before.
import { ServiceProblem } from "../../../client/ledger-client.ts";
import { parseCheckpoint, parseHash } from "../../../core/checkpoint.ts";
import { isConsistent } from "../../../core/merkle.ts";
import {
  MalformedNote,
  parseNote,
  parseVerifierKey,
  type VerifierKey,
} from "../../../core/note.ts";
import { isQuorumMet, type TlogPolicy } from "../../../core/tlog-policy.ts";
import type { LogSource, ShownLog } from "./log-source.ts";
import {
  isKeyUntold,
  isLaterOrigin,
  isUntrusted,
  originOf,
  trustNote,
  trustToldKey,
  withoutWitnesses,
  type TrustedNote,
} from "./watch-trust.ts";

/** A proof that does not hold, its hashes in base64. */
export interface FailedProof {
  readonly from: number;
  readonly to: number;
  readonly hashes: readonly string[];
}

/** The log does not hold to what it showed; with the evidence. */
export class LogConflict extends Error {
  override name = "LogConflict";
  readonly newNote: string | null;
  /** The note that the new one contradicts: the last good one, or one that was seen since. */
  readonly seenNote: string | null;
  readonly proof: FailedProof | null;

  /** Whether it contradicts a note that was good; else the new one is not to be trusted by itself. */
  get isOfHistory(): boolean {
    return this.seenNote !== null;
  }

  constructor(
    message: string,
    newNote: string | null,
    {
      seenNote = null,
      proof = null,
    }: { seenNote?: string | null; proof?: FailedProof | null } = {},
  ) {
    super(message);
    this.newNote = newNote;
    this.seenNote = seenNote;
    this.proof = proof;
  }
}

/** The last good note does not hold any more. */
export class BadState extends Error {
  override name = "BadState";
}

/** The note that is good now: the new one, or still the last. */
export interface GoodCheck extends TrustedNote {
  /** What there is to know besides, or null. */
  readonly remark: string | null;
  /** Of the last note; null on first use. */
  readonly previousSize: number | null;
  /** The origin of the last note, where the log was begun anew since. */
  readonly restartedFrom: string | null;
  /** Why the log signs nothing at the moment, or null. */
  readonly halted: string | null;
}

/** There is no checkpoint, and was none before. */
export interface NothingYet {
  readonly nothingYet: string;
  readonly whatToDo: string;
}

const noCheckpoint = "the log has no checkpoint yet";
const noQuorum = "no checkpoint has met the quorum of the server's policy yet";

const noCheckpointYet: NothingYet = {
  nothingYet: noCheckpoint,
  whatToDo:
    "Its first one comes right after the first entry, or close, that is in it. Without --once this command waits for it.",
};
const noQuorumYet: NothingYet = {
  nothingYet: noQuorum,
  whatToDo:
    "`ledgerctl log show` lists who has cosigned, `ledgerctl log key --policy` prints the policy of the server. Without " +
    "--once this command waits for the witnesses.",
};

/**
 * Checks the newest checkpoint against the last good note, null on first use; with witnesses in the policy the newest that
 * enough of them cosigned. `policy` is null where nobody said whom to trust. Rejects with LogConflict, with BadState, and
 * with what the source rejects with.
 */
export async function checkLog(
  source: LogSource,
  policy: TlogPolicy | null,
  lastNote: string | null,
): Promise<GoodCheck | NothingYet> {
  const state = lastNote === null ? null : openState(lastNote, source, policy);
  const wantsQuorum = policy !== null && !isQuorumMet(policy, new Set());
  // First, so that the origins that the server tells are no older than the note.
  const cosigned = wantsQuorum ? await source.findCosigned() : null;
  const shown = await source.getLog();
  const { checkpoint: newest, halted } = shown;
  const keys = keysOf(shown);
  const last = state === null ? null : state(keys);
  const offered = wantsQuorum ? cosigned : newest;
  const previousSize = last?.checkpoint.size ?? null;
  const good = { remark: null, previousSize, restartedFrom: null, halted };
  const trust = { source, policy, keys };
  if (last === null) {
    if (offered === null) return wantsQuorum ? noQuorumYet : noCheckpointYet;
    const first = verifyFirst(offered, source, policy, keys);
    if (newest !== null && newest !== offered) await verifyUncosigned(newest, first, trust);
    return { ...good, ...first };
  }
  const { origin, size } = last.checkpoint;
  if (newest === null) {
    if (!isLaterOrigin(shown.origin, origin)) {
      const what = `the log shrank from ${size} leaves: it has no checkpoint now`;
      throw new LogConflict(what, null, { seenNote: last.note });
    }
    const remark = `the log was begun anew as ${shown.origin}, and has no checkpoint there yet`;
    return { ...good, ...last, remark };
  }
  if (wantsQuorum && (offered === null || isBehind(offered, last))) {
    // Nothing shrank because a policy changed.
    await verifyUncosigned(newest, last, trust);
    return { ...good, ...last, remark: `${noQuorum} that is newer than that of size ${size}` };
  }
  const next = await verifyGrowth(offered ?? newest, last, trust);
  if (wantsQuorum && newest !== offered) await verifyUncosigned(newest, next, trust);
  const isRestarted = next.checkpoint.origin !== origin;
  return { ...good, ...next, restartedFrom: isRestarted ? origin : null };
}

/**
 * Verifies the newest checkpoint where too few have cosigned it: the log signed it, and so it has to hold as well. A witness
 * cosigns no fork. Rejects with LogConflict.
 */
async function verifyUncosigned(newest: string, last: TrustedNote, trust: Trust): Promise<void> {
  const { policy } = trust;
  await verifyGrowth(
    newest,
    { ...last, policy: withoutWitnesses(last.policy) },
    { ...trust, policy: policy && withoutWitnesses(policy) },
  );
}

interface Trust {
  readonly source: LogSource;
  readonly policy: TlogPolicy | null;
  readonly keys: readonly VerifierKey[];
}

/** Of all the log's origins. Throws LogConflict for a key that is none. */
function keysOf({ origin, verifierKey, origins }: ShownLog): VerifierKey[] {
  const told = [...origins, { origin, verifierKey }];
  try {
    return told.map((each) => parseVerifierKey(each.verifierKey));
  } catch (error) {
    if (!(error instanceof MalformedNote)) throw error;
    throw new LogConflict(`the server tells a key that is none: ${error.message}`, null);
  }
}

/** Verifies the last good note; by what the server tells only where the policy can't say it. Throws BadState. */
function openState(
  note: string,
  source: LogSource,
  policy: TlogPolicy | null,
): (keys: readonly VerifierKey[]) => TrustedNote {
  const origin = orBadState(() => originOf(note, source));
  if (policy !== null && !isKeyUntold(origin, policy)) {
    const trusted = orBadState(() => trustNote(note, policy));
    return () => trusted;
  }
  return (keys) => orBadState(() => trustToldKey(note, origin, policy, keys));
}

function orBadState<Result>(verify: () => Result): Result {
  try {
    return verify();
  } catch (error) {
    if (isUntrusted(error)) throw new BadState(error.message);
    throw error;
  }
}

/** The first note that is seen of a log: begun anew or not, a policy has to name it. */
function verifyFirst(
  note: string,
  source: LogSource,
  policy: TlogPolicy | null,
  keys: readonly VerifierKey[],
): TrustedNote {
  return orConflict(note, () => {
    const origin = originOf(note, source);
    return policy === null ? trustToldKey(note, origin, null, keys) : trustNote(note, policy);
  });
}

/** Verifies a new note, and that the log has only grown since the last one. Rejects with LogConflict. */
async function verifyGrowth(note: string, last: TrustedNote, trust: Trust): Promise<TrustedNote> {
  const next = verifyNext(note, last, trust);
  if (next.checkpoint.origin === last.checkpoint.origin) {
    await requireConsistent(last, next, trust.source);
    return next;
  }
  // From what was seen to the first checkpoint of each origin since, and from there to the newest.
  let seen = last;
  const bare = { ...trust, policy: trust.policy && withoutWitnesses(trust.policy) };
  const origins = new Set([...trust.keys.map(({ name }) => name), next.checkpoint.origin]);
  for (const origin of origins) {
    const isBetween =
      isLaterOrigin(origin, last.checkpoint.origin) &&
      (origin === next.checkpoint.origin || isLaterOrigin(next.checkpoint.origin, origin));
    const first = isBetween ? await trust.source.findFirst(origin) : null;
    if (first === null) continue;
    const verified = verifyNext(first, seen, bare);
    await requireConsistent(seen, verified, trust.source);
    seen = verified;
  }
  await requireConsistent(seen, next, trust.source);
  return next;
}

function verifyNext(note: string, last: TrustedNote, { source, policy, keys }: Trust): TrustedNote {
  return orConflict(note, () => {
    const origin = originOf(note, source);
    // The key that the last note holds by is the log's.
    if (origin === last.checkpoint.origin) {
      return { ...trustNote(note, last.policy), toldKey: last.toldKey };
    }
    if (!isLaterOrigin(origin, last.checkpoint.origin)) {
      throw new MalformedNote(`the log goes by another name: ${origin}`);
    }
    if (policy !== null && !isKeyUntold(origin, policy)) return trustNote(note, policy);
    return trustToldKey(note, origin, policy, keys);
  });
}

function orConflict<Result>(note: string, verify: () => Result): Result {
  try {
    return verify();
  } catch (error) {
    if (isUntrusted(error)) {
      throw new LogConflict(`the log's checkpoint can't be trusted: ${error.message}`, note);
    }
    throw error;
  }
}

/** Whether a note that was not verified yet is of fewer leaves, or of an earlier origin. */
function isBehind(note: string, last: TrustedNote): boolean {
  return orConflict(note, () => {
    const { origin, size } = parseCheckpoint(parseNote(note).text);
    if (origin === last.checkpoint.origin) return size < last.checkpoint.size;
    return isLaterOrigin(last.checkpoint.origin, origin);
  });
}

/** Rejects with LogConflict unless the tree of `last` is the beginning of that of `next`. */
async function requireConsistent(
  last: TrustedNote,
  next: TrustedNote,
  source: LogSource,
): Promise<void> {
  const seenNote = last.note;
  const { size: from, rootHash: fromRoot } = last.checkpoint;
  const { size: to, rootHash: toRoot } = next.checkpoint;
  if (to < from) {
    throw new LogConflict(`the log shrank from ${from} leaves to ${to}`, next.note, { seenNote });
  }
  if (to === from) {
    if (fromRoot.equals(toRoot)) return;
    const what = `the log forked: it has two roots over ${to} leaves`;
    throw new LogConflict(what, next.note, { seenNote });
  }
  // Everything begins with nothing.
  if (from === 0) return;
  const proof = { from, to, hashes: await proofOf(source, last, next) };
  let holds: boolean;
  try {
    holds = isConsistent(from, fromRoot, to, toRoot, proof.hashes.map(parseHash));
  } catch (error) {
    if (!(error instanceof MalformedNote)) throw error;
    holds = false;
  }
  if (holds) return;
  const what = `its ${to} leaves do not begin with the ${from} that it showed before`;
  throw new LogConflict(`the log forked: ${what}`, next.note, { seenNote, proof });
}

/** A server that signed both can prove it: one that refuses is no better than one whose proof fails. */
async function proofOf(
  source: LogSource,
  last: TrustedNote,
  next: TrustedNote,
): Promise<readonly string[]> {
  const { size: from } = last.checkpoint;
  const { size: to } = next.checkpoint;
  try {
    return await source.getConsistency({ from, to });
  } catch (error) {
    const isRefusal =
      error instanceof ServiceProblem &&
      (error.status === 400 || error.code === "CHECKPOINT_NOT_FOUND");
    if (!isRefusal) throw error;
    const what = `its ${to} leaves begin with the ${from} that it showed before`;
    throw new LogConflict(`the server does not prove that ${what}: ${error.message}`, next.note, {
      seenNote: last.note,
    });
  }
}
