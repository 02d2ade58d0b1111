// Runs rounds: each has a fault, and a verdict. Servers and databases are shared by some of them.
import { PostgresCluster } from "../support/postgres-cluster.ts";
import { random } from "../support/wallet-traffic.ts";
import type { Shape } from "./deployment.ts";
import { faults, possibleFaults, type Fault } from "./faults.ts";
import type { Pace } from "./load.ts";
import { Trial, type Round } from "./trial.ts";

export interface RoundsOptions {
  readonly count: number;
  readonly seed: number;
  readonly pace: Pace;
  /** A part of the names of the faults that are made. */
  readonly only?: string;
  /** Ends the rounds early. */
  readonly signal?: AbortSignal;
}

export interface NumberedRound extends Round {
  /** 1, 2, 3 … */
  readonly number: number;
}

/** Of two that follow each other one has a standby, and one has two servers. */
const shapes: readonly Shape[] = [
  { serverCount: 2, hasStandby: true },
  { serverCount: 1, hasStandby: false },
  { serverCount: 1, hasStandby: true },
  { serverCount: 2, hasStandby: false },
];

/** A deployment is used for so many at least; for more, its books would be long, which are read whole after each. */
const roundsOfDeployment = 10;

/** Yields each round as it ends. The last is the first in which anything was wrong. */
export async function* runRounds(options: RoundsOptions): AsyncGenerator<NumberedRound> {
  const { count, seed, only = "", signal } = options;
  const next = random(seed);
  const chosen = faults.filter(({ name }) => name.includes(only));
  const able = shapes.filter((shape) => faultsIn(shape, chosen).length > 0);
  if (able.length === 0)
    throw new Error(`no fault that has "${only}" in its name can be made here`);
  const template = await PostgresCluster.create();
  try {
    let number = 0;
    for (let used = 2 * next(2); number < count && !signal?.aborted; used += 1) {
      const shape = pickInTurn(able, used);
      const order = drawOrder(faultsIn(shape, chosen), next).slice(0, count - number);
      const trial = await Trial.start(shape, { ...options, template, next });
      try {
        for (const [index, fault] of order.entries()) {
          const round = await trial.makeRound(fault, { isLast: index === order.length - 1 });
          if (signal?.aborted) return;
          number += 1;
          yield { number, ...round };
          if (trial.isWrong) return;
        }
      } finally {
        await trial.end();
      }
    }
  } finally {
    await template.remove();
  }
}

function faultsIn({ hasStandby }: Shape, chosen: readonly Fault[]): readonly Fault[] {
  return possibleFaults(chosen, { hasStandby, hasInstruments: true });
}

function pickInTurn<Item>(list: readonly Item[], turn: number): Item {
  const item = list[turn % list.length];
  if (item === undefined) throw new Error("nothing to pick from");
  return item;
}

/** Each fault once before any is made again. */
function drawOrder(possible: readonly Fault[], next: (below: number) => number): readonly Fault[] {
  const order: Fault[] = [];
  while (order.length < roundsOfDeployment) {
    const left = [...possible];
    while (left.length > 0) order.push(...left.splice(next(left.length), 1));
  }
  return order;
}
