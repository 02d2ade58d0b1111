// Bodies of entries, and what tests read out of replies.
import { expect } from "vitest";
import type { Reply } from "./signed-request.ts";
import type { TestService } from "./service.ts";

export interface LineBody {
  glAccountCode: string;
  functionalAmount: string;
  [member: string]: unknown;
}

/** An entry of two lines over one amount, 1000 Dr to 4000 Cr; `more` adds members or replaces them. */
export function entry(amount: bigint | number = 100n, more: Record<string, unknown> = {}) {
  return {
    lines: [
      { glAccountCode: "1000", functionalAmount: String(amount) },
      { glAccountCode: "4000", functionalAmount: String(-BigInt(amount)) },
    ] as LineBody[],
    ...more,
  };
}

/** An entry whose first line has other members; the second line balances 100. */
export function entryWithLine(line: Record<string, unknown>) {
  return {
    lines: [
      { glAccountCode: "1000", functionalAmount: "100", ...line },
      { glAccountCode: "4000", functionalAmount: "-100" },
    ],
  };
}

export interface Written {
  readonly journalId: string;
  readonly persistedAt: string;
}

export interface ReadEntry extends Written {
  readonly ledgerId: string;
  readonly sequence: number;
  readonly externalId: string | null;
  readonly description: string | null;
  readonly transactionDate: string;
  readonly entryType: string;
  readonly metadata: Record<string, unknown>;
  readonly reversesJournalId: string | null;
  readonly reversedByJournalId: string | null;
  readonly lines: readonly Record<string, unknown>[];
}

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly code?: string;
  readonly errors?: readonly { detail: string; pointer?: string; parameter?: string }[];
  readonly journalId?: string;
  readonly persistedAt?: string;
  readonly reversalJournalId?: string;
}

export function entriesPath(ledgerId: string): string {
  return `/v1/ledgers/${ledgerId}/journal-entries`;
}

/** Posts an entry that has to be accepted. */
export async function postEntry(
  service: TestService,
  body: unknown,
  ledgerId = service.books.ledgerId,
): Promise<Written> {
  return written(await service.post(entriesPath(ledgerId), body));
}

/** Reverses an entry; that has to be accepted. */
export async function reverseEntry(
  service: TestService,
  journalId: string,
  ledgerId = service.books.ledgerId,
): Promise<Written> {
  return written(await service.post(`${entriesPath(ledgerId)}/${journalId}/reversal`));
}

export async function readEntry(
  service: TestService,
  journalId: string,
  ledgerId = service.books.ledgerId,
): Promise<ReadEntry> {
  const reply = await service.get(`${entriesPath(ledgerId)}/${journalId}`);
  expect(reply.status, reply.text).toBe(200);
  return reply.body as ReadEntry;
}

/** Posts an entry and reads it back. */
export async function postAndRead(
  service: TestService,
  body: unknown,
  ledgerId = service.books.ledgerId,
): Promise<ReadEntry> {
  const { journalId } = await postEntry(service, body, ledgerId);
  return readEntry(service, journalId, ledgerId);
}

export function written(reply: Reply): Written {
  expect(reply.status, reply.text).toBe(201);
  return reply.body as Written;
}

export function problem(reply: Reply): Problem {
  expect(reply.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
  return reply.body as Problem;
}

/** The pointers (or parameters) of a 400, in order. */
export function pointers(reply: Reply): string[] {
  expect(reply.status, reply.text).toBe(400);
  const { code, errors } = problem(reply);
  expect(code).toBe("VALIDATION_ERROR");
  return (errors ?? []).map(({ pointer, parameter }) => pointer ?? parameter ?? "");
}

export interface ReadPage {
  readonly entries: readonly ReadEntry[];
  readonly total: number;
  readonly hasMore: boolean;
}

/** One page of a ledger's journal. */
export async function listEntries(
  service: TestService,
  query = "",
  ledgerId = service.books.ledgerId,
): Promise<ReadPage> {
  const reply = await service.get(`${entriesPath(ledgerId)}${query}`);
  expect(reply.status, reply.text).toBe(200);
  return reply.body as ReadPage;
}

/** The balance of an account, with all its digits. */
export async function readBalance(
  service: TestService,
  account: string,
  currency?: string,
  ledgerId = service.books.ledgerId,
): Promise<{ balance: bigint; entryCount: number; currency: string }> {
  const query = new URLSearchParams({ account, ...(currency === undefined ? {} : { currency }) });
  const reply = await service.get(`/v1/ledgers/${ledgerId}/balances?${query.toString()}`);
  expect(reply.status, reply.text).toBe(200);
  const digits = /"balance":(-?[0-9]+)[,}]/.exec(reply.text)?.[1];
  const { entryCount, currency: told } = reply.body as { entryCount: number; currency: string };
  return { balance: BigInt(digits ?? "no digits"), entryCount, currency: told };
}
