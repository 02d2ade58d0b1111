// The two logs of a ledger: their names and their keys.
import { hkdfSync } from "node:crypto";
import { keyNameFault, NoteSigner } from "./note.ts";
import { parseUuid } from "./text.ts";

/** The journal's leaves are its entries by sequence, those of the closes the records by number. */
export const logKinds = ["journal", "closes"] as const;
export type LogKind = (typeof logKinds)[number];

/** The name of logs whose operator gave none. */
export const defaultLogName = "ledgerctl.invalid";

/** Which log: `generation` is 1, and one more each time that the log was begun anew. */
export interface LogIdentity {
  readonly ledgerId: string;
  readonly log: LogKind;
  readonly generation: number;
}

/** What is wrong with the name that an operator gives to the logs, or null. Slashes may be in it, but at no end. */
export function logNameFault(name: string): string | null {
  const fault = keyNameFault(name);
  if (fault !== null) return fault;
  if (name.includes("://")) return "must be a URL without its scheme, such as ledger.example.com";
  return name.startsWith("/") || name.endsWith("/") ? "must not begin or end with a slash" : null;
}

/** `<log name>/<ledgerId>/journal`, behind which a later generation has `.2`, `.3` … */
export function formatOrigin(logName: string, { ledgerId, log, generation }: LogIdentity): string {
  return `${logName}/${ledgerId}/${log}${generation === 1 ? "" : `.${generation}`}`;
}

/** The log that an origin names; null where it is none of ours. */
export function parseOrigin(origin: string): (LogIdentity & { readonly logName: string }) | null {
  const match = /^(.+)\/([^/]+)\/(journal|closes)(?:\.([1-9][0-9]{0,8}))?$/.exec(origin);
  const [, logName, ledger, log, number] = match ?? [];
  const ledgerId = parseUuid(ledger ?? "");
  const generation = Number(number ?? 1);
  const kind = logKinds.find((one) => one === log);
  if (logName === undefined || ledgerId === null || kind === undefined) return null;
  const identity = { logName, ledgerId, log: kind, generation };
  return formatOrigin(logName, identity) === origin ? identity : null;
}

/**
 * The key of a log. Its Ed25519 seed is HKDF-SHA256(log key, empty salt, `ledgerctl/log-key/v1/` + origin, 32 bytes)
 * (RFC 5869): each log has a key of its own, since a policy may list a public key only once.
 */
export function logSigner(logKey: Uint8Array, origin: string): NoteSigner {
  const seed = hkdfSync("sha256", logKey, "", `ledgerctl/log-key/v1/${origin}`, 32);
  return new NoteSigner(origin, new Uint8Array(seed));
}
