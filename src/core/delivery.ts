// Deliveries of events (webhooks): which kinds there are, where a delivery stands, and what proves who sent a request.
import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

/** Entries, among them those that post wallets; closes; postings of wallets by themselves; rows of wallets' logs. */
export const deliveryEventKinds = ["entry", "close", "posting", "wallet"] as const;
export type DeliveryEventKind = (typeof deliveryEventKinds)[number];

/** What a receiver has of the journal: entries up to a sequence, and closes up to a number. */
export interface JournalPlace {
  readonly sequence: number;
  readonly closeNumber: number;
}

/** What a receiver has by now: of the journal, and wallet writes up to a number in the ledger's order of them. */
export interface DeliveryPlace extends JournalPlace {
  readonly walletNumber: number;
}

/** Where a delivery is to begin, of the journal and of wallet writes; null where none is named. */
export interface DeliveryStart {
  readonly journal: JournalPlace | null;
  readonly walletNumber: number | null;
}

/** A place in the journal as it travels: `1017.3`. The cursor of wallet writes is their number alone. */
export function formatCursor({ sequence, closeNumber }: JournalPlace): string {
  return `${sequence}.${closeNumber}`;
}

/** Reads a cursor of the journal; null for anything else. */
export function parseCursor(text: string): JournalPlace | null {
  const [, sequence, closeNumber] = /^([0-9]{1,15})\.([0-9]{1,15})$/.exec(text) ?? [];
  if (sequence === undefined || closeNumber === undefined) return null;
  return { sequence: Number(sequence), closeNumber: Number(closeNumber) };
}

/** Reads a cursor of wallet writes; null for anything else. */
export function parseWalletCursor(text: string): number | null {
  return /^[0-9]{1,15}$/.test(text) ? Number(text) : null;
}

/**
 * The secret of a delivery: `ds_` and base64url of
 * HKDF-SHA256(master key, empty salt, `ledgerctl/delivery-secret/v1/` + id, 32 bytes) (RFC 5869).
 */
export function deriveDeliverySecret(masterKey: Uint8Array, deliveryId: string): string {
  const info = `ledgerctl/delivery-secret/v1/${deliveryId}`;
  return `ds_${Buffer.from(hkdfSync("sha256", masterKey, "", info, 32)).toString("base64url")}`;
}

/** The value of `Ledgerctl-Signature`: HMAC-SHA256 of `<t>.<body>`, keyed with the UTF-8 bytes of the whole secret. */
export function signDelivery(secret: string, unixSeconds: number, body: string): string {
  return `t=${unixSeconds},v1=${hmacOf(secret, unixSeconds, body).toString("hex")}`;
}

/** When a request was signed, in Unix seconds, where the signature is that of its body; else null. */
export function signatureTime(
  secret: string,
  signature: string,
  body: string | Uint8Array,
): number | null {
  const [, time = "", ...rest] = /^t=([0-9]{1,12}),v1=([0-9a-f]{64})$/.exec(signature) ?? [];
  const [given] = rest;
  if (given === undefined) return null;
  const due = hmacOf(secret, Number(time), body);
  return timingSafeEqual(due, Buffer.from(given, "hex")) ? Number(time) : null;
}

function hmacOf(secret: string, unixSeconds: number, body: string | Uint8Array): Buffer {
  return createHmac("sha256", secret).update(`${unixSeconds}.`).update(body).digest();
}

const backoffMsMin = 1_000;
const backoffMsMax = 5 * 60_000;

/** How long to wait after so many failures: twice as long each time, up to 5 minutes, less up to a half by `random` in [0, 1). */
export function deliveryWaitMs(failures: number, random: number): number {
  const longest = Math.min(backoffMsMax, backoffMsMin * 2 ** Math.min(failures, 20));
  return Math.round(longest * (1 - random / 2));
}
