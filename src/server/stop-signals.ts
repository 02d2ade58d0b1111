// The signals that end a process which has a database, and what SIGHUP means to a server.
import { isatty } from "node:tty";

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

/**
 * Whether SIGHUP stops a server: where it has no certificate to read again, and a terminal that can be closed. Whoever
 * sends it to another one, such as `systemctl reload`, does not mean its end.
 */
export function stopsOnHangup(hasCertificate: boolean): boolean {
  return !hasCertificate && [0, 1, 2].some((descriptor) => isatty(descriptor));
}

/** Keeps SIGHUP from ending the process. Returns what hands it on to `take`, also one that came before. */
export function keepHangups(): (take: () => void) => void {
  let handOn: (() => void) | null = null;
  let isWaiting = false;
  process.on("SIGHUP", () => {
    if (handOn === null) isWaiting = true;
    else handOn();
  });
  return (take) => {
    handOn = take;
    if (isWaiting) take();
  };
}
