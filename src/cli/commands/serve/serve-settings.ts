// The settings of `serve`: from flags and environment to what a server is started with.
import type { Environment } from "../../../config.ts";
import type { CertificateFiles } from "../../../server/certificate.ts";
import type { ServerOptions } from "../../../server/start.ts";
import { InvalidDatabaseUrl, readReplicaUrl } from "../../../store/database/connection-url.ts";
import { databasePlace } from "../../connection/database-context.ts";
import type { DatabaseFlags } from "../../definition/options.ts";
import { usageFailure } from "../../failure.ts";
import { requireWholeNumber } from "../../input/arguments.ts";
import { readRateLimit } from "../../input/rate-limit.ts";

export interface ServeFlags extends DatabaseFlags {
  host: string;
  port: number;
  bootstrap?: boolean;
  migrate: boolean;
  workers: number;
  metricsHost?: string;
  metricsPort?: number;
  tlsCert?: string;
  tlsKey?: string;
  rateLimit?: string;
  readDatabaseUrl?: string;
  allowPrivateDeliveries?: boolean;
}

export type ServeSettings = Pick<
  ServerOptions,
  | "address"
  | "metricsAddress"
  | "workers"
  | "migrates"
  | "rateLimit"
  | "replicaUrl"
  | "allowsPrivateDeliveries"
> & {
  /** What TLS shows; null for plain HTTP. */
  readonly certificateFiles: CertificateFiles | null;
};

const portMax = 65_535;
const workersMax = 64;

/** Reads the settings, or fails with what is wrong with one of them. */
export function readServeSettings(flags: ServeFlags, environment: Environment): ServeSettings {
  const { host, port, workers, migrate: migrates } = flags;
  requireWholeNumber("--port", String(port), 0, portMax);
  requireWholeNumber("--workers", String(workers), 1, workersMax);
  return {
    address: { host, port },
    metricsAddress: readMetricsAddress(flags),
    workers,
    migrates,
    certificateFiles: readCertificateFiles(flags, environment),
    rateLimit: readRateLimitSetting(flags, environment),
    replicaUrl: readReplicaSetting(flags, environment),
    allowsPrivateDeliveries: flags.allowPrivateDeliveries === true,
  };
}

function readMetricsAddress({ metricsHost, metricsPort }: ServeFlags) {
  if (metricsPort === undefined) {
    if (metricsHost !== undefined) throw usageFailure("--metrics-host goes with --metrics-port");
    return null;
  }
  requireWholeNumber("--metrics-port", String(metricsPort), 0, portMax);
  return { host: metricsHost ?? "127.0.0.1", port: metricsPort };
}

function readCertificateFiles(flags: ServeFlags, environment: Environment) {
  const cert = flags.tlsCert ?? environment.tlsCert;
  const key = flags.tlsKey ?? environment.tlsKey;
  if (cert === null && key === null) return null;
  if (cert === null || key === null) {
    const [given, missing] =
      key === null
        ? ["--tls-cert (LEDGERCTL_TLS_CERT)", "--tls-key (LEDGERCTL_TLS_KEY)"]
        : ["--tls-key (LEDGERCTL_TLS_KEY)", "--tls-cert (LEDGERCTL_TLS_CERT)"];
    throw usageFailure(`TLS needs a certificate and its key: there is ${given}, but no ${missing}`);
  }
  return { cert, key };
}

function readRateLimitSetting(flags: ServeFlags, environment: Environment) {
  if (flags.rateLimit !== undefined) return readRateLimit("--rate-limit", flags.rateLimit);
  const { rateLimit } = environment;
  return rateLimit === null ? null : readRateLimit("LEDGERCTL_RATE_LIMIT", rateLimit);
}

function readReplicaSetting(flags: ServeFlags, environment: Environment): string | null {
  const text = flags.readDatabaseUrl ?? environment.readDatabaseUrl;
  if (text === null) return null;
  const name = "--read-database-url (LEDGERCTL_READ_DATABASE_URL)";
  const place = databasePlace(flags, environment);
  if (!("url" in place)) {
    throw usageFailure(`${name} goes with --database-url: the embedded database has no replicas`);
  }
  try {
    const url = readReplicaUrl(text);
    // They would share one record of their hosts.
    if (url === place.url) throw usageFailure(`${name} has to be another one than --database-url`);
    return url;
  } catch (error) {
    if (error instanceof InvalidDatabaseUrl) throw usageFailure(`${name}: ${error.message}`);
    throw error;
  }
}
