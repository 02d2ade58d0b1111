// With what the logs of ledgers are signed: names and keys.
import { EnvironmentError, type Environment } from "../config.ts";
import { defaultLogName, logNameFault } from "../core/log-origin.ts";
import { parseMasterKey } from "../core/signing.ts";
import type { LogSettings } from "../engine/logs/log-signing.ts";
import type { Log } from "../log.ts";
import type { Pool } from "../store/database/pool.ts";
import { logKeyFile } from "../store/embedded/key-files.ts";
import { hasCheckpoints } from "../store/log-checkpoints.ts";

/** The names and keys; null where there is no key, so that nothing is signed. Throws EnvironmentError. */
export async function loadLogSettings(
  environment: Environment,
  pool: Pool,
  dataDir: string | null,
): Promise<LogSettings | null> {
  const logName = environment.logName ?? defaultLogName;
  const fault = logNameFault(logName);
  if (fault !== null) throw new EnvironmentError("LEDGERCTL_LOG_NAME", fault);
  const previous = environment.previousLogKeys.map((key) =>
    requireKey(key, "LEDGERCTL_PREVIOUS_LOG_KEYS"),
  );
  const text = environment.logKey ?? (await storedLogKey(pool, dataDir));
  if (text === null) return null;
  return { logName, logKeys: [requireKey(text, "LEDGERCTL_LOG_KEY"), ...previous] };
}

/** With the embedded database one is made, but not where another has signed: its checkpoints are of that one. */
async function storedLogKey(pool: Pool, dataDir: string | null): Promise<string | null> {
  if (dataDir === null) return null;
  const stored = await logKeyFile.load(dataDir);
  if (stored !== undefined) return stored;
  return (await hasCheckpoints(pool)) ? null : logKeyFile.create(dataDir);
}

function requireKey(text: string, name: string): Buffer {
  const key = parseMasterKey(text);
  if (key !== null) return key;
  throw new EnvironmentError(name, "must be 32 bytes in base64 (44 characters)");
}

/** Says once that nothing is signed. */
export function warnWithoutLogKey(settings: LogSettings | null, log: Log): void {
  if (settings !== null) return;
  log.warn(
    "there is no log key: no checkpoints are signed, and the logs of ledgers are not shown. Set LEDGERCTL_LOG_KEY to " +
      "32 random bytes in base64 (`openssl rand -base64 32`) and keep it safe",
  );
}
