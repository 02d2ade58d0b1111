// The OpenAPI document, made from the table of routes.
import { z } from "zod";
import { problemKinds } from "../core/errors.ts";
import { routes, type Route } from "./routes.ts";

type Json = Record<string, unknown>;

/** OpenAPI 3.1 of the whole API. */
export function openApiDocument(version: string): Json {
  const paths: Record<string, Json> = {};
  for (const [name, route] of Object.entries<Route>(routes)) {
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: operation(name, route),
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
      schemas: { Problem: problemSchema },
    },
    security: [{ apiKey: [] }],
  };
}

function operation(name: string, route: Route): Json {
  const problem = {
    description: "A problem",
    content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
  };
  return {
    operationId: name,
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
        description: "Done",
        content: {
          [route.isStream === true ? "application/x-ndjson" : "application/json"]: {
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
      default: problem,
    },
  };
}

const signatureHeaders = [
  { name: "X-Timestamp", in: "header", required: true, schema: { type: "string" } },
  { name: "X-Signature", in: "header", required: true, schema: { type: "string" } },
];

function pathParameters(route: Route): Json[] {
  return [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    // A wallet's key is a ledger's id and the caller's own text.
    schema: name === "walletKey" ? { type: "string" } : { type: "string", format: "uuid" },
  }));
}

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
    },
  });
  // The dialect is said once, by the document's version.
  delete document["$schema"];
  return document;
}

const codes = Object.values(problemKinds).flatMap(({ code }) => code ?? []);

const problemSchema = {
  type: "object",
  required: ["type", "title", "status", "detail", "instance"],
  properties: {
    type: { type: "string", format: "uri" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    instance: { type: "string", format: "uri" },
    code: { type: "string", enum: codes },
    errors: {
      type: "array",
      items: {
        type: "object",
        required: ["detail"],
        properties: {
          detail: { type: "string" },
          pointer: { type: "string" },
          parameter: { type: "string" },
        },
      },
    },
    journalId: { type: "string", format: "uuid" },
    persistedAt: { type: "string", format: "date-time" },
    reversalJournalId: { type: "string", format: "uuid" },
    periodId: { type: "string" },
    closeId: { type: "string", format: "uuid" },
  },
};
