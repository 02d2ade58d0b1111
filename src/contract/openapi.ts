// The OpenAPI document, made from the table of routes.
import * as z from "zod";
import { logKinds } from "../core/log-origin.ts";
import { problemReply, walletErrorReply } from "./replies.ts";
import { routeList } from "./routes.ts";

type Json = Record<string, unknown>;
type Route = (typeof routeList)[number];

/** OpenAPI 3.1 of the whole API. */
export function openApiDocument(version: string): Json {
  const paths: Record<string, Json> = {};
  for (const route of routeList) {
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: operation(route),
    };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "ledgerctl",
      version,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    paths,
    components: {
      securitySchemes: {
        apiKey: {
          type: "http",
          scheme: "bearer",
          description:
            "Every request also carries X-Timestamp (Unix seconds) and X-Signature: the hex " +
            "HMAC-SHA256, keyed with the API secret, of timestamp, method, target and body, joined by line feeds.",
        },
      },
      schemas: {
        Problem: jsonSchema(problemReply, "output"),
        WalletError: jsonSchema(walletErrorReply, "output"),
      },
    },
    security: [{ apiKey: [] }],
  };
}

function operation(route: Route): Json {
  return {
    operationId: route.name,
    summary: route.summary,
    description: `Scope: ${route.scope}`,
    parameters: [...pathParameters(route), ...signatureHeaders, ...queryParameters(route)],
    ...(route.body === null
      ? {}
      : {
          requestBody: {
            required: !route.body.optional,
            content: { "application/json": { schema: jsonSchema(route.body.schema, "input") } },
          },
        }),
    responses: {
      [route.status]: {
        description: route.status === 101 ? "The stream; each message is one of these" : "Done",
        content: {
          [contentTypeOf(route)]: {
            schema: jsonSchema(route.reply, "output"),
          },
        },
      },
      ...(route.atomic === undefined
        ? {}
        : {
            [route.atomic.status]: {
              description: "Done, where the body says atomic",
              content: {
                "application/json": { schema: jsonSchema(route.atomic.reply, "output") },
              },
            },
          }),
      429: { ...refusalOn(route), description: "Over the rate limit", headers: rateLimitHeaders },
      default: refusalOn(route),
    },
  };
}

function contentTypeOf(route: Route): string {
  if (route.isNdjson === true) return "application/x-ndjson";
  return route.isText === true ? "text/plain" : "application/json";
}

/** Wallet paths have one message for what is wrong, all others a problem. */
function refusalOn({ path }: Route): Json {
  const reference = (name: string) => ({ schema: { $ref: `#/components/schemas/${name}` } });
  return path.startsWith("/v1/wallets/")
    ? { description: "An error", content: { "application/json": reference("WalletError") } }
    : { description: "A problem", content: { "application/problem+json": reference("Problem") } };
}

const rateLimitHeaders = {
  "Retry-After": {
    description: "Seconds until it is worth trying again",
    schema: { type: "integer" },
  },
  "RateLimit-Policy": { description: "The rate limit of the key", schema: { type: "string" } },
  RateLimit: { description: "What is left of it", schema: { type: "string" } },
};

const signatureHeaders = [
  { name: "X-Timestamp", in: "header", required: true, schema: { type: "string" } },
  { name: "X-Signature", in: "header", required: true, schema: { type: "string" } },
];

function pathParameters(route: Route): Json[] {
  return [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: parameterSchemas[name ?? ""] ?? { type: "string", format: "uuid" },
  }));
}

/** Of parts of a path that are no id. */
const parameterSchemas: Readonly<Record<string, Json>> = {
  // A ledger's id and the caller's own text.
  walletKey: { type: "string" },
  assetCode: { type: "string" },
  log: { type: "string", enum: logKinds },
  glAccountCode: { type: "string" },
};

function queryParameters(route: Route): Json[] {
  const schema = jsonSchema(route.query, "input");
  const required = new Set((schema["required"] as string[] | undefined) ?? []);
  return Object.entries((schema["properties"] as Record<string, Json> | undefined) ?? {}).map(
    ([name, parameter]) => ({
      name,
      in: "query",
      required: required.has(name),
      schema: parameter,
    }),
  );
}

function jsonSchema(schema: z.ZodType, io: "input" | "output"): Json {
  const document: Json = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema: target }) => {
      // JSON knows one kind of number; a bigint is one without a bound.
      if (zodSchema._zod.def.type === "bigint") target.type = "integer";
      // Metadata is checked by hand; to a schema it is any object.
      if (zodSchema._zod.def.type === "custom") target.type = "object";
      // What is left out is as good as null; generators would take a default for a member that is always there.
      if (zodSchema._zod.def.type === "default") delete target.default;
    },
  });
  // The dialect is said once, by the document's version.
  delete document["$schema"];
  return document;
}
