// The routes that are not the API's: health, readiness, documentation and metrics. None of them is signed.
import { METHODS } from "node:http";
import type { FastifyInstance } from "fastify";
import { openApiDocument } from "../contract/openapi/document.ts";
import { Refusal } from "../core/errors.ts";
import type { Replica } from "../store/database/replica.ts";
import { retryAfterSeconds } from "./admission.ts";
import { documentedLimits } from "./documented-limits.ts";
import { documentationHeaders, documentationPage } from "./documentation/page.ts";
import { metricsContentType } from "./metrics.ts";
import { isFromLoopback } from "./metrics-server.ts";
import { refuseOtherMethods } from "./other-methods.ts";

export interface OwnRoutesOptions {
  readonly version: string;
  readonly clockWindowSeconds: number;
  readonly bodyBytesMax: number;
  /** Whether the service can take requests, and why not; database nodes that are down although it can. */
  readonly readiness: () => {
    readonly ready: boolean;
    readonly reason: string | null;
    readonly nodesDown: readonly string[];
    readonly replica: Pick<Replica, "unusedFor" | "lagMs"> | null;
  };
  /** The text of `/metrics` for this machine; null where they have an address of their own. */
  readonly metrics: (() => Promise<string>) | null;
}

export function addOwnRoutes(app: FastifyInstance, options: OwnRoutesOptions): void {
  const { readiness } = options;
  app.get("/healthz", async () => ({ status: "ok" }));
  app.get("/readyz", async (_request, reply) => {
    const { ready, reason, nodesDown, replica } = readiness();
    if (!ready) reply.code(503).header("retry-after", retryAfterSeconds());
    const status = ready ? "ready" : "unavailable";
    if (replica === null) return { status, reason, nodesDown };
    const { unusedFor, lagMs } = replica;
    const read = { ready: unusedFor === null, reason: unusedFor, lagSeconds: lagMs / 1000 };
    return { status, reason, nodesDown, replica: read };
  });
  addDocumentation(app, options);
  for (const url of ["/healthz", "/readyz", "/openapi.json", "/docs"]) {
    refuseOtherMethods(app, url, ["GET"]);
  }
  if (options.metrics !== null) addMetrics(app, options.metrics);
}

/** What describes the API, made when it is asked for: it would be a twentieth of the work of a start. */
function addDocumentation(app: FastifyInstance, options: OwnRoutesOptions): void {
  const { version, clockWindowSeconds, bodyBytesMax } = options;
  const limits = documentedLimits(bodyBytesMax);
  // As bytes: whoever asks for them again and again, and reads none, costs neither their encoding nor their memory each time.
  let json: Buffer | undefined;
  let page: Buffer | undefined;
  const document = () => openApiDocument({ version, clockWindowSeconds, limits });
  app.get("/openapi.json", async (_request, reply) => {
    json ??= Buffer.from(JSON.stringify(document()));
    return reply.type("application/json").send(json);
  });
  app.get("/docs", async (_request, reply) => {
    page ??= Buffer.from(documentationPage(document()));
    return reply.type("text/html; charset=utf-8").headers(documentationHeaders).send(page);
  });
}

/** To others than this machine there is nothing here, whatever the method. */
function addMetrics(app: FastifyInstance, metrics: () => Promise<string>): void {
  app.route({
    method: METHODS.filter((method) => method !== "CONNECT"),
    url: "/metrics",
    onRequest: async (request, reply) => {
      if (!isFromLoopback(request.raw)) throw new Refusal("unknownPath", "there is nothing here");
      if (request.method === "GET") return;
      reply.header("allow", "GET");
      throw new Refusal("methodNotAllowed", "only GET is answered here");
    },
    handler: async (_request, reply) => reply.type(metricsContentType).send(await metrics()),
  });
}
