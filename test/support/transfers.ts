// Transfers between wallets, and what tests read out of the replies.
import { expect } from "vitest";
import type { TestService } from "./service.ts";
import type { Reply } from "./signed-request.ts";
import type { Figures } from "./wallets.ts";

export interface TransferResult {
  readonly status: "accepted" | "duplicate" | number;
  readonly transferId?: string | null;
  readonly from?: Figures;
  readonly to?: Figures;
  readonly error?: string;
}

/** A transfer of an amount in USD; `more` adds members or replaces them. */
export function transfer(
  from: string,
  to: string,
  amount: bigint | number = 10,
  more: Record<string, unknown> = {},
) {
  return { from, to, amount: String(amount), assetCode: "USD", ...more };
}

export function transferFunds(
  service: TestService,
  transfers: readonly unknown[],
  more: Record<string, unknown> = {},
  ledgerId = service.books.ledgerId,
): Promise<Reply> {
  return service.post(`/v1/ledgers/${ledgerId}/wallet-transfers`, { transfers, ...more });
}

/** The results of a reply that has to be 200. */
export function transferResults(reply: Reply): readonly TransferResult[] {
  expect(reply.status, reply.text).toBe(200);
  expect(Object.keys(reply.body as object)).toEqual(["results"]);
  return (reply.body as { results: readonly TransferResult[] }).results;
}

/** One transfer, by itself. */
export async function transferOne(
  service: TestService,
  ...given: Parameters<typeof transfer>
): Promise<TransferResult> {
  const [result] = transferResults(await transferFunds(service, [transfer(...given)]));
  if (result === undefined) throw new Error("one transfer has one result");
  return result;
}
