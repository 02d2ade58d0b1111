// The clients of a history: they ask as its plan says, note what they are answered, and ask again what they were not.
import { Refusal } from "../../../src/core/errors.ts";
import type { LedgerIdentity } from "../../../src/core/ledger.ts";
import { setAssetRule } from "../../../src/engine/assets.ts";
import { changeLedgerStatus } from "../../../src/engine/ledger-state.ts";
import { updateAccountActive } from "../../../src/store/accounts.ts";
import { restsOnReplicated } from "../model/replication.ts";
import { shown } from "../model/violation.ts";
import { askedAgain, askedOf } from "./asked.ts";
import { isSettled, type Asked, type Attempt, type Reply } from "./attempt.ts";
import type { Request, Step } from "./plan.ts";
import type { Server } from "./server.ts";
import type { World } from "./world.ts";

/** What a write weighs for the queues. */
const bytes = 200;

export class Clients {
  readonly attempts: Attempt[] = [];
  readonly #world: World;
  #moment = 0;

  constructor(world: World) {
    this.#world = world;
  }

  perform({ id, request }: Step): void {
    if (request.kind === "again") {
      const first = this.attempts.find(({ stepId }) => stepId === request.of);
      if (first !== undefined) this.repeat(first, request.server);
      return;
    }
    const tag = this.#newTag();
    const ledger = this.#world.ledgers["ledger" in request ? request.ledger : 0];
    if (ledger === undefined) return;
    const asked = askedOf(request, tag, ledger, this.attempts);
    if (asked !== null) this.#ask(id, tag, request.server, ledger, asked);
  }

  /** Asks for the same once more. */
  repeat(attempt: Attempt, server: number): void {
    const tag = this.#newTag();
    const ledger = this.#world.ledgers.find(({ ledgerId }) => ledgerId === attempt.ledgerId);
    if (ledger === undefined) return;
    this.#ask(attempt.stepId, tag, server, ledger, askedAgain(attempt.asked, tag));
  }

  /** Attempts of servers that live that have no answer. */
  unanswered(): Attempt[] {
    const living = new Set<object>(this.#world.servers.filter(({ isDead }) => !isDead));
    return this.attempts.filter(
      ({ outcome, incarnation }) => outcome === null && living.has(incarnation),
    );
  }

  /** What nobody knows yet what became of, and may safely be asked again: one attempt for each externalId. */
  unsettled(): Attempt[] {
    const open = new Map<string, Attempt>();
    for (const attempt of this.attempts) {
      const key = repeatKey(attempt);
      if (key === null) continue;
      if (isSettled(attempt)) open.delete(key);
      else open.set(key, attempt);
    }
    return [...open.values()];
  }

  #newTag(): string {
    return `attempt-${this.attempts.length}`;
  }

  #ask(stepId: number, tag: string, index: number, ledger: LedgerIdentity, asked: Asked): void {
    const server = this.#world.servers[index];
    // Nobody listens: the client knows that nothing was asked.
    if (server === undefined || server.isDead) return;
    const attempt: Attempt = {
      stepId,
      tag,
      server: index,
      incarnation: server,
      ledgerId: ledger.ledgerId,
      asked,
      askedAt: this.#nextMoment(),
      answeredAt: Infinity,
      outcome: null,
    };
    this.attempts.push(attempt);
    const answer = (outcome: Attempt["outcome"]) => {
      if (server.isDead) return;
      attempt.answeredAt = this.#nextMoment();
      attempt.outcome = outcome;
      this.#world.violations.expect(
        restsOnReplicated(this.#world.cluster, attempt),
        "told before the standby has it",
        () => shown({ ...attempt, incarnation: undefined }),
      );
    };
    this.#send(server, ledger, asked).then(
      (reply) => {
        answer({ kind: "reply", reply });
      },
      (error: unknown) => {
        answer(
          error instanceof Refusal ? { kind: "refusal", refusal: error } : { kind: "error", error },
        );
      },
    );
  }

  #nextMoment(): number {
    this.#moment += 1;
    return this.#moment;
  }

  async #send(server: Server, ledger: LedgerIdentity, asked: Asked): Promise<Reply> {
    switch (asked.kind) {
      case "entries": {
        const [first, ...others] = asked.drafts;
        if (first === undefined || others.length > 0) {
          return server.journal.postAtomicEntries(ledger, asked.drafts, bytes);
        }
        return [await server.journal.postEntry(ledger, first, bytes)];
      }
      case "reversal":
        return [await server.journal.reverseEntry(ledger, asked.draft, bytes)];
      case "wallet":
        return server.wallets.write(ledger, asked.write, bytes);
      case "transfers": {
        const [first, ...others] = asked.transfers;
        if (first === undefined || others.length > 0) {
          return server.wallets.transferAtomically(ledger, asked.transfers, bytes);
        }
        return [await server.wallets.transferFunds(ledger, first, bytes)];
      }
      case "close":
        return server.closes.closePeriod(ledger.ledgerId, {
          periodId: asked.periodId,
          reason: null,
          startsAt: null,
          endsAt: null,
        });
      case "other":
        await administer(server, ledger.ledgerId, asked.request);
        return null;
    }
  }
}

async function administer(server: Server, ledgerId: string, request: Request): Promise<void> {
  const pool = server.pool.asPool;
  if (request.kind === "post") await server.poster.postAll();
  else if (request.kind === "account") {
    await pool.transaction((transaction) =>
      updateAccountActive(transaction, ledgerId, request.code, request.active),
    );
  } else if (request.kind === "status") await changeLedgerStatus(pool, ledgerId, request.status);
  else if (request.kind === "limits") {
    const [maxBalance, dailyDebitMax] = [request.maxBalance, request.dailyDebitMax].map((limit) =>
      limit === null ? null : BigInt(limit),
    ) as [bigint | null, bigint | null];
    await setAssetRule(pool, ledgerId, request.assetCode, { maxBalance, dailyDebitMax });
  }
}

/** Equal for attempts of which at most one may be recorded; null where another attempt would be another write. */
function repeatKey({ asked, ledgerId }: Attempt): string | null {
  switch (asked.kind) {
    case "entries": {
      const keys = asked.drafts.map(({ externalId }) => externalId);
      return keys.includes(null) ? null : `${ledgerId} entries ${keys.join(" ")}`;
    }
    case "reversal":
      return `${ledgerId} reversal ${String(asked.draft.entryId)}`;
    case "wallet": {
      const { write } = asked;
      if ("holdId" in write) return `${ledgerId} ${write.type} ${String(write.holdId)}`;
      // A freeze that is asked for again may come after somebody has ended it.
      if (!("externalId" in write) || write.externalId === null) return null;
      return `${ledgerId} wallet ${write.callerKey} ${write.externalId}`;
    }
    case "transfers": {
      const keys = asked.transfers.map(({ from, externalId }) => [from, externalId]);
      return keys.some(([, externalId]) => externalId === null)
        ? null
        : `${ledgerId} transfers ${keys.flat().join(" ")}`;
    }
    case "close":
      return `${ledgerId} close ${asked.periodId}`;
    case "other":
      return null;
  }
}
