// What somebody who mistyped a name may have meant.

const suggestionsMax = 3;

/** A line to follow a message, such as `Did you mean 1100?`, with the line feed before it; empty if nothing is near. */
export function suggestion(word: string, known: readonly string[]): string {
  const near = nearest(word, known);
  if (near.length === 0) return "";
  const last = near.at(-1) ?? "";
  const names = near.length === 1 ? last : `${near.slice(0, -1).join(", ")} or ${last}`;
  return `\n  Did you mean ${names}?`;
}

/** The names that are as near to the word as any, if a third of it at most has to change. */
export function nearest(word: string, known: readonly string[]): string[] {
  const asked = word.toLowerCase();
  const most = Math.max(1, Math.floor(asked.length / 3));
  const distances = [...new Set(known)]
    .map((name) => ({ name, distance: distance(asked, name.toLowerCase()) }))
    .filter(
      ({ name, distance }) => distance <= most && distance < Math.max(asked.length, name.length),
    );
  const best = Math.min(...distances.map(({ distance }) => distance));
  return distances
    .filter(({ distance }) => distance === best)
    .map(({ name }) => name)
    .slice(0, suggestionsMax);
}

/** Damerau and Levenshtein: letters put in, left out, exchanged, or swapped with the next, each at a cost of 1. */
function distance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped =
        row > 1 &&
        column > 1 &&
        from[row - 1] === to[column - 2] &&
        from[row - 2] === to[column - 1];
      current.push(
        Math.min(
          (last[column] ?? 0) + 1,
          (current[column - 1] ?? 0) + 1,
          (last[column - 1] ?? 0) + (isSame ? 0 : 1),
          isSwapped ? (beforeLast[column - 2] ?? 0) + 1 : Infinity,
        ),
      );
    }
    [beforeLast, last] = [last, current];
  }
  return last[to.length] ?? 0;
}
