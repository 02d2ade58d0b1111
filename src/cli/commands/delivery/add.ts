// `delivery add`: a delivery, whose secret is shown this once.
import type { Environment } from "../../../config.ts";
import type { DeliveryInput } from "../../../client/ledger-client.ts";
import { deliveryEventKinds } from "../../../core/delivery.ts";
import { withService } from "../../connection/service-context.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { requireOneOf } from "../../input/arguments.ts";
import { members } from "../../terminal/output.ts";

export interface AddDeliveryFlags extends ServiceFlags {
  events: string;
  since?: string;
  walletSince?: string;
}

export async function addDelivery(
  url: string,
  flags: AddDeliveryFlags,
  environment: Environment,
): Promise<void> {
  const events = flags.events
    .split(",")
    .map((kind) => requireOneOf("--events", kind.trim(), deliveryEventKinds));
  const wanted: DeliveryInput = {
    ...{ url, events },
    ...(flags.since === undefined ? {} : { since: flags.since }),
    ...(flags.walletSince === undefined ? {} : { walletSince: flags.walletSince }),
  };
  await withService(flags, environment, async ({ client, ledgerId, output }) => {
    const made = await client.createDelivery(ledgerId(), wanted);
    const { id, status, cursor, walletCursor, secret } = made;
    const wallets = walletCursor === null ? {} : { walletCursor };
    // The id alone would lose the secret for ever.
    output.result(made, () =>
      output.isQuiet
        ? `${id} ${secret ?? ""}`
        : members({ id, url, events: events.join(" "), status, cursor, ...wallets, secret }),
    );
  });
}
