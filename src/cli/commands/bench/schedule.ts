// When requests are due.

export interface Schedule {
  /** When the next request is due, on the clock of performance.now(); null when there is none any more. */
  take(): number | null;
}

/** Closed loop: as soon as there is a free connection. */
export function fullSpeed(startMs: number, durationMs: number): Schedule {
  return {
    take: () => {
      const nowMs = performance.now();
      return nowMs < startMs + durationMs ? nowMs : null;
    },
  };
}

/** Open loop: at even distances, whatever becomes of the requests before. */
export function steadyRate(startMs: number, durationMs: number, rate: number): Schedule {
  let taken = 0;
  return {
    take: () => {
      const offsetMs = (taken * 1000) / rate;
      if (offsetMs >= durationMs) return null;
      taken += 1;
      return startMs + offsetMs;
    },
  };
}
