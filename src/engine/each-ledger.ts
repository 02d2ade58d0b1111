// What is done for ledger after ledger, so that one in trouble leaves the others theirs.
import { isNodeLost, isUnavailable } from "../store/database/errors.ts";

/**
 * Does something for each, one after the other. What fails for one, as its ledger is locked or broken or its node is away, is
 * told to `onFailure`. Rejects where the database is away: nothing would come of the rest.
 */
export async function forEachLedger<Item>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<unknown>,
  onFailure: (error: unknown) => void,
): Promise<void> {
  for (const item of items) {
    try {
      await work(item);
    } catch (error) {
      if (isUnavailable(error) && !isNodeLost(error)) throw error;
      onFailure(error);
    }
  }
}
