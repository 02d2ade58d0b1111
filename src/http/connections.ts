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

/** Shorter answers are always held. */
const longAnswerBytes = 64 * 1024;
/** Of one UTF-16 code unit. */
const utf8BytesMax = 3;

interface Exchanges {
  /** Answers in the order of their requests; those that the client has got whole are dropped when others come. */
  answers: ServerResponse[];
  latest: ServerResponse | null;
  /** Once the connection is given up: the answers that still go out. */
  honoured: ReadonlySet<ServerResponse> | null;
}

/** On the socket itself: a look-up by weak reference, several a request, cost more than the rest of the watch. */
const exchangesKey = Symbol("exchanges");

type WatchedSocket = Duplex & { [exchangesKey]?: Exchanges | undefined };

function exchangesOn(socket: Duplex): Exchanges {
  return ((socket as WatchedSocket)[exchangesKey] ??= {
    answers: [],
    latest: null,
    honoured: null,
  });
}

/** Answers that the client has not got whole. */
function unansweredOf(exchanges: Exchanges): ServerResponse[] {
  exchanges.answers = exchanges.answers.filter(({ closed }) => !closed);
  return exchanges.answers;
}

/** Notes what is under way on each connection, and cuts those that are idle or whose reader takes nothing. */
export function watchConnections(server: Server): void {
  server.prependListener("connection", (socket: Socket) => {
    // One whose upgrade was not taken comes a second time.
    if (exchangesKey in socket) return;
    const exchanges = exchangesOn(socket);
    socket.once("close", () => {
      closeQueued(exchanges);
    });
  });
  const note = (request: IncomingMessage, response: ServerResponse) => {
    const exchanges = exchangesOn(request.socket);
    while (exchanges.answers[0]?.closed === true) exchanges.answers.shift();
    exchanges.answers.push(response);
    exchanges.latest = response;
  };
  server.prependListener("request", note);
  server.prependListener("checkExpectation", note);
  server.on("timeout", (socket: Socket) => {
    // An answer that is still being made is no fault of the reader's.
    const isWorking = socket.writableLength === 0 && unansweredOf(exchangesOn(socket)).length > 0;
    if (!isWorking) socket.destroy();
  });
}

/** Node tells the answer whose turn it is that its connection is gone, and those behind it nothing. */
function closeQueued(exchanges: Exchanges): void {
  for (const response of unansweredOf(exchanges)) {
    if (response.socket === null) response.emit("close");
  }
}

/** Whether an answer is sent whole, or its connection gone: nothing more will be told of it. */
function isOver(response: ServerResponse): boolean {
  return response.closed || response.req.socket.destroyed;
}

/** From here on the client has to take what it is sent. Node ends the watch with the answer. */
export function watchProgress(socket: Socket): void {
  // Counts as progress whatever the kernel takes, also of one long piece.
  socket.setTimeout(stalledMsMax);
}

/** Bounds what is held of long answers until their readers have taken them: of all, and of one reader's. */
export class HeldAnswers {
  readonly #bytesMax: number;
  readonly #readerBytesMax: number;
  #bytes = 0;
  readonly #bytesByReader = new Map<string, number>();

  constructor(bytesMax: number, readerBytesMax = bytesMax) {
    this.#bytesMax = bytesMax;
    this.#readerBytesMax = readerBytesMax;
  }

  /**
   * Whether there is room for an answer, or for so many bytes of one; it counts until it is sent whole, or
   * its connection is gone.
   */
  hold(response: ServerResponse, answer: string | number, reader: string): boolean {
    if (typeof answer === "string" && answer.length * utf8BytesMax < longAnswerBytes) return true;
    const bytes = typeof answer === "string" ? Buffer.byteLength(answer) : answer;
    if (bytes < longAnswerBytes || isOver(response)) return true;
    if (this.#bytes + bytes > this.#bytesMax && this.#bytes > 0) return false;
    const held = this.#bytesByReader.get(reader) ?? 0;
    if (held + bytes > this.#readerBytesMax && held > 0) return false;
    this.#add(reader, bytes);
    response.once("close", () => {
      this.#add(reader, -bytes);
    });
    return true;
  }

  #add(reader: string, bytes: number): void {
    this.#bytes += bytes;
    const held = (this.#bytesByReader.get(reader) ?? 0) + bytes;
    if (held > 0) this.#bytesByReader.set(reader, held);
    else this.#bytesByReader.delete(reader);
  }
}

/** Aborts when an answer is over: sent whole, or its connection gone. */
export function whenClosed(response: ServerResponse): AbortSignal {
  const over = new AbortController();
  if (isOver(response)) over.abort();
  else
    response.once("close", () => {
      over.abort();
    });
  return over.signal;
}

/** Whether no request has come behind that of an answer: a connection that ends with it loses none. */
export function isLatest(response: ServerResponse): boolean {
  return exchangesOn(response.req.socket).latest === response;
}

/**
 * Acts once the answers to all requests before are sent, and not at all where the connection ends with them:
 * for an upgrade, whose connection Node lets go of whatever is still under way on it.
 */
export function afterAnswers(server: Server, socket: Duplex, act: () => void): void {
  const exchanges = exchangesOn(socket);
  // No answer is the last thing on this connection any more.
  exchanges.latest = null;
  const last = unansweredOf(exchanges).at(-1);
  if (last === undefined) {
    act();
    return;
  }
  // What Node listens for as long as it has the connection.
  const listeners = {
    drain: () => unansweredOf(exchanges)[0]?.emit("drain"),
    timeout: () => server.emit("timeout", socket),
    error: () => socket.destroy(),
  };
  for (const [event, listener] of Object.entries(listeners)) socket.on(event, listener);
  last.once("close", () => {
    // One that is over may still break.
    if (!socket.writable) return;
    for (const [event, listener] of Object.entries(listeners)) socket.off(event, listener);
    act();
  });
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
  const { latest } = exchanges;
  const unanswered = unansweredOf(exchanges);
  const broken = latest?.req.complete === false ? latest : null;
  const isAnswered = broken !== null && !unanswered.includes(broken);
  const earlier = new Set(unanswered.filter((response) => response !== broken));
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
