import type { Mutant } from './consumer.ts';
import type { Ground } from './ground.ts';
import type { Plan } from './plan.ts';
import { type Outcome, simulate } from './simulate.ts';

export interface Campaign {
  readonly ground: Ground;
  /** The first seed, and the number of consecutive ones. */
  readonly from: number;
  readonly runs: number;
  readonly plan?: Partial<Plan>;
  readonly mutant?: () => Mutant;
  readonly onDone?: (seed: number, outcome: Outcome) => void;
}

export interface Failure {
  readonly ground: string;
  readonly seed: number;
  readonly outcome: Outcome;
}

/** Plays one history after the other. @returns the first that fails */
export async function campaign({
  ground,
  from,
  runs,
  onDone,
  ...options
}: Campaign): Promise<Failure | undefined> {
  for (let seed = from; seed < from + runs; seed++) {
    const outcome = await simulate({ seed, ground, ...options });
    onDone?.(seed, outcome);
    if (outcome.failure !== undefined) return { ground: ground.name, seed, outcome };
  }
  return undefined;
}

/** The failure of a history, and the command that plays it again. */
export function describeFailure({ ground, seed, outcome }: Failure): string {
  return `The history of seed ${seed} fails: ${outcome.failure}\nnpm run simulate -- --engine ${ground} --seed ${seed} --runs 1 --log plays it again.`;
}
