// Which logs and witnesses are trusted, and how many of these have to cosign (C2SP tlog-policy).
import { parseDecimal } from "./checkpoint.ts";
import { MalformedNote, parseVerifierKey, signatureTypes, type VerifierKey } from "./note.ts";
import { quoted } from "./text.ts";

export interface PolicyLog {
  readonly key: VerifierKey;
  readonly url: string | null;
}

export interface PolicyWitness {
  /** Its name within the policy. */
  readonly name: string;
  readonly key: VerifierKey;
  /** Where checkpoints are submitted: the prefix of `add-checkpoint` (C2SP tlog-witness). */
  readonly url: string | null;
}

/** One witness, or as many as `threshold` of some. */
type Quorum =
  | { readonly witness: PolicyWitness }
  | { readonly threshold: number; readonly members: readonly Quorum[] };

export interface TlogPolicy {
  readonly logs: readonly PolicyLog[];
  readonly witnesses: readonly PolicyWitness[];
  readonly quorum: Quorum;
  /** Its lines that tell of witnesses, groups and the quorum, without URLs. */
  readonly witnessLines: readonly string[];
}

/** The specification wants 32 logs, witnesses and groups each; quorums of groups in groups are counted recursively. */
const definitionsMax = 1_000;

const nothing: Quorum = { threshold: 0, members: [] };

/** A policy that trusts these logs where all of these witnesses have cosigned. */
export function policyOfKeys(
  logs: readonly VerifierKey[],
  witnesses: readonly VerifierKey[],
): TlogPolicy {
  const named = witnesses.map((key) => ({ name: key.name, key, url: null }));
  return {
    logs: logs.map((key) => ({ key, url: null })),
    witnesses: named,
    quorum: { threshold: named.length, members: named.map((witness) => ({ witness })) },
    witnessLines: [],
  };
}

/** The same policy, where all of these witnesses have to cosign as well. */
export function requireWitnesses(policy: TlogPolicy, keys: readonly VerifierKey[]): TlogPolicy {
  const required = keys.map((key) => {
    const known = policy.witnesses.find(
      (witness) => witness.key.name === key.name && witness.key.publicKey.equals(key.publicKey),
    );
    return known ?? { name: key.name, key, url: null };
  });
  const members = [policy.quorum, ...required.map((witness) => ({ witness }))];
  return {
    ...policy,
    witnesses: [...new Set([...policy.witnesses, ...required])],
    quorum: { threshold: members.length, members },
  };
}

/** Whether cosignatures of these witnesses are enough. */
export function isQuorumMet({ quorum }: TlogPolicy, cosigned: ReadonlySet<PolicyWitness>): boolean {
  return hasWitnessed(quorum, cosigned);
}

function hasWitnessed(quorum: Quorum, cosigned: ReadonlySet<PolicyWitness>): boolean {
  if ("witness" in quorum) return cosigned.has(quorum.witness);
  const witnessed = quorum.members.filter((member) => hasWitnessed(member, cosigned));
  return witnessed.length >= quorum.threshold;
}

/**
 * Reads a policy file. Its octets are taken one by one, as the specification has it, and names compared so. Throws
 * MalformedNote, which names the line.
 */
export function parseTlogPolicy(file: Uint8Array): TlogPolicy {
  const reader = new PolicyReader();
  const lines = Buffer.from(file).toString("latin1").split("\n");
  // The last line is ended by a newline as the others are; where that is missing it is read all the same.
  lines.forEach((line, index) => {
    try {
      reader.read(line);
    } catch (error) {
      if (!(error instanceof MalformedNote)) throw error;
      throw new MalformedNote(`line ${index + 1}: ${error.message}`);
    }
  });
  return reader.policy();
}

class PolicyReader {
  readonly #logs: PolicyLog[] = [];
  readonly #witnesses: PolicyWitness[] = [];
  /** Witnesses and groups by name. */
  readonly #defined = new Map<string, Quorum>([["none", nothing]]);
  readonly #inGroups = new Set<string>();
  readonly #witnessLines: string[] = [];
  #quorum: Quorum | null = null;
  #definitions = 0;

