// Entries of a file, taken in bulks: as many together as are there without waiting. A pipe that gives
// one now and then has each posted at once; a file, which gives many, has them posted in bulk.
import { setImmediate as immediate } from "node:timers/promises";
import type { FoundFault } from "../../input/entry-files/file-entry.ts";
import type { FileEntry } from "../../input/entry-files/open-entries.ts";

export type Found = FileEntry | FoundFault;

export interface BulkLimits {
  readonly countMax: number;
  /** Of bodies as JSON; one larger entry still makes a bulk of its own. */
  readonly bytesMax: number;
}

export class Bulks {
  readonly #entries: AsyncGenerator<Found>;
  readonly #limits: BulkLimits;
  /** Asked for, and not taken yet. */
  #next: Promise<IteratorResult<Found>> | null = null;
  /** The bulk that was asked for last. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(entries: AsyncGenerator<Found>, limits: BulkLimits) {
    this.#entries = entries;
    this.#limits = limits;
  }

  /**
   * The next entries in the file's order, at least one; none at its end. May be asked for several at once.
   * Rejects where the file can't be read on, once all before that has been taken.
   */
  take(): Promise<readonly Found[]> {
    const taken = this.#last.then(() => this.#gather());
    this.#last = taken.catch(() => undefined);
    return taken;
  }

  async #gather(): Promise<readonly Found[]> {
    const { countMax, bytesMax } = this.#limits;
    const bulk: Found[] = [];
    let bytes = 0;
    let tick: Promise<null> | null = null;
    while (bulk.length < countMax) {
      this.#next ??= this.#entries.next();
      const next = await (tick === null
        ? this.#next
        : Promise.race([this.#next, tick]).catch(isLate));
      if (next === null || next.done === true) break;
      bytes += bytesOf(next.value);
      if (bulk.length > 0 && bytes > bytesMax) break;
      bulk.push(next.value);
      this.#next = null;
      tick ??= immediate(null);
    }
    return bulk;
  }
}

/** What fails is told to whoever takes next. */
function isLate(): null {
  return null;
}

function bytesOf(found: Found): number {
  return found.fault === undefined ? Buffer.byteLength(JSON.stringify(found.body)) : 0;
}
