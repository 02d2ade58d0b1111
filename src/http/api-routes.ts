// The routes of the API, made from the table in contract/routes.ts: admit, read the body, dispatch, answer.
import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { routeList } from "../contract/routes.ts";
import { overloadRefusal } from "../core/errors.ts";
import { pacedAs, rejectionOf, type PacedKind } from "./admission.ts";
import { answerRefusal } from "./answer-refusal.ts";
import { isCancelled, isOver, whenClosed } from "./exchanges.ts";
import { asIncomingRequest } from "./incoming-request.ts";
import { refuseOtherMethods } from "./other-methods.ts";
import type { PacedRejections } from "./paced-rejections.ts";
import type { PathParameters } from "./path-parameters.ts";
import { asRefusal } from "./problems.ts";
import { RequestBodies } from "./request-bodies.ts";
import { newNotes, type RequestNotes } from "./request-notes.ts";
import { ResponseBuffer } from "./response-buffer.ts";
import { dispatch, type Dispatcher } from "./route-dispatch.ts";

const bufferedBodyBytesMax = 128 * 1024 * 1024;
const bufferedAnswerBytesMax = 128 * 1024 * 1024;
/** Of answers that are streamed, apart from the others: one kind can't keep out the other. */
const bufferedNdjsonBytesMax = 128 * 1024 * 1024;
/** Of one organization, so that it can't keep out the others. */
const bufferedNdjsonBytesPerOrganization = bufferedNdjsonBytesMax / 4;
/** What one streamed answer buffers while its reader does not read: pieces read ahead, as rows and as text. */
const ndjsonBytes = 4 * 1024 * 1024;
/** How many of them one organization may read at a time. */
export const ndjsonAnswersPerOrganization = bufferedNdjsonBytesPerOrganization / ndjsonBytes;

/** What the routes share: how requests are answered, and how much of them is kept in memory. */
interface ApiServices {
  readonly dispatcher: Dispatcher;
  readonly bodies: RequestBodies;
  readonly answers: ResponseBuffer;
  readonly ndjsonAnswers: ResponseBuffer;
}

/** Each kind at a rate of its own. */
export type Rejections = Readonly<Record<PacedKind, PacedRejections>>;

/** Adds every route of the table, and 405 for the other methods of its paths. */
export function addApiRoutes(
  app: FastifyInstance,
  { dispatcher, bodyBytesMax }: { dispatcher: Dispatcher; bodyBytesMax: number },
  rejections: Rejections,
): void {
  const api: ApiServices = {
    dispatcher,
    bodies: new RequestBodies({
      bodyBytesMax,
      bufferedBytesMax: Math.max(bufferedBodyBytesMax, 8 * bodyBytesMax),
    }),
    answers: new ResponseBuffer(bufferedAnswerBytesMax),
    ndjsonAnswers: new ResponseBuffer(bufferedNdjsonBytesMax, bufferedNdjsonBytesPerOrganization),
  };
  const methodsByPath = new Map<string, string[]>();
  for (const route of routeList) {
    const url = route.path.replace(/\{(\w+)\}/g, ":$1");
    methodsByPath.set(url, [...(methodsByPath.get(url) ?? []), route.method]);
    app.route({
      method: route.method,
      url,
      onRequest: (request, _reply, done) => {
        const { params, raw, notes } = request;
        const { services } = dispatcher;
        const rejection = rejectionOf(services, route, params as PathParameters, raw.socket);
        if (rejection !== null && notes) notes.route = route.name;
        done(rejection ?? undefined);
      },
      handler: (request, reply) => answer(api, route, request, reply),
      errorHandler: (error, request, reply) => {
        const refuse = () => {
          // What follows a request that breaks off while its rejection waits is answered already.
          if (isCancelled(reply.raw)) reply.hijack();
          else answerRefusal(error, request, reply);
        };
        const paced = pacedAs(error, request.raw.socket);
        if (paced === null) refuse();
        else rejections[paced].schedule(reply.raw, refuse);
      },
    });
  }
  for (const [url, methods] of methodsByPath) refuseOtherMethods(app, url, methods);
}

async function answer(
  { dispatcher, bodies, answers, ndjsonAnswers }: ApiServices,
  { name, isText }: (typeof routeList)[number],
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const notes = (request.notes ??= newNotes());
  notes.route = name;
  notes.body = await bodies.read(asIncomingRequest(request.raw), reply.raw);
  // The last bytes of a request may come after its client was answered 408.
  if (isCancelled(reply.raw)) return reply.hijack();
  const { status, body } = await dispatch(
    dispatcher,
    name,
    {
      id: request.id,
      method: request.method,
      target: request.raw.url ?? "",
      headers: request.headers,
      parameters: request.params as PathParameters,
      body: notes.body,
      gone: () => whenClosed(reply.raw),
    },
    notes,
  );
  const reader = notes.caller?.organizationId ?? "";
  const isNdjson = typeof body !== "string";
  const isBuffered = isNdjson
    ? ndjsonAnswers.reserve(reply.raw, ndjsonBytes, reader)
    : answers.reserve(reply.raw, body, reader);
  // What a write did has to be answered; a read can be sent again.
  if (!isBuffered && request.method === "GET") {
    // It was read, and whoever reads no answers is not to read for nothing.
    notes.tokensTaken = 0;
    throw overloadRefusal("too many answers wait for their readers");
  }
  return isNdjson
    ? reply
        .code(status)
        .type("application/x-ndjson; charset=utf-8")
        .send(linesOf(body, notes, reply.raw))
    : reply
        .code(status)
        .type(isText === true ? "text/plain; charset=utf-8" : "application/json; charset=utf-8")
        .send(body);
}

/** The lines of an answer. Where they break off behind its head, it is over, and the hook for that has the reason. */
function linesOf(
  body: AsyncIterable<Uint8Array>,
  notes: RequestNotes,
  response: ServerResponse,
): Readable {
  const lines = Readable.from(body, { highWaterMark: 1 });
  lines.once("error", (error) => {
    if (!response.headersSent || isOver(response)) return;
    notes.refusal = asRefusal(error);
    // Of an answer that is destroyed, Node tells nobody; Fastify destroys it next.
    response.emit("error", error);
  });
  return lines;
}
