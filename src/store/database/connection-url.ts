// URLs of databases as libpq writes them, with one host or several, and what the driver is given for each of them.
import { readFileSync } from "node:fs";
import type { ConnectionOptions as TlsOptions } from "node:tls";
import { parse } from "pg-connection-string";
import { errorCode, messageOf } from "../../core/thrown.ts";

/** One of the hosts that a URL names. */
export interface DatabaseHost {
  /** As messages name it: `db1.example.com:5432`. */
  readonly name: string;
  /** A postgresql:// URL with this host alone. */
  readonly url: string;
}

export interface DatabaseAddress {
  /** One at least, in the order in which they are tried. */
  readonly hosts: readonly DatabaseHost[];
  /** Whether a standby is passed over. */
  readonly needsPrimary: boolean;
}

/** Where to connect, in the form that the driver reads. */
export interface ConnectionTarget {
  /** A postgresql:// URL without its ssl parameters. */
  readonly url: string;
  /** TLS as the URL's ssl parameters ask for it; false for none. */
  readonly ssl: TlsOptions | false;
}

/**
 * A text is no URL of a database, or has a parameter that can't be used. The message says how one looks, and nothing of
 * what may be a password.
 */
export class InvalidDatabaseUrl extends Error {
  override readonly name = "InvalidDatabaseUrl";
}

const tlsFiles = ["sslcert", "sslkey", "sslrootcert"];
const tlsParameters = ["ssl", "sslmode", ...tlsFiles, "uselibpqcompat"];
/** What is libpq's to read: the driver would take it for something of its own. */
const hostParameters = ["host", "port", "target_session_attrs"];

