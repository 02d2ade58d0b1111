// The server's log: one JSON object a line on stderr. Secrets never reach it: callers log ids and causes.
import { pino, type Logger } from "pino";

export type Log = Logger;

/** What is kept for a stderr that nobody reads; lines beyond it are lost. */
const unwrittenCharactersMax = 4 * 1024 * 1024;

/** Levels are pino's; "silent" writes nothing. stdout is left to a command's results. */
export function createLog(level: string): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    pino.destination({ dest: 2, sync: false, maxLength: unwrittenCharactersMax }),
  );
}
