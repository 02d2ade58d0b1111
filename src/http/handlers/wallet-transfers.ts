// Moving amounts between wallets.
import type { TransferReply, WalletFigures } from "../../core/wallet-transfer.ts";
import {
  parseAtomicTransfers,
  parseTransfer,
  parseTransfersBody,
} from "../../contract/wallet-transfers-body.ts";
import type { TransferResult } from "../../contract/types.ts";
import { replyToItem } from "./item-replies.ts";
import type { RouteHandler } from "./route-handler.ts";

export const transferFunds: RouteHandler<"transferFunds"> = async ({ wallets }, request) => {
  const { ledger, bodyBytes } = request;
  const { isAtomic, transfers } = parseTransfersBody(request.body);
  if (isAtomic) {
    const atomic = parseAtomicTransfers(transfers);
    const replies = await wallets.transferAtomically(ledger, atomic, bodyBytes);
    return { results: replies.map(wireTransfer) };
  }
  const bytes = Math.ceil(bodyBytes / transfers.length);
  const results = await Promise.all(
    transfers.map((transfer) =>
      replyToItem(request, async () =>
        wireTransfer(await wallets.transferFunds(ledger, parseTransfer(transfer), bytes)),
      ),
    ),
  );
  return { results };
};

function wireTransfer({ status, transferId, from, to }: TransferReply): TransferResult {
  return { status, transferId, from: wireFigures(from), to: wireFigures(to) };
}

function wireFigures({ balance, available }: WalletFigures) {
  return { balance: balance.toString(), available: available.toString() };
}
