// Reading input by its schema, and what a schema says is wrong as faults of the wire.
import type { z } from "zod";
import { faultsMax, jsonPointer, validationRefusal, type Fault } from "../core/errors.ts";

/** What a body is by its schema. Throws `validation` with every fault. */
export function parseBy<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw validationRefusal(faultsOf(parsed.error));
  return parsed.data;
}

/** One fault an issue; an object's unknown members are a fault each. */
export function faultsOf(error: z.ZodError): Fault[] {
  const issues = error.issues.slice(0, faultsMax);
  const illTyped = new Set(
    issues
      .filter(({ code }) => code === "invalid_type")
      .map(({ path }) => jsonPointer(wirePath(path))),
  );
  const faults = issues.flatMap((issue): Fault[] => {
    const path = wirePath(issue.path);
    // What is no array or string at all has no wrong length besides.
    if (issue.code !== "invalid_type" && illTyped.has(jsonPointer(path))) return [];
    if (issue.code !== "unrecognized_keys") return [{ path, detail: issue.message }];
    return issue.keys.map((key) => ({ path: [...path, key], detail: "is not a known member" }));
  });
  return faults.slice(0, faultsMax);
}

function wirePath(path: readonly PropertyKey[]): (string | number)[] {
  return path.map((part) => (typeof part === "symbol" ? String(part) : part));
}
