// What is under way on one connection, in the order of its requests (RFC 9112, section 9.3.2): which answers are not
// sent yet, which of them is the last, and which requests must have no effect. What they mean is not known here.
import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** How long a connection may last on which something came that is no request. */
const brokenMsMax = 30_000;
/** How long the rest of what a client sends is still taken in after an answer that ends the connection. */
export const lingerMs = 1_000;

export interface Exchanges {
  /** Answers in the order of their requests; those that the client has got whole are dropped when others come. */
  answers: ServerResponse[];
  latest: ServerResponse | null;
  /** The answer that says `Connection: close`: what comes after its request is not started. */
  last: ServerResponse | null;
  /** Whether something came that is no request: nothing that comes after it is one. */
  isBroken: boolean;
  /** The first characters on the connection, until they are a request. */
  opening: string | null;
  /** Answers to requests that have been read and are not begun yet. */
  readonly waiting: ServerResponse[];
  /** Whether the connection is paused until all that wait are begun; a body that nobody reads yet pauses it without this. */
  isPaused: boolean;
}

/** On the socket itself: a look-up by weak reference, several a request, cost more than the rest of the watch. */
const exchangesKey = Symbol("exchanges");

type WatchedSocket = Duplex & { [exchangesKey]?: Exchanges | undefined };

const cancelled = new WeakSet<ServerResponse>();

export function exchangesOf(socket: Duplex): Exchanges {
  return ((socket as WatchedSocket)[exchangesKey] ??= {
    answers: [],
    latest: null,
    last: null,
    isBroken: false,
    opening: null,
    waiting: [],
    isPaused: false,
  });
}

/** Answers whose end somebody waits for, to cancel what is done for them. */
const awaited = new WeakSet<ServerResponse>();

export function isAwaited(response: ServerResponse): boolean {
  return awaited.has(response);
}

/** Whether a connection came before: one whose upgrade was not taken comes a second time. */
export function isKnown(socket: Duplex): boolean {
  return exchangesKey in socket;
}

/** Notes a request that came, by its answer. */
export function noteRequest(response: ServerResponse): void {
  const exchanges = exchangesOf(response.req.socket);
  exchanges.opening = null;
  if (exchanges.last !== null || exchanges.isBroken) {
    cancelled.add(response);
    return;
  }
  while (exchanges.answers[0]?.closed === true) exchanges.answers.shift();
  exchanges.answers.push(response);
  exchanges.latest = response;
}

/** Whether a request must have no effect: it came after the last one of its connection, or broke off. */
export function isCancelled(response: ServerResponse): boolean {
  return cancelled.has(response);
}

/**
 * Whether an answer, about to be sent, is the last one of its connection and has to say so. With `mayEnd` it becomes
 * the last unless another request has come by now: that one would be lost.
 */
export function isLast(response: ServerResponse, mayEnd: boolean): boolean {
  const exchanges = exchangesOf(response.req.socket);
  if (mayEnd && exchanges.latest === response && !exchanges.isBroken) exchanges.last ??= response;
  return exchanges.last === response;
}

/** Answers that the client has not got whole. */
export function unansweredOf(exchanges: Exchanges): ServerResponse[] {
  exchanges.answers = exchanges.answers.filter(({ closed }) => !closed);
  return exchanges.answers;
}

/** Tells who waits for an answer that its connection is gone: Node tells only who waits for the next to be sent. */
export function closeQueued(exchanges: Exchanges): void {
  for (const response of unansweredOf(exchanges)) {
    if (response.socket === null) response.emit("close");
  }
}

/** Whether an answer is sent whole, or its connection gone: it emits no further event. */
export function isOver(response: ServerResponse): boolean {
  return response.closed || response.req.socket.destroyed;
}

/** Aborts when an answer is over: sent whole, or its connection gone. */
export function whenClosed(response: ServerResponse): AbortSignal {
  const over = new AbortController();
  awaited.add(response);
  if (isOver(response)) over.abort();
  else
    response.once("close", () => {
      over.abort();
    });
  return over.signal;
}

/**
 * Acts once the answers to all requests before are sent, and not at all where the connection ends with them:
 * for an upgrade, whose connection Node lets go of whatever is still under way on it.
 */
export function afterAnswers(server: Server, socket: Duplex, act: () => void): void {
  const exchanges = exchangesOf(socket);
  // No answer is the last thing on this connection any more.
  exchanges.latest = null;
  // Nor is it ours to pause and resume.
  exchanges.isPaused = false;
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

/**
 * Ends a connection on which something came that is no request. Answers to the requests before it still go
 * out, then `answer` after them: raw bytes of a response that says `Connection: close`.
 */
export function endBroken(socket: Socket, answer: string): void {
  const exchanges = exchangesOf(socket);
  if (exchanges.isBroken) return;
  exchanges.isBroken = true;
  const { latest } = exchanges;
  const unanswered = unansweredOf(exchanges);
  const broken = latest?.req.complete === false ? latest : null;
  if (broken !== null) cancelled.add(broken);
  const isAnswered = broken !== null && !unanswered.includes(broken);
  const lastBefore = unanswered.findLast((response) => response !== broken);
  const cut = setTimeout(() => socket.destroy(), brokenMsMax);
  socket.once("close", () => {
    clearTimeout(cut);
  });
  const end = () => {
    if (!socket.writable) return;
    // Closing while bytes come in would reset the connection, and the answer might be lost with it.
    const letGo = () => setTimeout(() => socket.destroy(), lingerMs).unref();
    if (isAnswered || broken?.headersSent === true) socket.end(letGo);
    else socket.end(answer, letGo);
  };
  if (lastBefore === undefined) end();
  else lastBefore.once("close", end);
}
