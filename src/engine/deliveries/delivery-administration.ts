// Making, pausing and removing deliveries, for API keys with the scope `admin`. The record of administration names the key.
import { deriveDeliverySecret, type DeliveryEventKind } from "../../core/delivery.ts";
import type { DeliveryPlace } from "../../core/delivery.ts";
import { Refusal, validationRefusal } from "../../core/errors.ts";
import { masterKeyFingerprint } from "../../core/signing.ts";
import { parseUuid, quoted } from "../../core/text.ts";
import { nameOperator } from "../../store/administration-acts.ts";
import type { Connection } from "../../store/database/connection.ts";
import type { Pool } from "../../store/database/pool.ts";
import * as store from "../../store/deliveries.ts";
import { readClock, readJournalHead } from "../../store/journal-heads.ts";
import { writeBarrier } from "../../store/ledger-states.ts";
import { findLastClose } from "../../store/period-closes.ts";
import { commitsHalted } from "../group-commit.ts";
import type { AdministrativeAct } from "../ledger-administration.ts";
import { newId } from "../new-id.ts";
import { receiverUrlFault } from "./delivery-request.ts";

export interface DeliveryAdministrationOptions {
  readonly masterKey: Buffer;
  readonly allowsPrivate: boolean;
  readonly areCommitsHalted: () => boolean;
}

/** Of one ledger. */
const deliveriesMax = 50;

export class DeliveryAdministration {
  readonly #pool: Pool;
  readonly #options: DeliveryAdministrationOptions;

  constructor(pool: Pool, options: DeliveryAdministrationOptions) {
    this.#pool = pool;
    this.#options = options;
  }

  /**
   * Makes a delivery that begins behind a place, or with what is recorded next (null), and its secret, which is told here
   * alone. Rejects with `validation` for a URL that nothing may be sent to.
   */
  async createDelivery(
    act: AdministrativeAct,
    { url, events }: { readonly url: string; readonly events: readonly DeliveryEventKind[] },
    since: DeliveryPlace | null,
  ): Promise<{ readonly delivery: store.DeliveryRecord; readonly secret: string }> {
    const { masterKey, allowsPrivate } = this.#options;
    const fault = receiverUrlFault(url, allowsPrivate);
    if (fault !== null) throw validationRefusal([{ path: ["url"], detail: fault }]);
    const { ledgerId } = act;
    const deliveryId = newId();
    const delivery = await this.#act(act, async (transaction) => {
      if ((await store.listDeliveries(transaction, ledgerId)).length >= deliveriesMax) {
        const detail = `the ledger has ${deliveriesMax} deliveries, and may have no more`;
        throw validationRefusal([{ path: [], detail }]);
      }
      await store.insertDelivery(transaction, ledgerId, {
        ...{ deliveryId, url, events },
        masterKeyFingerprint: masterKeyFingerprint(masterKey),
        createdAt: await readClock(transaction),
      });
      const place = await placeFor(transaction, ledgerId, since, ["since"]);
      await store.insertDeliveryProgress(transaction, ledgerId, deliveryId, place);
      return requireDelivery(transaction, ledgerId, deliveryId);
    });
    return { delivery, secret: deriveDeliverySecret(masterKey, deliveryId) };
  }

  /** Pauses a delivery; one that is paused stays as it is. Rejects with `deliveryNotFound`. */
  async pauseDelivery(act: AdministrativeAct, id: string): Promise<store.DeliveryRecord> {
    return this.#change(act, id, (transaction, deliveryId) =>
      store.updateDeliveryPause(transaction, act.ledgerId, deliveryId, "asked"),
    );
  }

  /** Lets a delivery go on from where it was, at once. Rejects with `deliveryNotFound`. */
  async resumeDelivery(act: AdministrativeAct, id: string): Promise<store.DeliveryRecord> {
    return this.#change(act, id, async (transaction, deliveryId) => {
      await store.updateDeliveryPlace(transaction, act.ledgerId, deliveryId, null);
      await store.updateDeliveryPause(transaction, act.ledgerId, deliveryId, null);
    });
  }

  /** Delivers again what is behind a place. Rejects with `deliveryNotFound`. */
  async replayDelivery(
    act: AdministrativeAct,
    id: string,
    since: DeliveryPlace,
  ): Promise<store.DeliveryRecord> {
    return this.#change(act, id, async (transaction, deliveryId) => {
      const place = await placeFor(transaction, act.ledgerId, since, ["since"]);
      await store.updateDeliveryPlace(transaction, act.ledgerId, deliveryId, place);
    });
  }

  /** Removes a delivery; resolves with what it was. Rejects with `deliveryNotFound`. */
  async deleteDelivery(act: AdministrativeAct, id: string): Promise<store.DeliveryRecord> {
    const { ledgerId } = act;
    return this.#act(act, async (transaction) => {
      const delivery = await requireDelivery(transaction, ledgerId, parseUuid(id), id);
      await store.deleteDelivery(transaction, ledgerId, delivery.deliveryId);
      return delivery;
    });
  }

  #change(
    act: AdministrativeAct,
    id: string,
    change: (transaction: Connection, deliveryId: string) => Promise<unknown>,
  ): Promise<store.DeliveryRecord> {
    const { ledgerId } = act;
    return this.#act(act, async (transaction) => {
      const { deliveryId } = await requireDelivery(transaction, ledgerId, parseUuid(id), id);
      await change(transaction, deliveryId);
      return requireDelivery(transaction, ledgerId, deliveryId);
    });
  }

  /** In a transaction that writes to the log, also where nothing changes: what is answered, the standbys have. */
  async #act<Result>(
    { ledgerId, apiKey }: AdministrativeAct,
    work: (transaction: Connection) => Promise<Result>,
  ): Promise<Result> {
    if (this.#options.areCommitsHalted()) throw commitsHalted;
    return this.#pool.transaction(async (transaction) => {
      await writeBarrier(transaction, ledgerId);
      await nameOperator(transaction, apiKey);
      return work(transaction);
    });
  }
}

/** A place that exists; null: where the journal ends. */
async function placeFor(
  transaction: Connection,
  ledgerId: string,
  since: DeliveryPlace | null,
  path: readonly string[],
): Promise<DeliveryPlace> {
  const { lastSequence } = await readJournalHead(transaction, ledgerId);
  const closeNumber = (await findLastClose(transaction, ledgerId))?.number ?? 0;
  if (since === null) return { sequence: lastSequence, closeNumber };
  if (since.sequence > lastSequence || since.closeNumber > closeNumber) {
    const detail = `is beyond what the ledger has: ${lastSequence}.${closeNumber}`;
    throw validationRefusal([{ path, detail }]);
  }
  return since;
}

async function requireDelivery(
  transaction: Connection,
  ledgerId: string,
  deliveryId: string | null,
  given: string = deliveryId ?? "",
): Promise<store.DeliveryRecord> {
  const delivery =
    deliveryId === null ? null : await store.findDelivery(transaction, ledgerId, deliveryId);
  if (delivery === null) {
    throw new Refusal("deliveryNotFound", `the ledger has no delivery ${quoted(given)}`);
  }
  return delivery;
}
