// A ledger's last sequence and some of its balances, read so that they belong together.
import { setTimeout as sleep } from "node:timers/promises";
import type { LedgerClient } from "../../../client/ledger-client.ts";

export interface Position {
  readonly lastSequence: number;
  /** null where the journal never held still for as long as it takes to read them. */
  readonly balances: ReadonlyMap<string, bigint> | null;
}

const attemptsMax = 50;
const pauseMs = 50;

/** Reads balances between two looks at the journal that find it unchanged. */
export async function readPosition(
  client: LedgerClient,
  ledgerId: string,
  accounts: readonly string[],
): Promise<Position> {
  let before = await readLastSequence(client, ledgerId);
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const balances = new Map<string, bigint>();
    for (const account of accounts) {
      balances.set(account, (await client.getBalance(ledgerId, { account })).balance);
    }
    const after = await readLastSequence(client, ledgerId);
    if (after === before) return { lastSequence: after, balances };
    before = after;
    await sleep(pauseMs);
  }
  return { lastSequence: before, balances: null };
}

/** By how much an account moved between two positions; null where one of them is not known. */
export function movementBetween(before: Position, after: Position, account: string): bigint | null {
  const [from, to] = [before.balances?.get(account), after.balances?.get(account)];
  return from === undefined || to === undefined ? null : to - from;
}

/** Sequences have no gaps, so there are as many entries as the last one's sequence says. */
async function readLastSequence(client: LedgerClient, ledgerId: string): Promise<number> {
  const { total } = await client.listEntries(ledgerId, { limit: 1 });
  return total;
}
