// The signals that end a process which has a database.

export const stopSignals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/** What supervisors and terminals send to a process and to its group may arrive twice. */
const repeatMs = 1_000;

/** Resolves with the first of them. One that comes later still calls `again`, which ends the process at once. */
export function stopSignal(
  again: () => void,
  signals: readonly NodeJS.Signals[] = stopSignals,
): Promise<string> {
  return new Promise((resolve) => {
    let firstAtMs: number | null = null;
    for (const signal of signals) {
      process.on(signal, () => {
        firstAtMs ??= performance.now();
        if (performance.now() - firstAtMs > repeatMs) again();
        resolve(signal);
      });
    }
  });
}
