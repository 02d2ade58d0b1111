// When requests are due, on the clock of performance.now(). All connections of a load take from one schedule.

/** Closed loop: as soon as there is a free connection. */
export function* fullSpeed(startMs: number, durationMs: number): Generator<number> {
  for (;;) {
    const nowMs = performance.now();
    if (nowMs >= startMs + durationMs) return;
    yield nowMs;
  }
}

/**
 * Open loop: at even distances, whatever becomes of the requests before. With `onDropped`, requests that are overdue when a
 * connection becomes free are left out, and it gets their number: kept, they would slow the client down to the server's pace.
 */
export function* steadyRate(
  startMs: number,
  durationMs: number,
  rate: number,
  onDropped: ((count: number) => void) | null = null,
): Generator<number> {
  for (let next = 0; ; next += 1) {
    if (onDropped !== null) {
      const due = Math.ceil((Math.min(performance.now() - startMs, durationMs) * rate) / 1000);
      onDropped(Math.max(0, due - next));
      next = Math.max(next, due);
    }
    const offsetMs = (next * 1000) / rate;
    if (offsetMs >= durationMs) return;
    yield startMs + offsetMs;
  }
}
