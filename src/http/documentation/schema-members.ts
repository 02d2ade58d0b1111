// A schema as HTML: what a value is in a few words, and the members of objects as a list.
import { withoutNul } from "../../contract/field-schemas.ts";
import { escaped, inline } from "./html.ts";

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
}

/** What a value is: `string, 1 to 256 characters`, a link to an object with a name. */
export function typeText(schema: Schema): string {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.replace(/^.*\//, "");
    return `<a href="#schema-${name}">${name}</a>`;
  }
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeText).join(" or ");
  if (schema.const !== undefined) return `<code>${escaped(JSON.stringify(schema.const))}</code>`;
  if (schema.enum !== undefined) {
    return schema.enum.map((value) => `<code>${escaped(value)}</code>`).join(", ");
  }
  if (schema.type === "array") {
    const count = range(schema.minItems, schema.maxItems);
    return `array of ${count === "" ? "" : `${count} `}${typeText(schema.items ?? {})}`;
  }
  return [[schema.type ?? "any value"].flat().join(" or "), ...bounds(schema)].join(", ");
}

function bounds(schema: Schema): string[] {
  const { minimum, maximum, exclusiveMinimum, minLength, maxLength, pattern } = schema;
  const numbers = range(minimum, maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum);
  const characters = range(minLength, maxLength);
  return [
    ...(schema.format === undefined ? [] : [schema.format]),
    ...(numbers === "" ? [] : [numbers]),
    ...(exclusiveMinimum === undefined ? [] : [`above ${exclusiveMinimum}`]),
    ...(characters === "" ? [] : [`${characters} characters`]),
    // That there is no NUL is said once, among the limits. A format has a pattern of its own.
    ...(pattern === undefined || pattern === withoutNul || schema.format !== undefined
      ? []
      : [`<code>${escaped(pattern)}</code>`]),
  ];
}

function range(from: number | undefined, to: number | undefined): string {
  const shown = (value: number) => value.toLocaleString("en");
  if (to !== undefined)
    return from === undefined ? `up to ${shown(to)}` : `${shown(from)} to ${shown(to)}`;
  return from === undefined ? "" : `from ${shown(from)}`;
}

/** One value with its name, as a row of a list. */
export function memberRow(name: string, schema: Schema, isRequired: boolean): string {
  const presence = isRequired ? "" : ", optional";
  const meaning = schema.description === undefined ? "" : inline(schema.description);
  return (
    `<dt><code>${escaped(name)}</code> <span class="type">${typeText(schema)}${presence}</span></dt>\n` +
    `<dd>${meaning}${innerMembers(schema)}</dd>`
  );
}

/** The members of an object without a name, or of those that a list or a choice has. */
export function innerMembers(schema: Schema): string {
  if (schema.properties !== undefined) return memberList(schema);
  if (schema.items !== undefined) return innerMembers(schema.items);
  return (schema.anyOf ?? []).map(innerMembers).join("\n");
}

function memberList({ properties = {}, required = [] }: Schema): string {
  const rows = Object.entries(properties).map(([name, member]) =>
    memberRow(name, member, required.includes(name)),
  );
  return `<dl>${rows.join("\n")}</dl>`;
}
