// What a name means where an id is asked for: the one thing that has it.
import { notFoundFailure, usageFailure } from "../failure.ts";
import { suggestion } from "./suggestion.ts";

/**
 * The id of the only one of that name. `place`: the option or argument; `kind`: `ledgers`; `none`: what is said where there is none, before a
 * near name is suggested. Throws a failure for none and for several.
 */
export function idOfName(
  name: string,
  known: readonly { readonly id: string; readonly name: string }[],
  { place, kind, none }: Readonly<Record<"place" | "kind" | "none", string>>,
): string {
  const [only, ...others] = known.filter((one) => one.name === name);
  if (only === undefined) {
    const names = known.map((one) => one.name);
    throw notFoundFailure(`${none}${suggestion(name, names)}`);
  }
  if (others.length === 0) return only.id;
  const ids = [only, ...others].map(({ id }) => id).join(", ");
  throw usageFailure(`${place} ${JSON.stringify(name)} is the name of several ${kind}: ${ids}`);
}
