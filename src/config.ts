// The only reader of the environment. What it says is handed down from the command line.
import { homedir } from "node:os";
import { join } from "node:path";

/** What the environment says; null where it says nothing. */
export type Environment = Readonly<ReturnType<typeof readEnvironment>>;

/** A setting can't be used: to try again would not help. */
export class SettingError extends Error {
  override readonly name: string = "SettingError";
}

/** A variable of the environment has a value that can't be used. */
export class EnvironmentError extends SettingError {
  override readonly name = "EnvironmentError";

  constructor(name: string, detail: string) {
    super(`${name} ${detail}`);
  }
}

/** A user id without an entry in the user database has no home there. */
function homeOfUser(): string {
  try {
    return homedir();
  } catch {
    throw new EnvironmentError(
      "HOME",
      "must be set: this user id has no home in the user database",
    );
  }
}

/** Whether the environment asks for no colours, in any program: https://no-color.org. */
export function isColorRefused(variables: NodeJS.ProcessEnv = process.env): boolean {
  return (variables["NO_COLOR"] ?? "") !== "";
}

const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];

/** Reads the environment; an empty variable counts as unset. Throws EnvironmentError. */
export function readEnvironment(variables: NodeJS.ProcessEnv = process.env) {
  const known = new Set<string>();
  const text = (name: string): string | null => {
    known.add(name);
    const value = variables[name];
    return value === undefined || value === "" ? null : value;
  };
  const number = (name: string, fallback: number, max: number, min = 1): number => {
    const value = text(name);
    if (value === null) return fallback;
    if (!/^[0-9]{1,12}$/.test(value) || Number(value) < min || Number(value) > max) {
      throw new EnvironmentError(name, `must be a whole number from ${min} to ${max}`);
    }
    return Number(value);
  };
  const home = text("HOME") ?? homeOfUser();
  const configHome = text("XDG_CONFIG_HOME") ?? join(home, ".config");
  const dataHome = text("XDG_DATA_HOME") ?? join(home, ".local", "share");
  const logLevel = text("LEDGERCTL_LOG_LEVEL") ?? "info";
  if (!logLevels.includes(logLevel)) {
    throw new EnvironmentError("LEDGERCTL_LOG_LEVEL", `must be one of ${logLevels.join(", ")}`);
  }
  const settings = {
    url: text("LEDGERCTL_URL"),
    apiKey: text("LEDGERCTL_API_KEY"),
    apiSecret: text("LEDGERCTL_API_SECRET"),
    ledger: text("LEDGERCTL_LEDGER"),
    profile: text("LEDGERCTL_PROFILE"),
    configFile: text("LEDGERCTL_CONFIG") ?? join(configHome, "ledgerctl", "config.json"),
    databaseUrl: text("LEDGERCTL_DATABASE_URL"),
    /** A streaming standby of that database, for long reads. */
    readDatabaseUrl: text("LEDGERCTL_READ_DATABASE_URL"),
    /** How long such a read waits until the standby has what it has to show. */
    readLagMsMax: number("LEDGERCTL_READ_LAG_MS_MAX", 250, 60_000),
    isDataDirNamed: text("LEDGERCTL_DATA_DIR") !== null,
    dataDir: text("LEDGERCTL_DATA_DIR") ?? join(dataHome, "ledgerctl"),
    /** Base64; see core/signing. */
    masterKey: text("LEDGERCTL_MASTER_KEY"),
    previousMasterKeys: (text("LEDGERCTL_PREVIOUS_MASTER_KEYS") ?? "")
      .split(/[\s,]+/)
      .filter((key) => key !== ""),
    /** What origins of logs begin with; see core/log-origin. */
    logName: text("LEDGERCTL_LOG_NAME"),
    /** Base64; see core/log-origin. */
    logKey: text("LEDGERCTL_LOG_KEY"),
    previousLogKeys: (text("LEDGERCTL_PREVIOUS_LOG_KEYS") ?? "")
      .split(/[\s,]+/)
      .filter((key) => key !== ""),
    /** How long after a journal grew there is a checkpoint of it. */
    checkpointIntervalMs: number("LEDGERCTL_CHECKPOINT_INTERVAL_MS", 60_000, 86_400_000),
    clockWindowSeconds: number("LEDGERCTL_CLOCK_WINDOW_SECONDS", 300, 86_400),
    bodyBytesMax: number("LEDGERCTL_BODY_BYTES_MAX", 1024 * 1024, 1024 ** 3),
    connectionsMax: number("LEDGERCTL_CONNECTIONS_MAX", 10_000, 1_000_000),
    /** Of a process to each node of a database that Citus spreads; 0: all is written through the coordinator. */
    nodeConnectionsMax: number("LEDGERCTL_NODE_CONNECTIONS_MAX", 8, 1_000, 0),
    /** Files of PEM: what TLS shows. Both or none. */
    tlsCert: text("LEDGERCTL_TLS_CERT"),
    tlsKey: text("LEDGERCTL_TLS_KEY"),
    /** As `--rate-limit` has it. */
    rateLimit: text("LEDGERCTL_RATE_LIMIT"),
    /** A tlog-policy file: the witnesses of the logs. */
    logPolicy: text("LEDGERCTL_LOG_POLICY"),
    logLevel,
    /** How long after their acceptance wallet writes are posted to the ledger. */
    postIntervalMs: number("LEDGERCTL_POST_INTERVAL_MS", 1_000, 3_600_000),
    /** How long a stopping server waits for requests under way. */
    graceMs: number("LEDGERCTL_GRACE_MS", 10_000, 600_000),
    isColorRefused: isColorRefused(variables),
    /** The kind of terminal. */
    term: text("TERM"),
    /** A command of the shell. */
    editor: text("VISUAL") ?? text("EDITOR"),
    /** The command line of what shows results that are longer than the terminal. */
    pager: text("LEDGERCTL_PAGER") ?? text("PAGER"),
    path: text("PATH") ?? "",
  };
  const isOurs = (name: string) => name.startsWith("LEDGERCTL_");
  return {
    ...settings,
    /** Names of variables of ours: those that are read, and those that are set and are none of them. */
    names: {
      known: [...known].filter(isOurs),
      unknown: Object.keys(variables).filter((name) => isOurs(name) && !known.has(name)),
    },
  };
}
