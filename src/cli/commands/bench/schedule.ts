// When requests are due.

export interface Schedule {
  /** When the next request is due, on the clock of performance.now(); null when there are no more. */
  take(): number | null;
  /** How many requests were due while no connection was free, and were dropped for it. */
  readonly dropped: number;
}

/** Closed loop: as soon as there is a free connection. */
export function fullSpeed(startMs: number, durationMs: number): Schedule {
  return {
    take: () => {
      const nowMs = performance.now();
      return nowMs < startMs + durationMs ? nowMs : null;
    },
    dropped: 0,
  };
}

/**
 * Open loop: at even distances, whatever becomes of the requests before. `isLateDropped` leaves out requests that
 * are overdue when a connection becomes free: kept, they would slow the client down to the server's pace.
 */
export function steadyRate(
  startMs: number,
  durationMs: number,
  rate: number,
  isLateDropped = false,
): Schedule {
  let next = 0;
  let dropped = 0;
  return {
    take: () => {
      if (isLateDropped) {
        const due = Math.ceil((Math.min(performance.now() - startMs, durationMs) * rate) / 1000);
        dropped += Math.max(0, due - next);
        next = Math.max(next, due);
      }
      const offsetMs = (next * 1000) / rate;
      if (offsetMs >= durationMs) return null;
      next += 1;
      return startMs + offsetMs;
    },
    get dropped() {
      return dropped;
    },
  };
}
