// An example of a request and its reply for each route of the table, made from schemas and the values of members.
import type { DocumentedRoute } from "./route-errors.ts";
import { memberExamples, routeExamples } from "./example-values.ts";
import type { Json, NamedSchemas } from "./named-schemas.ts";

export interface Example {
  readonly query: Json;
  /** Undefined where the route has none. */
  readonly body: unknown;
  /** A text where the reply is one. */
  readonly reply: unknown;
}

/** A request that the route takes, and a reply that it gives. */
export function exampleOf(route: DocumentedRoute, schemas: NamedSchemas): Example {
  const given = routeExamples[route.name] ?? {};
  const make = (schema: Json, isWhole: boolean) => new ExampleMaker(schemas, isWhole).make(schema);
  const isText = route.isText === true || route.isNdjson === true;
  return {
    query: given.query ?? (make(schemas.schemaOf(route.query, "input"), false) as Json),
    body:
      route.body === null
        ? undefined
        : (given.body ?? make(schemas.schemaOf(route.body.schema, "input"), false)),
    reply: isText
      ? (given.text ?? "")
      : (given.reply ?? make(schemas.schemaOf(route.reply, "output"), true)),
  };
}

class ExampleMaker {
  readonly #schemas: NamedSchemas;
  /** Replies have every member; requests what they need, and an externalId. */
  readonly #isWhole: boolean;

  constructor(schemas: NamedSchemas, isWhole: boolean) {
    this.#schemas = schemas;
    this.#isWhole = isWhole;
  }

  /** A value of a schema; `name` is the member that has it. */
  make(reference: Json, name = ""): unknown {
    const schema = this.#schemas.resolve(reference);
    const known = (memberExamples[name] ?? []).find((value) => this.#fits(value, schema));
    if (known !== undefined) return known;
    if ("const" in schema) return schema["const"];
    const options = (schema["enum"] ?? schema["anyOf"]) as unknown[] | undefined;
    if ("enum" in schema) return options?.[0];
    if (options !== undefined) return this.make(options[0] as Json, name);
    switch (typesOf(schema)[0]) {
      case "array":
        return [this.make(schema["items"] as Json)];
      case "object":
        return this.#makeObject(schema);
      case "integer":
      case "number":
        return schema["minimum"] ?? 1;
      case "boolean":
        return true;
      default:
        return "text";
    }
  }

  #makeObject({ properties = {}, required = [] }: Json): Json {
    const needed = new Set(
      this.#isWhole ? Object.keys(properties as Json) : (required as string[]),
    );
    if (!this.#isWhole) needed.add("externalId");
    return Object.fromEntries(
      Object.entries(properties as Record<string, Json>)
        .filter(([name]) => needed.has(name) && (!this.#isWhole || isAlwaysThere(required, name)))
        .map(([name, member]) => [name, this.make(member, name)]),
    );
  }

  /** Whether a value is one of the schema's, as far as members by one name differ. */
  #fits(value: unknown, reference: Json): boolean {
    const schema = this.#schemas.resolve(reference);
    if (Array.isArray(schema["anyOf"])) {
      return schema["anyOf"].some((option: Json) => this.#fits(value, option));
    }
    if ("const" in schema) return value === schema["const"];
    if (Array.isArray(schema["enum"])) return schema["enum"].includes(value);
    return typesOf(schema).some((type) => this.#isOfType(value, type, schema));
  }

  #isOfType(value: unknown, type: string, schema: Json): boolean {
    switch (type) {
      case "array":
        return (
          Array.isArray(value) && value.every((item) => this.#fits(item, schema["items"] as Json))
        );
      case "object":
        return isObject(value) && this.#hasMembers(value, schema);
      case "integer":
        return Number.isInteger(value);
      case "null":
        return value === null;
      case "string":
        return typeof value === "string" && matches(value, schema);
      default:
        return typeof value === type;
    }
  }

  #hasMembers(value: Json, schema: Json): boolean {
    const properties = schema["properties"] as Record<string, Json> | undefined;
    // Metadata takes any.
    if (properties === undefined) return true;
    const required = (schema["required"] as string[] | undefined) ?? [];
    return (
      required.every((name) => name in value) &&
      Object.entries(value).every(
        ([name, member]) => name in properties && this.#fits(member, properties[name] ?? {}),
      )
    );
  }
}

function typesOf({ type }: Json): readonly string[] {
  return [type ?? "any"].flat() as string[];
}

/** What a reply has only sometimes is left out of its example. */
function isAlwaysThere(required: unknown, name: string): boolean {
  return (required as string[]).includes(name);
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function matches(value: string, { pattern, format }: Json): boolean {
  if (format === "uuid" && !/^[0-9a-f-]{36}$/.test(value)) return false;
  return typeof pattern !== "string" || new RegExp(pattern, "u").test(value);
}
