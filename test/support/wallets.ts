// Requests to wallets, and what tests read out of the replies.
import { expect } from "vitest";
import { readLog, type LoggedRow } from "./wallet-oracle.ts";
import type { Reply } from "./signed-request.ts";
import type { TestService } from "./service.ts";

export interface Figures {
  readonly balance: string;
  readonly available: string;
}

export interface WalletReply extends Figures {
  readonly status: "accepted" | "duplicate";
  readonly holdId?: string | null;
}

let made = 0;

/** A wallet that no test has met. */
export function newKey(service: TestService, ledgerId = service.books.ledgerId): string {
  made += 1;
  return `${ledgerId}:wallet-${made}`;
}

/** The path of a wallet, its key percent-encoded. */
export function walletPath(walletKey: string, rest: string): string {
  return `/v1/wallets/${encodeURIComponent(walletKey)}/${rest}`;
}

/** A write of an amount in USD; `more` adds members or replaces them. */
export function movement(amount: bigint | number = 100, more: Record<string, unknown> = {}) {
  return { amount: String(amount), assetCode: "USD", ...more };
}

export function move(
  service: TestService,
  walletKey: string,
  verb: "credit" | "debit" | "reserve",
  amount: bigint | number = 100,
  more: Record<string, unknown> = {},
): Promise<Reply> {
  return service.post(walletPath(walletKey, verb), movement(amount, more));
}

/** Resolves a hold. */
export function resolve(
  service: TestService,
  walletKey: string,
  holdId: string,
  verb: "commit" | "release",
  body?: unknown,
): Promise<Reply> {
  return service.post(walletPath(walletKey, `holds/${holdId}/${verb}`), body);
}

/** A reply that has to be 200. */
export function accepted(reply: Reply): WalletReply {
  expect(reply.status, reply.text).toBe(200);
  expect(reply.body).toMatchObject({ status: "accepted" });
  return reply.body as WalletReply;
}

export function expectDuplicate(reply: Reply, balance: string, available = balance): void {
  expect(reply.status, reply.text).toBe(200);
  expect(reply.body).toMatchObject({ status: "duplicate", balance, available });
}

/** A refusal of a wallet path: the status and `{ error }` with that one member. Returns the message. */
export function refusal(reply: Reply, status: number): string {
  expect(reply.status, reply.text).toBe(status);
  expect(reply.headers["content-type"]).toBe("application/json; charset=utf-8");
  expect(reply.headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
  expect(Object.keys(reply.body as object)).toEqual(["error"]);
  const { error } = reply.body as { error: string };
  expect(error).toMatch(/\S/);
  return error;
}

export async function readFigures(service: TestService, walletKey: string): Promise<Figures> {
  const reply = await service.get(walletPath(walletKey, "balance"));
  expect(reply.status, reply.text).toBe(200);
  expect(Object.keys(reply.body as object).sort()).toEqual(["available", "balance"]);
  return reply.body as Figures;
}

export async function expectFigures(
  service: TestService,
  walletKey: string,
  balance: bigint | number,
  available = balance,
): Promise<void> {
  expect(await readFigures(service, walletKey)).toEqual({
    balance: String(balance),
    available: String(available),
  });
}

/** The whole log of a wallet, by its key as it is. */
export function readWalletLog(service: TestService, walletKey: string): Promise<LoggedRow[]> {
  return readLog(service, encodeURIComponent(walletKey));
}

/** Reserves and returns the hold's id. */
export async function hold(
  service: TestService,
  walletKey: string,
  amount: bigint | number,
  more: Record<string, unknown> = {},
): Promise<string> {
  const { holdId } = accepted(await move(service, walletKey, "reserve", amount, more));
  if (typeof holdId !== "string") throw new Error("a reservation has a hold");
  return holdId;
}