const urlForm = /^(postgres(?:ql)?:\/\/)((?:[^/?#]*@)?)([^/?#@]*)(\/[^?#]*)?(?:\?([^#]*))?(#.*)?$/;
const hostForm = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/;

/**
 * Reads a postgresql:// URL. Several hosts are separated by commas, each with its port:
 * `postgresql://user:password@host1:5432,host2:5433/database`. A socket's directory stands in the query, as libpq
 * has it, or percent-encoded in the host's place: `postgresql://user:password@/database?host=/run/postgresql`.
 * Throws InvalidDatabaseUrl.
 */
export function parseDatabaseUrl(text: string): DatabaseAddress {
  const [, scheme = "", user = "", authority = "", path = "", query = "", fragment = ""] =
    urlForm.exec(text) ?? [];
  const parameters = new URLSearchParams(query);
  const [givenHosts, givenPorts] = [parameters.get("host") ?? "", parameters.get("port") ?? ""];
  const attribute = parameters.get("target_session_attrs");
  for (const parameter of hostParameters) parameters.delete(parameter);
  // URLSearchParams writes a space as "+", which readers of connection URLs take literally.
  const rest = parameters.size === 0 ? "" : `?${parameters.toString().replace(/\+/g, "%20")}`;
  const places = authority.split(",").map((place) => hostForm.exec(place));
  const names =
    givenHosts === ""
      ? places.map((place) => place?.[1] || "localhost")
      : givenHosts.split(",").map(encodeURIComponent);
  const ports = givenPorts === "" ? places.map((place) => place?.[2] ?? "") : givenPorts.split(",");
  if (ports.length !== 1 && ports.length !== names.length) {
    throw new InvalidDatabaseUrl(
      `the database URL names ${names.length} hosts and ${ports.length} ports: name one port, or one for each host`,
    );
  }
  const urls = names.map((name, index) => {
    const port = ports[index] ?? ports[0] ?? "";
    return `${scheme}${user}${name}${port === "" ? "" : `:${port}`}${path}${rest}`;
  });
  // A "/", "?" or "#" in a password ends the host before its "@". Values of parameters may have one, behind a database.
  const ofQuery = authority !== "" && path === "" ? query : [...parameters.keys()].join();
  const isCut = user === "" && (path + ofQuery + fragment).includes("@");
  if (scheme === "" || isCut || places.includes(null) || !urls.every(isReadable)) {
    throw new InvalidDatabaseUrl(
      "the database URL must look like postgresql://user:password@host:5432/name, with several hosts like " +
        "postgresql://user:password@host1:5432,host2:5432/name, or for a socket like " +
        "postgresql://user:password@/name?host=/run/postgresql; in a password, characters such as / # ? % are " +
        "percent-encoded: %2F %23 %3F %25",
    );
  }
  requireUsableTls(parameters);
  const hosts = urls.map((url) => ({ name: hostName(url), url }));
  return { hosts, needsPrimary: needsPrimary(attribute, hosts.length) };
}

/** Whether it is a URL whose percent-encoding is whole; the driver decodes each of its parts. */
function isReadable(url: string): boolean {
  try {
    return URL.canParse(url) && decodeURIComponent(url) !== "";
  } catch {
    return false;
  }
}

function hostName(url: string): string {
  const { hostname, port } = new URL(url);
  return `${decodeURIComponent(hostname)}:${port || "5432"}`;
}

/** Without the parameter libpq takes any host. Of several, only one takes writes, and that one is meant. */
function needsPrimary(attribute: string | null, hostCount: number): boolean {
  if (attribute === null) return hostCount > 1;
  if (attribute === "any") return false;
  // The second one differs for libpq where a primary's transactions are read-only by default; ours never are.
  if (attribute === "read-write" || attribute === "primary") return true;
  throw new InvalidDatabaseUrl(
    `target_session_attrs must be read-write, primary or any, and not ${attribute}: ledgerctl writes`,
  );
}

/**
 * The URL of a replica, for `parseDatabaseUrl`: of several hosts, any that answers is connected to, and asked what it is.
 * Throws InvalidDatabaseUrl.
 */
export function readReplicaUrl(text: string): string {
  const [place = "", query] = text.split("?", 2);
  const parameters = new URLSearchParams(query);
  const attribute = parameters.get("target_session_attrs") ?? "any";
  if (attribute !== "any" && attribute !== "standby") {
    throw new InvalidDatabaseUrl(
      `target_session_attrs must be standby or any, and not ${attribute}: it is only read from`,
    );
  }
  parameters.set("target_session_attrs", "any");
  const url = `${place}?${parameters.toString().replace(/\+/g, "%20")}`;
  parseDatabaseUrl(url);
  return url;
}

/** The URL of a database with another host in it: the same user, database and parameters on another server. */
export function urlOfHost(
  databaseUrl: string,
  { name, port }: { name: string; port: number },
): string {
  const [first] = parseDatabaseUrl(databaseUrl).hosts;
  const url = new URL(first?.url ?? "");
  url.hostname = name.includes(":") ? `[${name}]` : name;
  url.port = String(port);
  return url.href;
}

/** What the driver is given for one host. Throws TypeError on a URL that can't be read. */
export function connectionTarget(hostUrl: string, applicationName: string): ConnectionTarget {
  const url = new URL(hostUrl);
  const ssl = readTls(hostUrl);
  for (const parameter of tlsParameters) url.searchParams.delete(parameter);
  if (!url.searchParams.has("application_name")) {
    url.searchParams.set("application_name", applicationName);
  }
  url.search = url.search.replace(/\+/g, "%20");
  return { url: url.href, ssl };
}

/** Throws InvalidDatabaseUrl, with the name of the parameter. */
function requireUsableTls(parameters: URLSearchParams): void {
  const mode = parameters.get("sslmode");
  if (mode !== null && !sslModes.includes(mode)) {
    throw new InvalidDatabaseUrl(`sslmode must be one of ${sslModes.join(", ")}, and not ${mode}`);
  }
  for (const parameter of tlsFiles) {
    const file = parameters.get(parameter) ?? "";
    if (file !== "") requireReadable(parameter, file);
  }
  const isLibpq = parameters.get("uselibpqcompat") === "true";
  if (isLibpq && mode === "verify-ca" && !parameters.get("sslrootcert")) {
    throw new InvalidDatabaseUrl("sslmode=verify-ca with uselibpqcompat=true needs an sslrootcert");
  }
}

function requireReadable(parameter: string, file: string): void {
  try {
    readFileSync(file);
  } catch (error) {
    const reason = errorCode(error) === "ENOENT" ? "there is no such file" : messageOf(error);
    throw new InvalidDatabaseUrl(
      `${parameter}=${file} in the database URL can't be read: ${reason}`,
    );
  }
}

/** Modes that pg reads as `verify-full`, and warns of: a later version is to check nothing there, as libpq does. */
const modesReadAsVerifyFull = ["allow", "prefer", "require", "verify-ca"];
const sslModes = ["disable", ...modesReadAsVerifyFull, "verify-full", "no-verify"];

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
