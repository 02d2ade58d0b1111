// The OpenAPI document, made from the table of routes.
import { problemKinds, type ProblemName } from "../../core/errors.ts";
import { labelCodePointsMax } from "../../core/text.ts";
import { assetCodePattern } from "../../core/asset.ts";
import { logKinds } from "../../core/log-origin.ts";
import { withoutControls } from "../wallet-body.ts";
import { problemReply } from "../replies.ts";
import { walletErrorReply } from "../wallet-replies.ts";
import { routeList } from "../routes.ts";
import { codeSamples } from "./code-samples.ts";
import { memberExamples } from "./example-values.ts";
import { exampleOf } from "./examples.ts";
import { memberDescriptions } from "./member-descriptions.ts";
import { NamedSchemas, type Json } from "./named-schemas.ts";
import { errorsOf, problemMeanings, type DocumentedRoute } from "./route-errors.ts";
import { tagOf, tagsOf } from "./tags.ts";

export interface ApiFacts {
  readonly version: string;
  readonly clockWindowSeconds: number;
  /** What the server does not take more of, a sentence each. */
  readonly limits: readonly string[];
}

/** OpenAPI 3.1 of the whole API. */
export function openApiDocument(facts: ApiFacts): Json {
  const schemas = new NamedSchemas();
  const problem = schemas.schemaOf(problemReply, "output");
  const walletError = schemas.schemaOf(walletErrorReply, "output");
  const paths: Record<string, Json> = {};
  for (const route of routeList) {
    // Wallet paths have one message for what is wrong, all others a problem.
    const isWallet = route.path.startsWith("/v1/wallets/");
    const refusal = isWallet
      ? { "application/json": { schema: walletError } }
      : { "application/problem+json": { schema: problem } };
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: operation(route, schemas, refusal),
    };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "ledgerctl",
      version: facts.version,
      summary: "A double-entry ledger and wallet service",
      description: description(facts),
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "the server that gave out this document" }],
    security: [{ apiKey: [] }],
    tags: tagsOf(routeList),
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: "http", scheme: "bearer", description: signing(facts) },
      },
      headers: headers,
      schemas: schemas.named,
    },
  };
}

/** What every request carries, and what of it is signed. */
function signing({ clockWindowSeconds }: ApiFacts): string {
  return (
    "Every request carries `Authorization: Bearer` with the API key; `X-Timestamp`, the time in Unix seconds, within " +
    `${clockWindowSeconds} s of the server's clock; and \`X-Signature\`, the HMAC-SHA256 in hex, keyed with the API secret, of\n\n` +
    "```\n<X-Timestamp>\\n<METHOD>\\n<request target with query>\\n<raw body>\n```"
  );
}

function description(facts: ApiFacts): string {
  const limits = facts.limits.map((limit) => `- ${limit}`).join("\n");
  return (
    "Amounts are integers in the smallest unit of their currency, as strings; debits are positive. A member that is " +
    "null on input counts as absent. Unknown members of a body are refused; unknown query parameters are ignored.\n\n" +
    `## Signing\n\n${signing(facts)}\n\n## Limits\n\n${limits}`
  );
}

function operation(route: DocumentedRoute, schemas: NamedSchemas, refusal: Json): Json {
  const example = exampleOf(route, schemas);
  const { name, body, summary, scope } = route;
  return {
    operationId: name,
    tags: [tagOf(route)],
    summary,
    description: `Needs a key with the scope \`${scope}\`.`,
    parameters: [
      ...pathParameters(route),
      ...signatureHeaders,
      ...queryParameters(route, schemas, example.query),
    ],
    ...(body === null
      ? {}
      : {
          requestBody: {
            required: !body.optional,
            content: {
              "application/json": {
                schema: schemas.schemaOf(body.schema, "input"),
                example: example.body,
              },
            },
          },
        }),
    responses: {
      ...replies(route, schemas, example.reply),
      ...refusals(route, refusal),
      // An upgrade has no answer of 200, of which tools ask one: whatever else is answered is a refusal.
      ...(route.status === 101
        ? { default: { description: "A refusal", headers: usualHeaders, content: refusal } }
        : {}),
    },
    "x-codeSamples": codeSamples(route, example, pathExamples),
  };
}

function replies(route: DocumentedRoute, schemas: NamedSchemas, example: unknown): Json {
  const { status, reply, atomic } = route;
  return {
    [status]: {
      description: status === 101 ? "The stream; each message is one of these" : "Done",
      headers: usualHeaders,
      content: { [contentTypeOf(route)]: { schema: schemas.schemaOf(reply, "output"), example } },
    },
    ...(atomic === undefined
      ? {}
      : {
          [atomic.status]: {
            description: "Done, where the body says atomic",
            headers: usualHeaders,
            content: { "application/json": { schema: schemas.schemaOf(atomic.reply, "output") } },
          },
        }),
  };
}

