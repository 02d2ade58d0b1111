// Delivering events: each delivery that is behind is worked on by one server at a time, which holds a lease on it.
// What is sent was confirmed by a COMMIT before (docs/decisions/0010); what was accepted moves the delivery on, at least once.
import { deriveDeliverySecret, deliveryWaitMs, signDelivery } from "../../core/delivery.ts";
import type { DeliveryPlace } from "../../core/delivery.ts";
import { masterKeyFingerprint } from "../../core/signing.ts";
import type { Pool } from "../../store/database/pool.ts";
import * as store from "../../store/deliveries.ts";
import { readJournalHead } from "../../store/journal-heads.ts";
import { readWalletOrder } from "../../store/ordered-wallet-writes.ts";
import { findLastClose } from "../../store/period-closes.ts";
import { newId } from "../new-id.ts";
import { repeat } from "../repeat.ts";
import { readDeliveryEvents, type DeliveryEvent } from "./delivery-events.ts";
import { sendDelivery, type ReceiverLimits } from "./delivery-request.ts";

/** A delivery by the ids that name it. */
export interface DeliveryIdentity {
  readonly ledgerId: string;
  readonly deliveryId: string;
}

export interface DelivererOptions extends ReceiverLimits {
  readonly intervalMs: number;
  readonly masterKeys: readonly Buffer[];
  /** The body of a request. */
  readonly writeBody: (identity: DeliveryIdentity, events: readonly DeliveryEvent[]) => string;
  /** Whether COMMITs wait for a standby without end, so that none may be added. */
  readonly areCommitsHalted: () => boolean;
  /** One was paused, since it has failed for a day. */
  readonly onPaused: (identity: DeliveryIdentity, failure: string) => void;
  readonly onFailure: (error: unknown) => void;
  readonly onSuccess?: () => void;
}

/** Longer than a request may take. */
const leaseMs = 30_000;
const failingMsMax = 24 * 3_600_000;
/** Receivers that are waited for at once; each for seconds at most. */
const workedOnMax = 256;

export class Deliverer {
  /** What this process has counted. */
  readonly counts = { accepted: 0, failed: 0, events: 0 };
  readonly #pool: Pool;
  readonly #pages: Pool;
  readonly #options: DelivererOptions;
  readonly #worker = newId();
  readonly #workedOn = new Map<string, Promise<void>>();
  readonly #stopping = new AbortController();
  #end: () => Promise<void> = () => Promise.resolve();

  /** `pool` commits; events are read through `pages`. */
  constructor(pool: Pool, pages: Pool, options: DelivererOptions) {
    this.#pool = pool;
    this.#pages = pages;
    this.#options = options;
  }

  start(): void {
    this.#end = repeat(this.#options.intervalMs, () => this.#look());
  }

