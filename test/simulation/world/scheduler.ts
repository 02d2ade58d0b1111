// Simulated time: tasks and the moments at which they are due. Nothing here takes real time.

/** A task that is due at a moment; `cancel` makes nothing of it. */
export interface Task {
  readonly atMs: number;
  cancel(): void;
}

interface QueuedTask extends Task {
  readonly order: number;
  run: (() => void) | null;
}

/** Tasks that run between two looks at the real event loop; microtasks run after each of them. */
const tasksPerRound = 32;
const realSetImmediate = setImmediate;

export class Scheduler {
  nowMs = 0;
  #order = 0;
  /** A binary heap: the earliest first; of one moment, the one that was scheduled first. */
  readonly #heap: QueuedTask[] = [];

  after(delayMs: number, run: () => void): Task {
    this.#order += 1;
    const task: QueuedTask = {
      atMs: this.nowMs + Math.max(0, delayMs),
      order: this.#order,
      run,
      cancel: () => {
        task.run = null;
      },
    };
    this.#push(task);
    return task;
  }

  /** Lets time pass. */
  async pass(ms: number): Promise<void> {
    const untilMs = this.nowMs + ms;
    await this.runUntil(() => false, untilMs);
    this.nowMs = untilMs;
  }

  /** Runs what is due, in order, until `isDone` or nothing is left, or simulated time is up. */
  async runUntil(isDone: () => boolean, untilMs: number): Promise<void> {
    let isOver = false;
    const step = () => {
      if (isOver || isDone()) {
        isOver = true;
        return;
      }
      const next = this.#heap[0];
      if (next === undefined || next.atMs > untilMs) {
        isOver = true;
        return;
      }
      this.#pop();
      if (next.run === null) return;
      this.nowMs = next.atMs;
      next.run();
    };
    const isAtEnd = () => isOver;
    while (!isAtEnd()) {
      // Node runs all microtasks between two of its immediates: promises settle before the next task.
      for (let count = 1; count < tasksPerRound; count += 1) realSetImmediate(step);
      await new Promise<void>((resolve) => {
        realSetImmediate(() => {
          step();
          realSetImmediate(resolve);
        });
      });
    }
  }

  #push(task: QueuedTask): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push(task);
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || !isBefore(task, parent)) break;
      heap[index] = parent;
      index = above;
    }
    heap[index] = task;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    for (;;) {
      let below = 2 * index + 1;
      let child = heap[below];
      if (child === undefined) break;
      const other = heap[below + 1];
      if (other !== undefined && isBefore(other, child)) {
        child = other;
        below += 1;
      }
      if (!isBefore(child, last)) break;
      heap[index] = child;
      index = below;
    }
    heap[index] = last;
  }
}

function isBefore(one: QueuedTask, other: QueuedTask): boolean {
  return one.atMs === other.atMs ? one.order < other.order : one.atMs < other.atMs;
}
