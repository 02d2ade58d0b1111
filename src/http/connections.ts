// The server's connections: what is under way on each of them, and how one is given up, cut or let go.
// What a request means, and what its answer is, is not known here.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

/** How long an answer may make no progress: Node looks twice, so that its reader is cut within twice this. */
const stalledMsMax = 15_000;
/** How long a connection may last that is given up. */
const givenUpMsMax = 30_000;
/** How long the rest of what a client sends is still taken in after an answer that ends the connection. */
const lingerMs = 1_000;

/** Connections beyond the limit that are still told so. */
const surplusMax = 1_000;
/** Shorter answers are always held. */
const longAnswerBytes = 64 * 1024;

interface Exchanges {
  /** Answers that the client has not got whole, in the order of their requests. */
  readonly unanswered: Set<ServerResponse>;
  latest: ServerResponse | null;
  /** Whether the connection came when there were enough. */
  isSurplus: boolean;
  /** Once the connection is given up: the answers that still go out. */
  honoured: ReadonlySet<ServerResponse> | null;
}

const answers = new WeakMap<IncomingMessage, ServerResponse>();
const exchangesBySocket = new WeakMap<Duplex, Exchanges>();

function exchangesOn(socket: Duplex): Exchanges {
  const known = exchangesBySocket.get(socket);
  if (known !== undefined) return known;
  const made = {
    unanswered: new Set<ServerResponse>(),
    latest: null,
    isSurplus: false,
    honoured: null,
  };
  exchangesBySocket.set(socket, made);
  return made;
}

/**
 * Notes what is under way on each connection, and cuts those that are idle or whose reader takes nothing.
 * Connections beyond `connectionsMax` are taken as surplus, which can be answered, and far beyond it not at all.
 * How many are open is kept in `counts`.
 */
export function watchConnections(
  server: Server,
  connectionsMax: number,
  counts: { connections: number },
): void {
  // Nobody understands a connection that is closed without a word, but answers too have to end somewhere.
  server.maxConnections = connectionsMax + surplusMax;
  server.prependListener("connection", (socket: Socket) => {
    // One that was given back after an upgrade was left comes a second time.
    if (exchangesBySocket.has(socket)) return;
    counts.connections += 1;
    exchangesOn(socket).isSurplus = counts.connections > connectionsMax;
    socket.once("close", () => (counts.connections -= 1));
  });
  const note = (request: IncomingMessage, response: ServerResponse) => {
    answers.set(request, response);
    const exchanges = exchangesOn(request.socket);
    exchanges.unanswered.add(response);
    exchanges.latest = response;
    response.once("close", () => exchanges.unanswered.delete(response));
  };
  server.prependListener("request", note);
  server.prependListener("checkExpectation", note);
  server.on("timeout", (socket: Socket) => {
    // An answer that is still being made is no fault of the reader's.
    const isWorking = socket.writableLength === 0 && exchangesOn(socket).unanswered.size > 0;
    if (!isWorking) socket.destroy();
  });
}

/** From here on the client has to take what it is sent. Node ends the watch with the answer. */
export function watchProgress(socket: Socket): void {
  // Counts as progress whatever the kernel takes, also of one long piece.
  socket.setTimeout(stalledMsMax);
}

/** Bounds what is held of long answers until their readers have taken them. */
export class HeldAnswers {
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Whether there is room for an answer; it counts until it is sent whole, or its connection is gone. */
  hold(response: ServerResponse, bytes: number): boolean {
    if (bytes < longAnswerBytes) return true;
    if (this.#bytes + bytes > this.#bytesMax && this.#bytes > 0) return false;
    this.#bytes += bytes;
    response.once("close", () => (this.#bytes -= bytes));
    return true;
  }
}

/** Whether a connection came when there were enough. */
export function isSurplus(socket: Duplex): boolean {
  return exchangesOn(socket).isSurplus;
}

/** The answer that goes with a request of a server that is watched. */
export function answerOf(request: IncomingMessage): ServerResponse {
  const answer = answers.get(request);
  if (answer === undefined) throw new Error("every request of a watched server has its answer");
  return answer;
}

/** Whether no request has come behind that of an answer: a connection that ends with it loses none. */
export function isLatest(response: ServerResponse): boolean {
  return exchangesOn(response.req.socket).latest === response;
}

/** Resolves when no connection is left, or after a time. */
export async function whenUnconnected(server: Server, forMs: number): Promise<void> {
  const untilMs = performance.now() + forMs;
  const count = promisify(server.getConnections.bind(server));
  while (performance.now() < untilMs && (await count()) > 0) await sleep(25);
}

/** Whether a request belongs to what was given up on its connection: it must have no effect. */
export function isGivenUp(response: ServerResponse): boolean {
  const { honoured } = exchangesOn(response.req.socket);
  return honoured !== null && !honoured.has(response);
}

/**
 * Ends a connection on which something came that is no request. Answers to the requests before it still go
 * out, then `answer` in its turn: raw bytes of a response that says `Connection: close`.
 */
export function giveUp(socket: Socket, answer: () => string): void {
  const exchanges = exchangesOn(socket);
  if (exchanges.honoured !== null) return;
  const { latest, unanswered } = exchanges;
  const broken = latest?.req.complete === false ? latest : null;
  const isAnswered = broken !== null && !unanswered.has(broken);
  const earlier = new Set([...unanswered].filter((response) => response !== broken));
  exchanges.honoured = earlier;
  const cut = setTimeout(() => socket.destroy(), givenUpMsMax);
  socket.once("close", () => {
    clearTimeout(cut);
  });
  const end = () => {
    if (!socket.writable) return;
    // Closing while bytes come in would reset the connection, and the answer might be lost with it.
    const letGo = () => setTimeout(() => socket.destroy(), lingerMs).unref();
    if (isAnswered || broken?.headersSent === true) socket.end(letGo);
    else socket.end(answer(), letGo);
  };
  let waitingFor = earlier.size;
  if (waitingFor === 0) end();
  for (const response of earlier) {
    response.once("close", () => {
      waitingFor -= 1;
      if (waitingFor === 0) end();
    });
  }
}
