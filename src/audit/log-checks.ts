// Checks of a ledger's logs: their trees recomputed from the leaves, and the signatures under their checkpoints.
import { cosignatureTime, formatCheckpoint } from "../core/checkpoint.ts";
import { canonicalClose, type CloseRecord } from "../core/close.ts";
import { logKinds, parseOrigin, type LogKind } from "../core/log-origin.ts";
import { CompactRange, hashLeaf, type Hash } from "../core/merkle.ts";
import {
  isEd25519Signature,
  MalformedNote,
  parseNote,
  parseVerifierKey,
  signatureOf,
} from "../core/note.ts";
import {
  countLogSubtrees,
  readAuditedCheckpoints,
  readAuditedCosignatures,
  type AuditedCheckpoint,
  type AuditedCosignature,
} from "../store/audit/logs.ts";
import type { AuditedLedger } from "../store/audit/journal.ts";
import type { Connection } from "../store/database/connection.ts";
import {
  findLogHead,
  findLogState,
  listEntryLeaves,
  listLogSubtrees,
  storedLevelMin,
  type LogHead,
  type LogSubtree,
} from "../store/logs.ts";
import { PageCursor } from "../store/pages.ts";
import type { CheckLog } from "./audit-log.ts";

const leavesPerPage = 8_192;

/** Both logs of a ledger. Its entries and closes are checked by themselves: here their leaves are taken as they are stored. */
export async function checkLogs(
  connection: Connection,
  { ledgerId, lastSequence }: Pick<AuditedLedger, "ledgerId" | "lastSequence">,
  closes: readonly CloseRecord[],
  log: CheckLog,
): Promise<void> {
  for (const kind of logKinds) {
    const leafCount = kind === "journal" ? (lastSequence ?? 0) : closes.length;
    await new LogAudit(connection, ledgerId, kind, closes, log).run(leafCount);
  }
}

/** The recomputation of one log. Memory is for a page of leaves, of subtrees and of checkpoints. */
class LogAudit {
  readonly #connection: Connection;
  readonly #ledgerId: string;
  readonly #kind: LogKind;
  readonly #closes: readonly CloseRecord[];
  readonly #log: CheckLog;
  readonly #tree: CompactRange;
  /** Subtrees that were completed and not compared yet. */
  #completed: LogSubtree[] = [];
  /** The largest checkpoint of each generation. */
  readonly #sizes = new Map<number, number>();
  /** The number of that checkpoint. */
  readonly #numbers = new Map<number, number>();
  #subtreesFound = 0;