  read(line: string): void {
    if (/[^\t\x20-\x7e\x80-\xff]/.test(line)) throw new MalformedNote("has a control character");
    const [keyword, ...items] = line.split(/[ \t]+/).filter((item) => item !== "");
    if (keyword === undefined || keyword.startsWith("#")) return;
    this.#definitions += 1;
    if (this.#definitions > definitionsMax) {
      throw new MalformedNote(`the policy has more than ${definitionsMax} definitions`);
    }
    if (keyword === "log") this.#readLog(items);
    else if (keyword === "witness") this.#readWitness(items);
    else if (keyword === "group") this.#readGroup(items);
    else if (keyword === "quorum") this.#readQuorum(items);
    else throw new MalformedNote(`${quoted(keyword)} is none of log, witness, group, quorum`);
    if (keyword === "log") return;
    const withoutUrl = keyword === "witness" ? items.slice(0, 2) : items;
    this.#witnessLines.push(utf8([keyword, ...withoutUrl].join(" ")));
  }

  policy(): TlogPolicy {
    if (this.#quorum === null) throw new MalformedNote("the policy has no line quorum");
    return {
      logs: this.#logs,
      witnesses: this.#witnesses,
      quorum: this.#quorum,
      witnessLines: this.#witnessLines,
    };
  }

  #readLog(items: readonly string[]): void {
    const [key, url, ...rest] = items;
    if (key === undefined || rest.length > 0) throw new MalformedNote("log takes a key and a URL");
    const log = {
      key: keyOf(key, signatureTypes.ed25519),
      url: url === undefined ? null : utf8(url),
    };
    requireNewKey(log.key, this.#logs);
    this.#logs.push(log);
  }

  #readWitness(items: readonly string[]): void {
    const [name, key, url, ...rest] = items;
    if (name === undefined || key === undefined || rest.length > 0) {
      throw new MalformedNote("witness takes a name, a key and a URL");
    }
    const witness = {
      name: utf8(name),
      key: keyOf(key, signatureTypes.cosignature),
      url: url === undefined ? null : utf8(url),
    };
    requireNewKey(witness.key, this.#witnesses);
    this.#define(name, { witness });
    this.#witnesses.push(witness);
  }

  #readGroup(items: readonly string[]): void {
    const [name, threshold, ...names] = items;
    if (name === undefined || threshold === undefined || names.length === 0) {
      throw new MalformedNote("group takes a name, a threshold and members");
    }
    const members = names.map((member) => {
      if (member === "none") throw new MalformedNote("none can't be a member of a group");
      if (this.#inGroups.has(member)) {
        throw new MalformedNote(`${quoted(utf8(member))} is a member of a group already`);
      }
      this.#inGroups.add(member);
      return this.#lookUp(member);
    });
    this.#define(name, { threshold: thresholdOf(threshold, members.length), members });
  }

  #readQuorum(items: readonly string[]): void {
    const [name, ...rest] = items;
    if (name === undefined || rest.length > 0) throw new MalformedNote("quorum takes one name");
    if (this.#quorum !== null) throw new MalformedNote("quorum is given twice");
    this.#quorum = this.#lookUp(name);
  }

  #define(name: string, quorum: Quorum): void {
    if (this.#defined.has(name)) {
      throw new MalformedNote(`${quoted(utf8(name))} is defined already`);
    }
    this.#defined.set(name, quorum);
  }

  #lookUp(name: string): Quorum {
    const quorum = this.#defined.get(name);
    if (quorum === undefined) {
      throw new MalformedNote(`${quoted(utf8(name))} is not defined on a line before`);
    }
    return quorum;
  }
}

function thresholdOf(text: string, count: number): number {
  if (text === "any") return 1;
  if (text === "all") return count;
  const threshold = parseDecimal(text, "threshold");
  if (threshold < 1 || threshold > count) {
    throw new MalformedNote(`the threshold ${threshold} is not between 1 and ${count}`);
  }
  return threshold;
}

/** A key of this type, in whose name octets are UTF-8. */
function keyOf(text: string, type: number): VerifierKey {
  const key = parseVerifierKey(utf8(text));
  requireKeyType(key, type);
  return key;
}

/** Throws MalformedNote unless a key is an Ed25519 key of this signature type. */
export function requireKeyType(key: VerifierKey, type: number): void {
  if (key.type !== type) {
    const types = `0x${hexByte(type)}, not 0x${hexByte(key.type)}`;
    throw new MalformedNote(`the key of ${key.name} must be of type ${types}`);
  }
  if (key.publicKey.length !== 32) {
    throw new MalformedNote(`the key of ${key.name} does not have 32 bytes`);
  }
}

function hexByte(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}

function requireNewKey(key: VerifierKey, others: readonly { readonly key: VerifierKey }[]): void {
  if (others.some((other) => other.key.publicKey.equals(key.publicKey))) {
    throw new MalformedNote(`the public key of ${key.name} is on a line before`);
  }
}

function utf8(octets: string): string {
  return Buffer.from(octets, "latin1").toString("utf8");
}
