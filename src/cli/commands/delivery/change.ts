// `delivery pause`, `resume`, `replay` and `remove`.
import type { Environment } from "../../../config.ts";
import type { Delivery, LedgerClient } from "../../../client/ledger-client.ts";
import { withService } from "../../connection/service-context.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { usageFailure } from "../../failure.ts";
import { requireId } from "../../input/arguments.ts";

type Change = (client: LedgerClient, ledgerId: string, deliveryId: string) => Promise<Delivery>;

async function change(
  id: string,
  flags: ServiceFlags,
  environment: Environment,
  work: Change,
  told: (delivery: Delivery) => string,
): Promise<void> {
  const deliveryId = requireId("ID", id);
  await withService(flags, environment, async ({ client, ledgerId, output }) => {
    const delivery = await work(client, ledgerId(), deliveryId);
    output.result(delivery, () => told(delivery));
  });
}

export function pauseDelivery(id: string, flags: ServiceFlags, environment: Environment) {
  const pause: Change = (client, ledgerId, delivery) => client.pauseDelivery(ledgerId, delivery);
  return change(id, flags, environment, pause, (delivery) => `paused at ${placeOf(delivery)}`);
}

export function resumeDelivery(id: string, flags: ServiceFlags, environment: Environment) {
  const resume: Change = (client, ledgerId, delivery) => client.resumeDelivery(ledgerId, delivery);
  return change(id, flags, environment, resume, goesOn);
}

export function removeDelivery(id: string, flags: ServiceFlags, environment: Environment) {
  const remove: Change = (client, ledgerId, delivery) => client.deleteDelivery(ledgerId, delivery);
  return change(id, flags, environment, remove, ({ url }) => `removed: ${url} gets nothing more`);
}

export function replayDelivery(
  id: string,
  flags: ServiceFlags & { since?: string; walletSince?: string },
  environment: Environment,
) {
  const { since, walletSince } = flags;
  if (since === undefined && walletSince === undefined) {
    throw usageFailure("name a cursor with --since, --wallet-since or both");
  }
  const from = {
    ...(since === undefined ? {} : { since }),
    ...(walletSince === undefined ? {} : { walletSince }),
  };
  const replay: Change = (client, ledgerId, delivery) =>
    client.replayDelivery(ledgerId, delivery, from);
  return change(id, flags, environment, replay, goesOn);
}

function goesOn(delivery: Delivery): string {
  return `goes on from ${placeOf(delivery)}`;
}

/** Its cursors: of the journal, and of wallet writes where it delivers them. */
function placeOf({ cursor, walletCursor }: Delivery): string {
  return walletCursor === null ? cursor : `${cursor}, wallet writes ${walletCursor}`;
}
