// Connection URLs, with the session settings that every connection of ours needs.
import { parse } from "pg-connection-string";
import type { ConnectionOptions as TlsOptions } from "node:tls";

/** Where to connect, in the form that both drivers read alike. */
export interface ConnectionTarget {
  /** A postgresql:// URL without its ssl parameters. */
  readonly url: string;
  /** TLS as the URL's ssl parameters ask for it; false for none. */
  readonly ssl: TlsOptions | false;
}

/** How values are written, and that what is acknowledged is on disk: whatever the database's own settings say. */
const sessionSettings = {
  timezone: "UTC",
  datestyle: "ISO",
  // Shortest exact form of floats: a rate that is read back must be the one that was hashed.
  extra_float_digits: "1",
  bytea_output: "hex",
  synchronous_commit: "on",
  default_transaction_read_only: "off",
};

const tlsParameters = ["ssl", "sslmode", "sslcert", "sslkey", "sslrootcert", "uselibpqcompat"];

/**
 * A postgresql:// URL with its host in the host's place; null when the text is none. libpq's form for a socket
 * leaves the place empty, which a URL with a user may not, and names the directory in the query:
 * `postgresql://user:password@/database?host=/run/postgresql`.
 */
export function readDatabaseUrl(text: string): string | null {
  const placed = text.replace(/^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)(?=[:/?]|$)/, "$1localhost");
  if (!/^postgres(ql)?:\/\//.test(placed) || !URL.canParse(placed)) return null;
  const url = new URL(placed);
  const host = url.searchParams.get("host");
  const port = url.searchParams.get("port");
  // libpq takes a list of hosts and tries each; we would not.
  if (host?.includes(",") === true) return null;
  if (host !== null && host !== "") url.hostname = encodeURIComponent(host);
  if (port !== null) url.port = port;
  url.searchParams.delete("host");
  url.searchParams.delete("port");
  return url.href;
}

/**
 * Adds settings to a connection URL as startup options, so that they cost no round trip and hold
 * from the first statement on. Options that the URL already carries stay; ours follow, and win.
 * Throws TypeError on a URL that can't be read.
 */
export function connectionTarget(
  databaseUrl: string,
  applicationName: string,
  settings: Readonly<Record<string, string>>,
): ConnectionTarget {
  const url = new URL(databaseUrl);
  const ssl = readTls(databaseUrl);
  for (const parameter of tlsParameters) url.searchParams.delete(parameter);
  const options = Object.entries({ ...sessionSettings, ...settings }).map(
    ([name, value]) => `-c ${name}=${value}`,
  );
  const given = url.searchParams.get("options");
  url.searchParams.set("options", [...(given === null ? [] : [given]), ...options].join(" "));
  if (!url.searchParams.has("application_name")) {
    url.searchParams.set("application_name", applicationName);
  }
  // URLSearchParams writes a space as "+", which readers of connection URLs take literally.
  url.search = url.search.replace(/\+/g, "%20");
  return { url: url.href, ssl };
}

/** Modes that pg reads as `verify-full`, and warns of: a later version is to check nothing there, as libpq does. */
const modesReadAsVerifyFull = ["prefer", "require", "verify-ca"];

/**
 * TLS as the URL asks for it. Whatever asks for TLS has the server's certificate and name checked, but for `no-verify`;
 * with `uselibpqcompat=true` each mode means what it means to libpq.
 */
function readTls(databaseUrl: string): TlsOptions | false {
  const url = new URL(databaseUrl);
  const { searchParams } = url;
  const mode = searchParams.get("sslmode") ?? "";
  if (searchParams.get("uselibpqcompat") !== "true" && modesReadAsVerifyFull.includes(mode)) {
    searchParams.set("sslmode", "verify-full");
  }
  const { ssl } = parse(url.href);
  return typeof ssl === "object" ? (ssl as TlsOptions) : ssl ? {} : false;
}