  constructor(
    connection: Connection,
    ledgerId: string,
    kind: LogKind,
    closes: readonly CloseRecord[],
    log: CheckLog,
  ) {
    this.#connection = connection;
    this.#ledgerId = ledgerId;
    this.#kind = kind;
    this.#closes = closes;
    this.#log = log;
    this.#tree = new CompactRange(0, [], (subtree, root) => {
      if (subtree.level >= storedLevelMin) this.#completed.push({ ...subtree, root });
    });
  }

  async run(leafCount: number): Promise<void> {
    const [connection, ledgerId, kind] = [this.#connection, this.#ledgerId, this.#kind];
    const [state, head] = await Promise.all([
      findLogState(connection, ledgerId, kind),
      findLogHead(connection, ledgerId, kind),
    ]);
    const generation = state?.generation ?? 1;
    await this.#readSizes(generation, head);
    const checkpoints = new PageCursor(readAuditedCheckpoints(connection, ledgerId, kind));
    await checkpoints.readPage();
    for (let from = 0; from < leafCount; from += leavesPerPage) {
      const to = Math.min(leafCount, from + leavesPerPage);
      for (const leaf of await this.#readLeaves(from, to)) {
        this.#tree.append(leaf);
        if (head?.size === this.#tree.size) this.#checkHead(head);
        const isSigned = checkpoints.current?.size === this.#tree.size;
        if (isSigned) await this.#checkCheckpoints(checkpoints);
      }
      await this.#checkSubtrees();
    }
    this.#checkEnd(head, generation);
    for (;;) {
      const { current } = checkpoints;
      if (current === undefined) {
        if (!(await checkpoints.readPage())) break;
        continue;
      }
      this.#find(`checkpoint of ${current.size}`, `but the log has ${this.#tree.size} leaves`);
      checkpoints.advance();
    }
    const stored = await countLogSubtrees(connection, ledgerId, kind);
    if (stored > this.#subtreesFound) {
      this.#find("subtrees", `${stored - this.#subtreesFound} are none of the log's trees`);
    }
    let cosignatures = 0;
    for await (const page of readAuditedCosignatures(connection, ledgerId, kind)) {
      for (const cosignature of page) this.#checkCosignature(cosignature);
      cosignatures += page.length;
    }
    if (cosignatures !== (head?.cosignatureCount ?? 0)) {
      this.#find("head", `counts ${head?.cosignatureCount ?? 0} cosignatures of ${cosignatures}`);
    }
  }

  /** Up to where each generation's tree reaches: the current one's to its head, the others' to their last checkpoint. */
  async #readSizes(generation: number, head: LogHead | null): Promise<void> {
    const pages = readAuditedCheckpoints(this.#connection, this.#ledgerId, this.#kind);
    for await (const page of pages) {
      for (const one of page) {
        const number = (this.#numbers.get(one.generation) ?? 0) + 1;
        if (one.number !== number) {
          this.#find(`checkpoint of ${one.size}`, `has number ${one.number}, and not ${number}`);
        }
        this.#numbers.set(one.generation, one.number);
        this.#sizes.set(one.generation, one.size);
      }
    }
    const signedSize = this.#sizes.get(generation) ?? 0;
    if (head === null) {
      if (this.#sizes.size > 0) this.#find("head", "is missing");
      return;
    }
    if (head.signedSize !== signedSize) {
      this.#find(
        "head",
        `says ${head.signedSize} for the newest checkpoint, which has ${signedSize}`,
      );
    }
    const count = this.#numbers.get(generation) ?? 0;
    if (head.checkpointCount !== count) {
      this.#find("head", `counts ${head.checkpointCount} checkpoints of ${count}`);
    }
    this.#sizes.set(generation, Math.max(signedSize, head.size));
  }

  async #readLeaves(from: number, to: number): Promise<readonly Hash[]> {
    if (this.#kind === "closes") {
      return this.#closes.slice(from, to).map((close) => hashLeaf(canonicalClose(close)));
    }
    const range = { afterSequence: from, upToSequence: to };
    return listEntryLeaves(this.#connection, this.#ledgerId, range);
  }

  #checkHead({ subtrees }: LogHead): void {
    if (Buffer.concat(subtrees).equals(Buffer.concat(this.#tree.subtrees))) return;
    this.#find("head", "is not what its leaves come to");
  }

  /** Those of the tree's present size. */
  async #checkCheckpoints(checkpoints: PageCursor<AuditedCheckpoint>): Promise<void> {
    for (;;) {
      const { current } = checkpoints;
      if (current === undefined) {
        if (!(await checkpoints.readPage())) return;
        continue;
      }
      if (current.size > this.#tree.size) return;
      this.#checkCheckpoint(current);
      checkpoints.advance();
    }
  }

  #checkCheckpoint(checkpoint: AuditedCheckpoint): void {
    this.#log.looked(1);
    const where = `checkpoint of ${checkpoint.size} (${checkpoint.origin})`;
    if (!checkpoint.rootHash.equals(this.#tree.root())) {
      this.#find(
        where,
        `has the root ${checkpoint.rootHash.toString("hex")}, but its leaves come to ${this.#tree.root().toString("hex")}`,
      );
    }
    const origin = parseOrigin(checkpoint.origin);
    const isOwn =
      origin?.ledgerId === this.#ledgerId &&
      origin.log === this.#kind &&
      origin.generation === checkpoint.generation;
    if (!isOwn)
      this.#find(where, `has an origin that is not generation ${checkpoint.generation} of the log`);
    const fault = signatureFault(checkpoint);
    if (fault !== null) this.#find(where, fault);
  }

  async #checkSubtrees(): Promise<void> {
    const completed = this.#completed;
    this.#completed = [];
    if (completed.length === 0) return;
    for (const [generation, size] of this.#sizes) {
      const identity = { ledgerId: this.#ledgerId, log: this.#kind, generation };
      const stored = await listLogSubtrees(this.#connection, identity, completed);
      const roots = new Map(stored.map((one) => [`${one.level}/${one.index}`, one.root]));
      this.#subtreesFound += stored.length;
      for (const { level, index, root } of completed) {
        const found = roots.get(`${level}/${index}`);
        const isDue = (index + 1) * 2 ** level <= size;
        if (found === undefined ? !isDue : found.equals(root)) continue;
        const where = `subtree ${index} of level ${level}, generation ${generation}`;
        this.#find(where, found === undefined ? "is missing" : "is not what its leaves come to");
      }
    }
  }

  #checkEnd(head: LogHead | null, generation: number): void {
    const { size } = this.#tree;
    if (head === null) return;
    if (head.size > size) this.#find("head", `has ${head.size} leaves, but the log has ${size}`);
    if (head.size === 0 && head.subtrees.length > 0) this.#checkHead(head);
    if (head.size < (this.#sizes.get(generation) ?? 0)) {
      this.#find("head", `has ${head.size} leaves, fewer than were signed`);
    }
  }

  #checkCosignature(cosignature: AuditedCosignature): void {
    this.#log.looked(1);
    const { size, verifierKey, origin, rootHash } = cosignature;
    const where = `cosignature of ${size} by ${verifierKey}`;
    if (origin === null || rootHash === null) {
      this.#find(where, "is about no checkpoint");
      return;
    }
    const time = timeOf(formatCheckpoint({ origin, size, rootHash }), cosignature);
    if (time === null) this.#find(where, "is not valid");
    else if (String(time) !== cosignature.cosignedAt) this.#find(where, `was made at ${time}`);
  }

  #find(where: string, what: string): void {
    this.#log.find(`log ${this.#kind}, ${where}`, what);
  }
}

/** What is wrong with the signatures of a checkpoint: the one of its key is valid, and the others are of its name. */
function signatureFault(checkpoint: AuditedCheckpoint): string | null {
  try {
    const key = parseVerifierKey(checkpoint.verifierKey);
    const text = formatCheckpoint(checkpoint);
    const note = parseNote(`${text}\n${checkpoint.signatures}`);
    const own = signatureOf(note, key);
    if (note.signatures.some(({ name }) => name !== checkpoint.origin)) {
      return "has a signature of another name";
    }
    return own !== null && isEd25519Signature(text, own.signature, key.publicKey)
      ? null
      : "is not signed by its key";
  } catch (error) {
    if (error instanceof MalformedNote) return error.message;
    throw error;
  }
}

function timeOf(text: string, { verifierKey, signature }: AuditedCosignature): number | null {
  try {
    const key = parseVerifierKey(verifierKey);
    return cosignatureTime(text, { name: key.name, keyId: key.keyId, signature }, key);
  } catch (error) {
    if (error instanceof MalformedNote) return null;
    throw error;
  }
}