function contentTypeOf(route: DocumentedRoute): string {
  if (route.isNdjson === true) return "application/x-ndjson";
  return route.isText === true ? "text/plain" : "application/json";
}

/** By their statuses, each with all that it may mean, in the order of precedence. */
function refusals(route: DocumentedRoute, content: Json): Json {
  const byStatus = new Map<number, ProblemName[]>();
  for (const problem of errorsOf(route)) {
    const { status } = problemKinds[problem];
    byStatus.set(status, [...(byStatus.get(status) ?? []), problem]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, problems]) => [
      status,
      {
        description: problems.map(meaningOf).join("\n\n"),
        headers: { ...usualHeaders, ...refusalHeaders[status] },
        content,
      },
    ]),
  );
}

function meaningOf(problem: ProblemName): string {
  const { code, title } = problemKinds[problem];
  return `${code === null ? title : `\`${code}\``}: ${problemMeanings[problem]}`;
}

const text = { schema: { type: "string" } };

const headers = {
  RequestId: {
    description: "The request's id, which the server's log has, too",
    schema: { type: "string", format: "uuid" },
  },
  RetryAfter: {
    description: "Seconds until it is worth trying again",
    schema: { type: "integer", minimum: 0 },
  },
  RateLimitPolicy: { description: "The rate limit of the key", ...text },
  RateLimit: { description: "What is left of it", ...text },
  Authenticate: { description: "Bearer", ...text },
};

const reference = (name: keyof typeof headers) => ({ $ref: `#/components/headers/${name}` });
const usualHeaders = { "X-Request-Id": reference("RequestId") };
const refusalHeaders: Readonly<Record<number, Json>> = {
  401: { "WWW-Authenticate": reference("Authenticate") },
  429: {
    "Retry-After": reference("RetryAfter"),
    "RateLimit-Policy": reference("RateLimitPolicy"),
    RateLimit: reference("RateLimit"),
  },
  503: { "Retry-After": reference("RetryAfter") },
};

const signatureHeaders = [
  {
    name: "X-Timestamp",
    in: "header",
    required: true,
    description: "the time in Unix seconds",
    schema: { type: "string", pattern: "^[0-9]{1,15}$" },
    example: "1767225600",
  },
  {
    name: "X-Signature",
    in: "header",
    required: true,
    description: "the signature in hex",
    schema: { type: "string", pattern: "^[0-9A-Fa-f]{64}$" },
    example: "c339c0242863a3835553d5d084bf950053e6ac3d09c9898b7266362265b68bab",
  },
];

function pathParameters(route: DocumentedRoute): Json[] {
  return [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    description: pathDescriptions[name] ?? memberDescriptions[name] ?? "an id",
    schema: parameterSchemas[name] ?? { type: "string", format: "uuid" },
    ...(pathExamples[name] === undefined ? {} : { example: pathExamples[name] }),
  }));
}

const pathDescriptions: Readonly<Record<string, string>> = {
  closeId: "the close's id",
  entryId: "the entry's journalId",
  holdId: "the hold's id",
  log: "which of the ledger's two logs",
  walletKey: "the ledger's id, a colon, and the caller's own name of the wallet",
};

/** Of parts of a path that are no id. */
const parameterSchemas: Readonly<Record<string, Json>> = {
  walletKey: {
    type: "string",
    // A UUID and a colon before the callerKey.
    maxLength: 37 + labelCodePointsMax,
    pattern: `^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}:${withoutControls.slice(1, -2)}+$`,
  },
  log: { type: "string", enum: logKinds },
  glAccountCode: { type: "string", minLength: 1, maxLength: labelCodePointsMax },
  assetCode: { type: "string", pattern: assetCodePattern.source },
};

const pathExamples = Object.fromEntries(
  Object.entries(memberExamples)
    .map(([name, [value]]) => [name, value] as const)
    .filter(([, value]) => typeof value === "string"),
) as Readonly<Record<string, string>>;

function queryParameters(route: DocumentedRoute, schemas: NamedSchemas, examples: Json): Json[] {
  const schema = schemas.schemaOf(route.query, "input");
  const required = new Set((schema["required"] as string[] | undefined) ?? []);
  return Object.entries((schema["properties"] as Record<string, Json> | undefined) ?? {}).map(
    ([name, { description: meaning, ...parameter }]) => ({
      name,
      in: "query",
      required: required.has(name),
      ...(meaning === undefined ? {} : { description: meaning }),
      schema: parameter,
      ...(name in examples ? { example: examples[name] } : {}),
    }),
  );
}
