// A witness (C2SP tlog-witness) on loopback, which checks all that the specification demands of add-checkpoint; and what
// a witness may do instead: hang, lie, send junk.
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { cosign, parseCheckpoint, parseDecimal, parseHash } from "../../src/core/checkpoint.ts";
import { emptyRoot, isConsistent, type Hash } from "../../src/core/merkle.ts";
import {
  formatSignatureLine,
  formatVerifierKey,
  isEd25519Signature,
  MalformedNote,
  NoteSigner,
  parseNote,
  signatureTypes,
  type VerifierKey,
} from "../../src/core/note.ts";
import { parseTlogPolicy, type TlogPolicy } from "../../src/core/tlog-policy.ts";
import { freePort } from "./free-port.ts";

/** How it answers. `honest` is what the specification has, `slow` the same after a while. */
export type WitnessMode =
  | "honest"
  | "slow"
  | "hanging"
  | "dripping"
  | "wrong signature"
  | "signature of another key"
  | "signature without time"
  | "signature from the far future"
  | "two signatures"
  | "signature of a stranger beside its own"
  | "signature without newline"
  | "no signature"
  | "junk"
  | "error"
  | "overloaded"
  | "huge"
  | "redirect"
  | "cut off"
  | "always a conflict"
  | "conflict without type"
  | "conflict with junk"
  | "conflict with a larger size"
  | "always inconsistent";

interface Seen {
  readonly size: number;
  readonly rootHash: Hash;
}

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface TestWitness {
  readonly name: string;
  readonly key: VerifierKey;
  /** The submission prefix. */
  readonly url: string;
  /** Its line in a policy, without a newline. */
  readonly policyLine: string;
  mode: WitnessMode;
  /** Requests that came in, and how many of them at once at most. */
  readonly requests: { count: number; inFlight: number; inFlightMax: number };
  /** The request lines of old sizes and origins, in order, such as `old 3 example.com/log`. */
  readonly asked: string[];
  /** Accepts checkpoints that this key signed under its name. */
  trust(key: VerifierKey): void;
  /** What it cosigned last of a log; null before the first. */
  seen(origin: string): Seen | null;
  /** Makes it forget a log, as after losing its disk. */
  forget(origin: string): void;
  /** Takes no connections, and cuts those it has. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  close(): Promise<void>;
}

/** A policy whose one witness nobody runs. */
export function policyOfAbsentWitness(): TlogPolicy {
  const { verifierKey } = new NoteSigner("absent", seedOf("absent"), signatureTypes.cosignature);
  const line = `witness absent ${formatVerifierKey(verifierKey)} http://127.0.0.1:1/`;
  return parseTlogPolicy(Buffer.from(`${line}\nquorum absent\n`));
}

const slowMs = 300;
const hugeBytes = 1024 ** 3;

/** Starts a witness with a key of its own, below a path. */
export async function startWitness(name = "witness.example.com/w1"): Promise<TestWitness> {
  const signer = new NoteSigner(name, seedOf(name), signatureTypes.cosignature);
  const port = await freePort();
  const witness = new Witness(name, signer, `http://127.0.0.1:${port}/below/`, port);
  await witness.comeBack();
  return witness;
}

function seedOf(name: string): Buffer {
  return Buffer.from(name.padEnd(32, ".").slice(-32));
}

class Witness implements TestWitness {
  readonly name: string;
  readonly key: VerifierKey;
  readonly url: string;
  readonly policyLine: string;
  readonly requests = { count: 0, inFlight: 0, inFlightMax: 0 };
  readonly asked: string[] = [];
  mode: WitnessMode = "honest";
  readonly #signer: NoteSigner;
  readonly #port: number;
  readonly #trusted = new Map<string, VerifierKey[]>();
  readonly #seen = new Map<string, Seen>();
  #server: Server | null = null;

  constructor(name: string, signer: NoteSigner, url: string, port: number) {
    this.name = name;
    this.key = signer.verifierKey;
    this.url = url;
    this.policyLine = `witness ${name} ${formatVerifierKey(this.key)} ${url}`;
    this.#signer = signer;
    this.#port = port;
  }

  trust(key: VerifierKey): void {
    this.#trusted.set(key.name, [...(this.#trusted.get(key.name) ?? []), key]);
  }

  seen(origin: string): Seen | null {
    return this.#seen.get(origin) ?? null;
  }

  forget(origin: string): void {
    this.#seen.delete(origin);
  }

  async goAway(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server === null) return;
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  }

  async comeBack(): Promise<void> {
    const server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        // Whoever asked may have hung up.
        response.destroy(error as Error);
      });
    });
    server.listen(this.#port, "127.0.0.1");
    await once(server, "listening");
    if ((server.address() as AddressInfo).port !== this.#port) throw new Error("another port");
    this.#server = server;
  }

  close(): Promise<void> {
    return this.goAway();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { requests } = this;
    requests.count += 1;
    requests.inFlight += 1;
    requests.inFlightMax = Math.max(requests.inFlightMax, requests.inFlight);
    response.once("close", () => (requests.inFlight -= 1));
    const body = (await buffer(request)).toString();
    const { mode } = this;
    if (mode === "hanging") return;
    if (mode === "slow") await sleep(slowMs);
    if (mode === "cut off") {
      response.writeHead(200, { "content-length": 1_000 }).write("— ");
      response.destroy();
    } else if (mode === "dripping") await drip(response);
    else if (mode === "huge") await flood(response);
    else {
      const isKnown = request.method === "POST" && request.url === "/below/add-checkpoint";
      const answer = isKnown ? this.#answer(body) : { status: 404 };
      response.writeHead(answer.status, answer.headers).end(answer.body);
    }
  }

  #answer(body: string): Answer {
    switch (this.mode) {
      case "error":
        return { status: 500, body: "something went wrong" };
      case "overloaded":
        return { status: 503, headers: { "retry-after": "1" } };
      case "redirect":
        return { status: 307, headers: { location: this.url } };
      case "junk":
        return { status: 200, body: "<html>\0</html>\n" };
      case "no signature":
        return { status: 200, body: "" };
      case "always a conflict":
        return conflict(parseRequest(body).oldSize);
      case "conflict without type":
        return { status: 409, body: "1\n" };
      case "conflict with junk":
        return { ...conflict(1), body: "1e3\n" };
      case "conflict with a larger size":
        return conflict(1_000_000);
      case "always inconsistent":
        return { status: 422 };
      default:
        return this.#addCheckpoint(body);
    }
  }

  /** C2SP tlog-witness, add-checkpoint; nothing else runs between reading what was seen and writing it. */
  #addCheckpoint(body: string): Answer {
    try {
      const { oldSize, proof, note } = parseRequest(body);
      const { text, signatures } = parseNote(note);
      const { origin, size, rootHash } = parseCheckpoint(text);
      this.asked.push(`old ${oldSize} ${origin}`);
      const keys = this.#trusted.get(origin);
      if (keys === undefined) return { status: 404, body: "unknown log" };
      const trusted = signatures.flatMap(({ name, keyId, signature }) => {
        const key = keys.find((key) => key.name === name && key.keyId === keyId);
        return key === undefined ? [] : [isEd25519Signature(text, signature, key.publicKey)];
      });
      if (trusted.length === 0 || trusted.includes(false)) return { status: 403 };
      if (oldSize > size) return { status: 400, body: "the old size is larger" };
      const seen = this.#seen.get(origin) ?? { size: 0, rootHash: emptyRoot };
      if (oldSize !== seen.size) return conflict(seen.size);
      if (!isExtension(seen, { size, rootHash }, proof)) return { status: 422 };
      this.#seen.set(origin, { size, rootHash });
      return { status: 200, body: this.#cosign(text) };
    } catch (error) {
      if (!(error instanceof MalformedNote)) throw error;
      return { status: 400, body: error.message };
    }
  }

  #cosign(text: string): string {
    const now = Math.floor(Date.now() / 1000);
    const line = (of: string, time = now, signer = this.#signer) =>
      formatSignatureLine(cosign(signer, of, time));
    const other = new NoteSigner(this.name, Buffer.alloc(32, 7), signatureTypes.cosignature);
    const stranger = new NoteSigner("stranger.example.com", Buffer.alloc(32, 8));
    switch (this.mode) {
      case "wrong signature":
        return line(`${text}more\n`);
      case "signature of another key":
        return line(text, now, other);
      case "signature without time":
        return line(text, 0);
      case "signature from the far future":
        return line(text, 2 ** 50);
      case "two signatures":
        return line(text) + line(text, now - 1);
      case "signature of a stranger beside its own":
        return formatSignatureLine(stranger.sign(text)) + line(text);
      case "signature without newline":
        return line(text).trimEnd();
      default:
        return line(text);
    }
  }
}

