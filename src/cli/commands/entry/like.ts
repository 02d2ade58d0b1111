// `entry post --like`: a new entry from an old one.
import type { Entry, EntryInput, EntryLineInput } from "../../../client/ledger-client.ts";
import { asInput } from "./stored-lines.ts";

/**
 * The entry that was given, and of an old one what it does not say: type, description, and the lines of accounts that it
 * does not name. Date, externalId and metadata are the old entry's own.
 */
export function likeEntry({ entryType, description, lines }: Entry, given: EntryInput): EntryInput {
  const isPlain = entryType === "STANDARD" || entryType === "REVERSAL";
  return {
    ...(isPlain ? {} : { entryType }),
    ...(description === null ? {} : { description }),
    ...given,
    lines: linesLike(lines.map(asInput), given.lines),
  };
}

/** Given lines stand where the first one of their account stood, and else behind the others. */
function linesLike(
  old: readonly EntryLineInput[],
  given: readonly EntryLineInput[],
): EntryLineInput[] {
  const placed = new Set<string>();
  const lines = old.flatMap((line) => {
    const code = line.glAccountCode;
    const instead = given.filter(({ glAccountCode }) => glAccountCode === code);
    if (instead.length === 0) return [line];
    if (placed.has(code)) return [];
    placed.add(code);
    return instead;
  });
  return [...lines, ...given.filter(({ glAccountCode }) => !placed.has(glAccountCode))];
}