  /** Requests under way are cancelled, and sent again by whoever takes the delivery next. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#end();
    await Promise.all(this.#workedOn.values());
  }

  /** Takes up what is due and nobody works on. */
  async #look(): Promise<void> {
    if (this.#options.areCommitsHalted()) return;
    try {
      for (const identity of await store.listDueDeliveries(this.#pages, this.#worker)) {
        const { deliveryId } = identity;
        const isFull = this.#workedOn.size >= workedOnMax || this.#stopping.signal.aborted;
        if (isFull || this.#workedOn.has(deliveryId)) continue;
        const work = this.#work(identity)
          .catch(this.#options.onFailure)
          .finally(() => this.#workedOn.delete(deliveryId));
        this.#workedOn.set(
          deliveryId,
          work.then(() => undefined),
        );
      }
      this.#options.onSuccess?.();
    } catch (error) {
      this.#options.onFailure(error);
    }
  }

  /** Delivers until there is nothing left, something fails, or the delivery is taken away. */
  async #work(identity: DeliveryIdentity): Promise<void> {
    const { signal } = this.#stopping;
    let goesOn = true;
    while (goesOn && !signal.aborted) goesOn = await this.#deliver(identity);
    if (!signal.aborted) return;
    // Another server need not wait for the end of the lease.
    const { ledgerId, deliveryId } = identity;
    await store.releaseDelivery(this.#pool, ledgerId, deliveryId, this.#worker);
  }

  /** Sends the next request, where there is one; whether there may be another. */
  async #deliver(identity: DeliveryIdentity): Promise<boolean> {
    const { ledgerId, deliveryId } = identity;
    const leased = await this.#lease(identity);
    if (leased === null) return false;
    const { delivery, lease, upTo } = leased;
    const { events, place } = await readDeliveryEvents(
      this.#pages,
      ledgerId,
      delivery.events,
      lease,
      upTo,
    );
    if (!isBeyond(place, lease)) {
      await store.releaseDelivery(this.#pool, ledgerId, deliveryId, this.#worker);
      return false;
    }
    const failure = events.length === 0 ? null : await this.#send(identity, delivery, events);
    if (failure === null) return this.#advance(identity, place, events.length);
    if (!this.#stopping.signal.aborted) await this.#postpone(identity, lease.attempts, failure);
    return false;
  }

  /**
   * The lease is a COMMIT on the session that has read how far the journal and the order of wallet writes go: the standbys
   * have all of that. Null where the delivery is not there to be worked on.
   */
  #lease({ ledgerId, deliveryId }: DeliveryIdentity) {
    return this.#pool.withConnection(async (connection) => {
      const delivery = await store.findDelivery(connection, ledgerId, deliveryId);
      const { lastSequence } = await readJournalHead(connection, ledgerId);
      const lastClose = await findLastClose(connection, ledgerId);
      const { lastNumber: walletNumber } = await readWalletOrder(connection, ledgerId);
      const lease = await connection.transaction((transaction) =>
        store.leaseDelivery(transaction, ledgerId, deliveryId, { worker: this.#worker, leaseMs }),
      );
      const closeNumber = lastClose?.number ?? 0;
      const upTo: DeliveryPlace = { sequence: lastSequence, closeNumber, walletNumber };
      return delivery === null || lease === null ? null : { delivery, lease, upTo };
    });
  }

  async #send(
    identity: DeliveryIdentity,
    { url, masterKeyFingerprint: fingerprint }: store.DeliveryRecord,
    events: readonly DeliveryEvent[],
  ): Promise<string | null> {
    const { masterKeys, writeBody } = this.#options;
    const masterKey = masterKeys.find((key) => masterKeyFingerprint(key) === fingerprint);
    if (masterKey === undefined) return "the server lacks the master key that it was made with";
    const secret = deriveDeliverySecret(masterKey, identity.deliveryId);
    const body = writeBody(identity, events);
    const signature = signDelivery(secret, Math.floor(Date.now() / 1000), body);
    return sendDelivery({ url, body, signature }, this.#options, this.#stopping.signal);
  }

  async #advance(
    { ledgerId, deliveryId }: DeliveryIdentity,
    place: DeliveryPlace,
    eventCount: number,
  ): Promise<boolean> {
    if (eventCount > 0) this.counts.accepted += 1;
    this.counts.events += eventCount;
    const moved = await store.advanceDelivery(
      this.#pool,
      ledgerId,
      deliveryId,
      this.#worker,
      place,
    );
    return moved !== null;
  }

  async #postpone(identity: DeliveryIdentity, attempts: number, failure: string): Promise<void> {
    const { ledgerId, deliveryId } = identity;
    this.counts.failed += 1;
    const waitMs = deliveryWaitMs(attempts, Math.random());
    const postponed = await store.postponeDelivery(this.#pool, ledgerId, deliveryId, {
      ...{ worker: this.#worker, failure, waitMs },
    });
    if (postponed === null || postponed.failingMs < failingMsMax) return;
    const paused = await this.#pool.transaction((transaction) =>
      store.updateDeliveryPause(transaction, ledgerId, deliveryId, "failing"),
    );
    if (paused !== null) this.#options.onPaused(identity, failure);
  }
}

function isBeyond(place: DeliveryPlace, other: DeliveryPlace): boolean {
  return (
    place.sequence > other.sequence ||
    place.closeNumber > other.closeNumber ||
    place.walletNumber > other.walletNumber
  );
}
