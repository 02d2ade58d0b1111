// Simulated time: tasks and the moments at which they are due. Nothing here takes real time.

/** A task that is due at a moment; `cancel` makes nothing of it. */
export interface Task {
  readonly atMs: number;
  cancel(): void;
}

/** Cancelled tasks that may lie in the queue before they are looked for. */
const cancelledMax = 64;

class QueuedTask implements Task {
  readonly atMs: number;
  readonly order: number;
  readonly #scheduler: Scheduler;
  /** Null once it has run or is cancelled. */
  run: (() => void) | null;

  constructor(scheduler: Scheduler, atMs: number, order: number, run: () => void) {
    this.#scheduler = scheduler;
    this.atMs = atMs;
    this.order = order;
    this.run = run;
  }

  cancel(): void {
    if (this.run === null) return;
    this.run = null;
    this.#scheduler.noteCancelled();
  }
}

export class Scheduler {
  nowMs = 0;
  #order = 0;
  /** A binary heap: the earliest first; of one moment, the one that was scheduled first. */
  #heap: QueuedTask[] = [];
  /** Tasks in the heap that are cancelled: most of them timeouts, which would outnumber all else. */
  #cancelled = 0;

  after(delayMs: number, run: () => void): Task {
    return this.at(this.nowMs + Math.max(0, delayMs), run);
  }

  /** Tasks of one moment run in the order in which they are given; of a delay, rounding would make two moments. */
  at(atMs: number, run: () => void): Task {
    this.#order += 1;
    const task = new QueuedTask(this, Math.max(this.nowMs, atMs), this.#order, run);
    this.#push(task);
    return task;
  }

  /** Called by a task that is cancelled. */
  noteCancelled(): void {
    this.#cancelled += 1;
    if (this.#cancelled <= cancelledMax || 2 * this.#cancelled < this.#heap.length) return;
    // What is sorted is a heap.
    this.#heap = this.#heap.filter(({ run }) => run !== null).sort(inOrder);
    this.#cancelled = 0;
  }

  /** Lets time pass. */
  async pass(ms: number): Promise<void> {
    const untilMs = this.nowMs + ms;
    await this.runUntil(() => false, untilMs);
    this.nowMs = untilMs;
  }

  /** Runs what is due, in order, until `isDone` or nothing is left, or simulated time is up. */
  runUntil(isDone: () => boolean, untilMs: number): Promise<void> {
    return new Promise((resolve) => {
      const step = () => {
        const task = isDone() ? null : this.#takeUntil(untilMs);
        if (task === null) {
          resolve();
          return;
        }
        this.nowMs = task.atMs;
        const { run } = task;
        task.run = null;
        run?.();
        queueMicrotask(next);
      };
      // Node runs all microtasks before the next tick: promises settle before the next task.
      const next = () => {
        process.nextTick(step);
      };
      next();
    });
  }

  /** Takes the next task that is not cancelled, if it is due. */
  #takeUntil(untilMs: number): QueuedTask | null {
    for (;;) {
      const next = this.#heap[0];
      if (next === undefined) return null;
      if (next.run !== null) {
        if (next.atMs > untilMs) return null;
        this.#pop();
        return next;
      }
      this.#cancelled -= 1;
      this.#pop();
    }
  }

  #push(task: QueuedTask): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push(task);
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || inOrder(parent, task) < 0) break;
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
      if (other !== undefined && inOrder(other, child) < 0) {
        child = other;
        below += 1;
      }
      if (inOrder(last, child) < 0) break;
      heap[index] = child;
      index = below;
    }
    heap[index] = last;
  }
}

function inOrder(one: QueuedTask, other: QueuedTask): number {
  return one.atMs === other.atMs ? one.order - other.order : one.atMs - other.atMs;
}
