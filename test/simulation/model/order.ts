// Nothing reordered: what was answered before something else was asked for comes before it, and what one server was
// asked for is recorded in the order in which it was asked.
import type { Attempt } from "../history/attempt.ts";
import { groupBy, type FinalBooks } from "./final-books.ts";
import { shown, type Violations } from "./violation.ts";

interface Placed {
  readonly attempt: Attempt;
  /** Its place in the journal, or in the wallet's log. */
  readonly place: number;
}

export function checkOrder(
  violations: Violations,
  books: FinalBooks,
  attempts: readonly Attempt[],
): void {
  for (const placed of placesOf(books, attempts).values()) {
    placed.sort((one, other) => one.place - other.place);
    placed.forEach((later, index) => {
      for (const earlier of placed.slice(0, index)) checkPair(violations, earlier, later);
    });
  }
}

/** By journal and by wallet. */
function placesOf(books: FinalBooks, attempts: readonly Attempt[]): Map<string, Placed[]> {
  const entries = new Map(books.entries.map((entry) => [entry.description ?? "", entry]));
  // Two rows are of one transfer, and several of an atomic bulk.
  const writes = groupBy(books.writes, ({ metadata }) => metadata?.split(".")[0] ?? "");
  const placed = attempts.flatMap((attempt) => {
    const entry = entries.get(attempt.tag) ?? entries.get(`${attempt.tag}.0`);
    if (entry !== undefined) {
      return [{ attempt, place: entry.sequence, of: `journal ${entry.ledgerId}` }];
    }
    return (writes.get(attempt.tag) ?? []).map(({ seq, walletId }) => ({
      ...{ attempt, place: seq, of: walletId },
    }));
  });
  return groupBy(placed, ({ of }) => of);
}

function checkPair(violations: Violations, earlier: Placed, later: Placed): void {
  const { attempt: first } = earlier;
  const { attempt: second } = later;
  if (first === second) return;
  const tell = () =>
    `${first.tag} (${shown(first.asked)}) is recorded at ${earlier.place}, before ${second.tag} (${shown(second.asked)}) at ${later.place}`;
  violations.expect(second.answeredAt > first.askedAt, "order of answers", tell);
  const isOneServer = first.incarnation === second.incarnation;
  violations.expect(!isOneServer || first.askedAt < second.askedAt, "order of arrival", tell);
}