function isExtension(seen: Seen, next: Seen, proof: readonly Hash[]): boolean {
  if (next.size === 0 && !next.rootHash.equals(emptyRoot)) return false;
  if (seen.size === 0) return proof.length === 0;
  return isConsistent(seen.size, seen.rootHash, next.size, next.rootHash, proof);
}

function parseRequest(body: string) {
  const blank = body.indexOf("\n\n");
  const [old = "", ...hashes] = body.slice(0, Math.max(blank, 0)).split("\n");
  if (!old.startsWith("old ") || hashes.length > 63) throw new MalformedNote("is no request");
  return {
    oldSize: parseDecimal(old.slice("old ".length), "old size"),
    proof: hashes.map(parseHash),
    note: body.slice(blank + 2),
  };
}

function conflict(size: number): Answer {
  return { status: 409, headers: { "content-type": "text/x.tlog.size" }, body: `${size}\n` };
}

async function drip(response: ServerResponse): Promise<void> {
  response.writeHead(200);
  while (!response.destroyed) {
    response.write("—");
    await sleep(20);
  }
}

async function flood(response: ServerResponse): Promise<void> {
  const chunk = Buffer.alloc(64 * 1024, "x");
  response.writeHead(200, { "content-length": hugeBytes });
  const chunks = Array.from({ length: hugeBytes / chunk.length }, () => chunk);
  await pipeline(Readable.from(chunks), response);
}
