// JSON Schema of what travels, objects that have a name said once and referred to.
import * as z from "zod";
import { accountBody, assetRuleBody } from "../administration-body.ts";
import { closeBody } from "../close-body.ts";
import { deliveryBody } from "../delivery-body.ts";
import { entryBody, lineBody, reversalBody } from "../entry-body.ts";
import { timestamp, withoutNul } from "../field-schemas.ts";
import { metadataBytesMax, metadataDepthMax } from "../metadata.ts";
import * as bookReplies from "../book-replies.ts";
import * as deliveryReplies from "../delivery-replies.ts";
import * as logReplies from "../log-replies.ts";
import * as replies from "../replies.ts";
import * as walletReplies from "../wallet-replies.ts";
import { bulkMovement, movementBody, reserveBody } from "../wallet-body.ts";
import { transferBody } from "../wallet-transfers-body.ts";
import { memberDescriptions } from "./member-descriptions.ts";

export type Json = Record<string, unknown>;

/** What is sent, by the names that the package's types have. */
const inputs: Readonly<Record<string, z.ZodType>> = {
  Timestamp: timestamp,
  AccountInput: accountBody,
  AssetRuleInput: assetRuleBody,
  EntryInput: entryBody,
  EntryLineInput: lineBody,
  ReversalInput: reversalBody,
  CloseInput: closeBody,
  DeliveryInput: deliveryBody,
  MovementInput: movementBody,
  BulkMovementInput: bulkMovement,
  ReserveInput: reserveBody,
  TransferInput: transferBody,
};

/** Replies whose types have another name than the schema's, as contract/types.ts has them. */
const otherNames: Readonly<Record<string, string>> = {
  balanceReply: "AccountBalance",
  receiptReply: "EntryReceipt",
  balanceRowReply: "CloseBalance",
  balanceTotalsReply: "TrialBalanceTotals",
  walletReply: "WalletResult",
  reserveReply: "ReserveResult",
  walletHistoryReply: "WalletLogPage",
  postedWritesReply: "PostedWritePage",
  bulkReply: "BulkResult",
  freezeReply: "FreezeResult",
  transferReply: "TransferResult",
  transfersReply: "TransfersResult",
  walletRowReply: "Wallet",
  entriesReply: "BulkEntriesResult",
  atomicEntriesReply: "AtomicEntriesResult",
};

const allReplies = {
  ...replies,
  ...bookReplies,
  ...deliveryReplies,
  ...logReplies,
  ...walletReplies,
};

const names = new Map<unknown, string>([
  ...Object.entries(allReplies).flatMap(([name, schema]): [unknown, string][] =>
    isObject(schema) ? [[schema, otherNames[name] ?? typeName(name)]] : [],
  ),
  ...Object.entries(inputs).map(([name, schema]): [unknown, string] => [schema, name]),
]);

function isObject(schema: z.ZodType): boolean {
  return ["object", "union"].includes(schema._zod.def.type);
}

/** `entryPageReply` is `EntryPage`. */
function typeName(name: string): string {
  const bare = name.replace(/Reply$/, "");
  return bare.charAt(0).toUpperCase() + bare.slice(1);
}

/** Schemas of a document, and those with a name that they refer to. */
export class NamedSchemas {
  readonly #named: Record<string, Json> = { ...metadataSchemas };

  /** The named ones by now, in the order of their names. */
  get named(): Record<string, Json> {
    return Object.fromEntries(Object.entries(this.#named).sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** What is read (`input`) or answered (`output`); a reference where it has a name. */
  schemaOf(schema: z.ZodType, io: "input" | "output"): Json {
    const document = z.toJSONSchema(z.object({ it: schema }), {
      io,
      unrepresentable: "any",
      metadata: withNames,
      override: ({ zodSchema, jsonSchema }) => {
        describeType(zodSchema, jsonSchema);
      },
    }) as unknown as { properties: { it: Json }; $defs?: Record<string, Json> };
    for (const [name, named] of Object.entries(document.$defs ?? {})) {
      this.#named[name] ??= referring(withDescriptions(named));
    }
    return referring(withDescriptions(document.properties.it));
  }

  /** The schema itself, where this one is a reference to it. */
  resolve(schema: Json): Json {
    const name = /^#\/components\/schemas\/(\w+)$/.exec(String(schema["$ref"]))?.[1];
    if (name === undefined) return schema;
    const named = this.#named[name];
    if (named === undefined) throw new Error(`the document has a schema ${name}`);
    return named;
  }
}

/** What a schema says of itself, and its name. */
class WithNames extends z.core.$ZodRegistry<z.core.GlobalMeta> {
  override get<Schema extends z.core.$ZodType>(
    schema: Schema,
  ): z.core.$replace<z.core.GlobalMeta, Schema> | undefined {
    const own = z.globalRegistry.get(schema);
    const id = names.get(schema);
    return id === undefined ? own : { ...own, id };
  }
}

const withNames = new WithNames();

function describeType(schema: z.core.$ZodType, target: z.core.JSONSchema.BaseSchema): void {
  const { type } = schema._zod.def;
  // JSON knows one kind of number; a bigint is one without a bound.
  if (type === "bigint") target.type = "integer";
  // That a number is an integer which JavaScript can hold is no limit of the API's.
  if (target.minimum === Number.MIN_SAFE_INTEGER) delete target.minimum;
  if (type === "number" && target.maximum === Number.MAX_SAFE_INTEGER) delete target.maximum;
  // Metadata is checked by hand.
  if (type === "custom") target.$ref = "#/components/schemas/Metadata";
  // What is left out is as good as null; generators would take a default for a member that is always there.
  if (type === "default") delete target.default;
}

const metadataValue = { $ref: "#/components/schemas/MetadataValue" };

const metadataMembers = {
  type: "object",
  propertyNames: { pattern: withoutNul },
  additionalProperties: metadataValue,
};

/** By hand: its own check is code. */
const metadataSchemas: Readonly<Record<string, Json>> = {
  Metadata: {
    description:
      `any JSON object of at most ${metadataBytesMax / 1024} KiB, nested at most ${metadataDepthMax} deep, ` +
      "whose numbers a double holds exactly; its keys may come back in another order",
    ...metadataMembers,
  },
  MetadataValue: {
    description: "a value in metadata",
    anyOf: [
      { type: ["null", "boolean", "number"] },
      { type: "string", pattern: withoutNul },
      { type: "array", items: metadataValue },
      metadataMembers,
    ],
  },
};

/** References point into the document that the schemas become part of. */
function referring(schema: Json): Json {
  return JSON.parse(
    JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'),
  ) as Json;
}

/** What members mean, where their schemas don't tell. */
function withDescriptions(schema: Json): Json {
  return mapObjects(schema, (object) => {
    const properties = object["properties"] as Record<string, Json> | undefined;
    if (properties === undefined) return object;
    const described = Object.entries(properties).map(([name, member]) => {
      const description = member["description"] ?? memberDescriptions[name];
      return [name, description === undefined ? member : { ...member, description }];
    });
    return { ...object, properties: Object.fromEntries(described) as Json };
  });
}

function mapObjects(value: Json, change: (object: Json) => Json): Json {
  const inside = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(inside);
    return typeof part === "object" && part !== null ? mapObjects(part as Json, change) : part;
  };
  return change(
    Object.fromEntries(Object.entries(value).map(([name, part]) => [name, inside(part)])),
  );
}
