// Writes the types of the wire out for the package's users, from the schemas that they are inferred from: who installs
// the package has no zod. Then removes the declarations that nothing published needs.
import { existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { importSource, root } from "./import-source.js";

/** Replaces `contract/types.d.ts` below `dist/types`, and prunes what `client/ledger-client.d.ts` does not reach. */
export async function publishTypes() {
  const types = join(root, "dist", "types");
  const target = join(types, "contract", "types.d.ts");
  writeFileSync(target, await writtenTypes());
  const needed = reachableFrom(join(types, "client", "ledger-client.d.ts"));
  for (const name of readdirSync(types, { recursive: true })) {
    const path = join(types, name);
    if (statSync(path).isFile() && !needed.has(path)) rmSync(path);
  }
}

/** `export type Name = Reply<typeof schema>;` or the same with Body, for what is sent. */
const inferredLine = /^export type (\w+) = (Reply|Body)<typeof (?:\w+\.)?(\w+)>;$/gm;
const verbatimLine = /^export type \{.*\} from .*;$/gm;

async function writtenTypes() {
  const source = readFileSync(join(root, "src", "contract", "types.ts"), "utf8");
  const { z, ...schemas } = await importSource(`
    export { z } from "zod";
    export * from "./contract/replies.ts";
    export * from "./contract/administration-body.ts";
    export * from "./contract/book-replies.ts";
    export * from "./contract/close-body.ts";
    export * from "./contract/delivery-body.ts";
    export * from "./contract/delivery-replies.ts";
    export * from "./contract/entry-body.ts";
    export * from "./contract/log-replies.ts";
    export * from "./contract/wallet-body.ts";
    export * from "./contract/wallet-replies.ts";
    export * from "./contract/wallet-transfers-body.ts";`);
  const registries = { Reply: z.registry(), Body: z.registry() };
  for (const [, name, side, schema] of source.matchAll(inferredLine)) {
    registries[side].add(schemas[schema], { id: name });
  }
  const toTypes = (registry, io) =>
    z.toJSONSchema(registry, {
      io,
      uri: (id) => id,
      unrepresentable: "any",
      override: ({ zodSchema, jsonSchema }) => {
        const { type } = zodSchema._zod.def;
        if (type === "bigint") jsonSchema.type = "bigint";
        if (type === "custom") jsonSchema.type = "JsonObject";
      },
    }).schemas;
  const replies = Object.entries(toTypes(registries.Reply, "output"));
  const bodies = Object.entries(toTypes(registries.Body, "input"));
  return [
    ...source.match(verbatimLine),
    'import type { JsonObject } from "../core/journal.ts";',
    ...replies.map(([name, schema]) => `export type ${name} = ${typeOf(schema, "")};`),
    ...bodies.map(([name, schema]) => `export type ${name} = ${typeOf(schema, " | undefined")};`),
  ].join("\n");
}

const plainKinds = new Set(["string", "number", "boolean", "null", "bigint", "JsonObject"]);

/** A JSON Schema as a type. `absent` is what an optional member may be besides being left out. */
function typeOf(schema, absent) {
  if (schema.$ref !== undefined) return schema.$ref;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined)
    return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.anyOf !== undefined)
    return schema.anyOf.map((option) => typeOf(option, absent)).join(" | ");
  if (schema.type === "array") return `readonly (${typeOf(schema.items, absent)})[]`;
  if (schema.type === "object") return objectOf(schema, absent);
  if (schema.type === "integer") return "number";
  const kinds = [schema.type].flat();
  if (kinds.every((kind) => plainKinds.has(kind))) return kinds.join(" | ");
  throw new Error(`no type is known for the schema ${JSON.stringify(schema)}`);
}

function objectOf({ properties, required = [] }, absent) {
  const members = Object.entries(properties).map(([name, member]) => {
    const comment = member.description === undefined ? "" : `/** ${member.description} */\n`;
    const type = typeOf(member, absent);
    return required.includes(name)
      ? `${comment}readonly ${name}: ${type};`
      : `${comment}readonly ${name}?: ${type}${absent};`;
  });
  return `{\n${members.join("\n")}\n}`;
}

function reachableFrom(path, reached = new Set()) {
  if (reached.has(path)) return reached;
  reached.add(path);
  for (const [, specifier] of readFileSync(path, "utf8").matchAll(/from "([^"]+)"/g)) {
    if (!specifier.startsWith(".")) throw new Error(`${relative(".", path)} needs ${specifier}`);
    const next = join(dirname(path), specifier.replace(/\.[jt]s$/, ".d.ts"));
    if (!existsSync(next)) throw new Error(`${relative(".", path)} needs ${specifier}`);
    reachableFrom(next, reached);
  }
  return reached;
}
