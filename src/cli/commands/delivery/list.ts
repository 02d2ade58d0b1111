// `delivery list`: deliveries, and how far each has come.
import type { Environment } from "../../../config.ts";
import type { Delivery } from "../../../client/ledger-client.ts";
import { withService } from "../../connection/service-context.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import type { Column } from "../../terminal/output.ts";

export async function listDeliveries(flags: ServiceFlags, environment: Environment): Promise<void> {
  await withService(flags, environment, async ({ client, ledgerId, output }) => {
    const deliveries = await client.listDeliveries(ledgerId());
    output.list(deliveries, columns, ({ id }) => id, csvColumns);
  });
}

const csvColumns = [
  ...(["id", "url", "events", "status", "pauseReason", "cursor", "lag"] as const),
  ...(["walletCursor", "walletLag", "failingSince", "failure", "createdAt", "secret"] as const),
];

const columns: readonly Column<Delivery>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "STATUS", value: statusOf },
  { title: "CURSOR", align: "right", value: ({ cursor }) => cursor },
  { title: "LAG", align: "right", value: ({ lag }) => String(lag) },
  {
    title: "WALLETS",
    align: "right",
    leaveOut: 3,
    value: ({ walletCursor }) => walletCursor ?? "",
  },
  {
    title: "WALLETS' LAG",
    align: "right",
    leaveOut: 3,
    value: ({ walletLag }) => String(walletLag ?? ""),
  },
  { title: "EVENTS", leaveOut: 1, value: ({ events }) => events.join(" ") },
  { title: "URL", cutTo: 20, value: ({ url }) => url },
  { title: "FAILURE", leaveOut: 2, value: ({ failure }) => failure ?? "" },
];

/** With why it is paused, or that it fails. */
function statusOf({ status, pauseReason, failingSince }: Delivery): string {
  if (pauseReason !== null) return pauseReason === "asked" ? status : `${status} (${pauseReason})`;
  return failingSince === null ? status : "failing";
}
