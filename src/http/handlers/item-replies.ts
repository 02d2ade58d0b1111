// Bulks of wallets, whose items are accepted or refused each by itself.
import type { Refusal } from "../../core/errors.ts";
import { asRefusal, plainMessage } from "../problems.ts";

interface RefusedItem {
  /** The HTTP status that it would have had by itself. */
  readonly status: number;
  readonly error: string;
}

/** The reply to one item, or its refusal, which is noted with the request. */
export async function replyToItem<Reply>(
  request: { readonly noteRefusal: (refusal: Refusal) => void },
  work: () => Promise<Reply>,
): Promise<Reply | RefusedItem> {
  try {
    return await work();
  } catch (error) {
    const refusal = asRefusal(error);
    request.noteRefusal(refusal);
    return { status: refusal.status, error: plainMessage(refusal) };
  }
}
