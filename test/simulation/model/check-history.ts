// Compares what clients were answered with what is in the database at the end of a history.
import type { Attempt } from "../history/attempt.ts";
import type { World } from "../history/world.ts";
import { checkAnswers } from "./answers.ts";
import { checkCloses } from "./closes.ts";
import { finalBooks } from "./final-books.ts";
import { checkJournal } from "./journal.ts";
import { checkOrder } from "./order.ts";
import { checkPostings } from "./postings.ts";
import { checkRefusals } from "./refusals.ts";
import { checkStreams } from "./streams.ts";
import { checkTransfers } from "./transfers.ts";
import { Violations, type Violation } from "./violation.ts";
import { checkLimits } from "./wallet-limits.ts";
import { checkWallets } from "./wallets.ts";

export function checkHistory(world: World, attempts: readonly Attempt[]): readonly Violation[] {
  const books = finalBooks(world.cluster);
  const violations = new Violations();
  const isCalm = world.faults.happened.size === 0;
  checkAnswers(violations, books, attempts, isCalm);
  checkRefusals(violations, books, attempts);
  checkOrder(violations, books, attempts);
  checkTransfers(violations, books, attempts);
  for (const { ledgerId } of world.ledgers) {
    checkJournal(violations, books, ledgerId);
    checkWallets(violations, books, ledgerId);
    checkLimits(violations, books, ledgerId);
    checkPostings(violations, books, ledgerId);
    checkCloses(violations, books, ledgerId);
  }
  violations.expect(
    world.cluster.deadlocks === 0,
    "order of locks",
    () => "transactions waited for each other: locks are taken in one order",
  );
  checkStreams(violations, books, world.readers.all);
  const told = world.servers.flatMap((server) => server.told);
  for (const { walletId, seq, balance } of told) {
    const row = books.writes.find((write) => write.walletId === walletId && write.seq === seq);
    violations.expect(
      row?.balance === balance,
      "stream",
      () => `streams were told of ${walletId} ${seq}, which is not in its log`,
    );
  }
  return violations.found;
}
