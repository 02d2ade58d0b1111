// The server's log: one JSON object a line on stderr. Secrets never reach it: callers log ids and causes.
import { pino, type Logger } from "pino";

export type Log = Logger;

/** Levels are pino's; "silent" writes nothing. stdout is left to a command's results. */
export function createLog(level: string): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    pino.destination({ dest: 2, sync: false }),
  );
}
