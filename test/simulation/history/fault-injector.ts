// Makes things go wrong at the moments that a plan names.
import type { Moment } from "../database/cluster.ts";
import { DatabaseFault } from "../database/execution.ts";
import type { Parameters } from "../database/handler.ts";
import type { Session } from "../database/session.ts";
import { poison, type Fault, type Trouble } from "./plan.ts";
import type { World } from "./world.ts";

export class FaultInjector {
  readonly #world: World;
  readonly #faults: readonly Fault[];
  readonly #hasPoison: boolean;
  /** Moments of the history so far. */
  readonly moments: Record<Moment, number> = {
    statement: 0,
    commitSent: 0,
    commitDurable: 0,
    commitVisible: 0,
  };
  /** Faults that have come about, by kind. */
  readonly happened = new Map<Trouble["kind"], number>();
  /** Whether nothing goes wrong any more. */
  isOver = false;

  constructor(world: World, faults: readonly Fault[]) {
    this.#world = world;
    this.#faults = faults;
    this.#hasPoison = JSON.stringify(world.plan.steps).includes(poison);
  }

  onMoment(moment: Moment, session: Session, parameters: Parameters): void {
    if (this.#hasPoison && parameters.some((each) => each?.includes(poison))) {
      throw new DatabaseFault("XX000");
    }
    this.moments[moment] += 1;
    if (this.isOver) return;
    const nth = this.moments[moment];
    for (const fault of this.#faults) {
      if (fault.moment !== moment || fault.nth !== nth) continue;
      const { trouble } = fault;
      this.happened.set(trouble.kind, (this.happened.get(trouble.kind) ?? 0) + 1);
      this.#cause(trouble, session);
      if (session.hasEnded) return;
    }
  }

  #cause(trouble: Trouble, session: Session): void {
    const { cluster, scheduler } = this.#world;
    switch (trouble.kind) {
      case "break":
        session.link.break(trouble.how);
        break;
      case "stall":
        session.link.stall(trouble.end, trouble.ms);
        break;
      case "slowCommit":
        session.pause(trouble.ms);
        if (trouble.isCut) session.link.break("halfOpen");
        break;
      case "error":
        throw new DatabaseFault(trouble.code);
      case "terminate":
        session.terminate();
        break;
      case "strandCommit":
        this.#strand(trouble, session);
        break;
      case "crashDatabase":
        cluster.crash(trouble.downMs);
        break;
      case "failOver":
        cluster.failOver(trouble.downMs);
        break;
      case "killServer":
        this.#world.killServer(session.link.owner, trouble.isSilent, trouble.downMs);
        break;
      case "stopStandby":
        cluster.stopStandby();
        scheduler.after(trouble.ms, () => {
          cluster.startStandby();
        });
        break;
      case "stepClock":
        cluster.clockOffsetMs += trouble.ms;
        break;
    }
  }

  #strand(trouble: Extract<Trouble, { kind: "strandCommit" }>, session: Session): void {
    const { how, afterMs, failOverAfterMs } = trouble;
    const { cluster, scheduler } = this.#world;
    cluster.stopStandby();
    scheduler.after(afterMs, () => {
      if (how === "terminate") session.terminate();
      else if (how === "cancel") session.cancel();
      else cluster.crash(5);
      scheduler.after(failOverAfterMs ?? 50, () => {
        if (failOverAfterMs === null) cluster.startStandby();
        else cluster.failOver(5);
      });
    });
  }
}
