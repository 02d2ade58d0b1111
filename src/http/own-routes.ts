// The routes that are not the API's: health, readiness, documentation and metrics. None of them is signed.
import { METHODS } from "node:http";
import type { FastifyInstance } from "fastify";
import { openApiDocument } from "../contract/openapi.ts";
import { Refusal } from "../core/errors.ts";
import type { Replica } from "../store/database/replica.ts";
import { retryAfterSeconds } from "./admission.ts";
import { documentationPage } from "./documentation-page.ts";
import { metricsContentType } from "./metrics.ts";
import { isFromLoopback } from "./metrics-server.ts";
import { refuseOtherMethods } from "./other-methods.ts";

export interface OwnRoutesOptions {
  readonly version: string;
  readonly clockWindowSeconds: number;
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
  const { readiness, version, clockWindowSeconds } = options;
  // Made when it is asked for: it would be a twentieth of the work of a start.
  let openApi: string | undefined;
  const page = documentationPage(version, clockWindowSeconds);
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
  app.get("/openapi.json", async (_request, reply) => {
    openApi ??= JSON.stringify(openApiDocument(version));
    return reply.type("application/json").send(openApi);
  });
  app.get("/docs", async (_request, reply) =>
    reply
      .type("text/html; charset=utf-8")
      .header("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'")
      .send(page),
  );
  for (const url of ["/healthz", "/readyz", "/openapi.json", "/docs"]) {
    refuseOtherMethods(app, url, ["GET"]);
  }
  if (options.metrics !== null) addMetrics(app, options.metrics);
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
