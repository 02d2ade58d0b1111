// Making, pausing and removing deliveries, for API keys with the scope `admin`. The record of administration names the key.
import {
  deriveDeliverySecret,
  type DeliveryEventKind,
  type DeliveryStart,
} from "../../core/delivery.ts";
import { Refusal, validationRefusal } from "../../core/errors.ts";
import { masterKeyFingerprint } from "../../core/signing.ts";
import { parseUuid, quoted } from "../../core/text.ts";
import { nameOperator } from "../../store/administration-acts.ts";
import type { Connection } from "../../store/database/connection.ts";
import type { Pool } from "../../store/database/pool.ts";
import * as store from "../../store/deliveries.ts";
import { lockJournalHead, readClock } from "../../store/journal-heads.ts";
import { writeBarrier } from "../../store/ledger-states.ts";
import * as walletOrder from "../../store/ordered-wallet-writes.ts";
import { commitsHalted } from "../group-commit.ts";
import type { AdministrativeAct } from "../ledger-administration.ts";
import { withLedgerStateLocked } from "../ledger-state.ts";
import { newId } from "../new-id.ts";
import { receiverUrlFault } from "./delivery-request.ts";
import { placeFor } from "./delivery-start.ts";

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
   * Makes a delivery and its secret, which is told here alone. Rejects with `validation` for a URL that nothing may be sent
   * to. The first of a ledger that delivers wallet writes has them numbered from then on.
   */
  async createDelivery(
    act: AdministrativeAct,
    { url, events }: { readonly url: string; readonly events: readonly DeliveryEventKind[] },
    start: DeliveryStart,
  ): Promise<{ readonly delivery: store.DeliveryRecord; readonly secret: string }> {
    const { masterKey, allowsPrivate } = this.#options;
    const fault = receiverUrlFault(url, allowsPrivate);
    if (fault !== null) throw validationRefusal([{ path: ["url"], detail: fault }]);
    const { ledgerId } = act;
    const deliveryId = newId();
    const delivery = await this.#actOn(act, events, async (transaction) => {
      // One is made at a time, so that they can be counted.
      await lockJournalHead(transaction, ledgerId);
      if ((await store.listDeliveries(transaction, ledgerId)).length >= deliveriesMax) {
        const detail = `the ledger has ${deliveriesMax} deliveries, and may have no more`;
        throw validationRefusal([{ path: [], detail }]);
      }
      await store.insertDelivery(transaction, ledgerId, {
        ...{ deliveryId, url, events },
        masterKeyFingerprint: masterKeyFingerprint(masterKey),
        createdAt: await readClock(transaction),
      });
      if (events.includes("wallet")) await orderWalletWrites(transaction, ledgerId);
      const place = await placeFor(transaction, ledgerId, events, start);
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
      // In the order in which a delivery is removed: neither waits for the other while the other waits for it.
      await store.updateDeliveryPause(transaction, act.ledgerId, deliveryId, null);
      await store.updateDeliveryPlace(transaction, act.ledgerId, deliveryId, {});
    });
  }

  /** Delivers again what is behind a place; what `start` does not name stays where it is. Rejects with `deliveryNotFound`. */
  async replayDelivery(
    act: AdministrativeAct,
    id: string,
    start: DeliveryStart,
  ): Promise<store.DeliveryRecord> {
    return this.#change(act, id, async (transaction, deliveryId, { events }) => {
      const { walletNumber, ...journal } = await placeFor(transaction, act.ledgerId, events, start);
      await store.updateDeliveryPlace(transaction, act.ledgerId, deliveryId, {
        ...(start.journal === null ? {} : journal),
        ...(start.walletNumber === null ? {} : { walletNumber }),
      });
    });
  }

  /**
   * Removes a delivery; resolves with what it was. Rejects with `deliveryNotFound`. Behind the last that delivered wallet
   * writes, they are numbered no longer.
   */
  async deleteDelivery(act: AdministrativeAct, id: string): Promise<store.DeliveryRecord> {
    const { ledgerId } = act;
    const { events } = await requireDelivery(this.#pool, ledgerId, parseUuid(id), id);
    return this.#actOn(act, events, async (transaction) => {
      const delivery = await requireDelivery(transaction, ledgerId, parseUuid(id), id);
      await store.deleteDelivery(transaction, ledgerId, delivery.deliveryId);
      const others = await store.listDeliveries(transaction, ledgerId);
      if (events.includes("wallet") && !others.some((other) => other.events.includes("wallet"))) {
        await walletOrder.updateWalletOrder(transaction, ledgerId, null);
      }
      return delivery;
    });
  }

  #change(
    act: AdministrativeAct,
    id: string,
    change: (
      transaction: Connection,
      deliveryId: string,
      delivery: store.DeliveryRecord,
    ) => Promise<unknown>,
  ): Promise<store.DeliveryRecord> {
    const { ledgerId } = act;
    return this.#act(act, async (transaction) => {
      const delivery = await requireDelivery(transaction, ledgerId, parseUuid(id), id);
      const { deliveryId } = delivery;
      await change(transaction, deliveryId, delivery);
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

  /**
   * The same, of a delivery of these events. Whether wallet writes are numbered changes only while no batch is under way that
   * has read it otherwise.
   */
  async #actOn<Result>(
    act: AdministrativeAct,
    events: readonly DeliveryEventKind[],
    work: (transaction: Connection) => Promise<Result>,
  ): Promise<Result> {
    if (!events.includes("wallet")) return this.#act(act, work);
    if (this.#options.areCommitsHalted()) throw commitsHalted;
    return withLedgerStateLocked(this.#pool, act.ledgerId, async (transaction) => {
      await nameOperator(transaction, act.apiKey);
      return work(transaction);
    });
  }
}

/** Has wallet writes numbered, where they are not; in a transaction that holds the ledger's state alone. */
async function orderWalletWrites(transaction: Connection, ledgerId: string): Promise<void> {
  const { orderedAfter, lastNumber } = await walletOrder.readWalletOrder(transaction, ledgerId);
  if (orderedAfter !== null) return;
  await walletOrder.insertWalletOrderHead(transaction, ledgerId);
  await walletOrder.updateWalletOrder(transaction, ledgerId, lastNumber);
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
