/** Determines whether a service is ready, and if not, why. It does not know who asks. */
import { PlatError } from '../../errors/index.ts';
import type { Store } from '../../store/store.ts';
import { durationText } from '../../store/time/store-clock.ts';
import { aheadText } from '../../store/write/restamp-store.ts';

/** A further condition of readiness, such as the freshness of a replica. */
export interface ReadinessCheck {
  readonly name: string;
  /** Why the condition is not met; undefined if it is. */
  check(): Promise<string | undefined>;
}

/** What is wrong with the clock now, or was wrong when the store was last written. */
async function clockProblem(store: Store): Promise<string | undefined> {
  const jump = await store.clockJump();
  if (jump > 0) {
    return `the clock was set ahead by ${durationText(jump)} since the store was last written to; writes are refused until the clock is corrected or, if it is correct now and was behind before, until it is confirmed with --allow-clock-jump`;
  }
  const ahead = await store.ahead();
  return ahead === undefined ? undefined : aheadText(ahead);
}

interface Checked {
  readonly store: Store;
  readonly readiness: readonly ReadinessCheck[];
}

/** What prevents the service from being ready, by name; empty if it is ready. */
export async function problemsOf({ store, readiness }: Checked): Promise<Readonly<Record<string, string>>> {
  const problems: Record<string, string> = {};
  try {
    await store.model();
    // Windows need a horizon, and a database server that accepts no writes cannot save one.
    await store.horizon();
    const problem = await clockProblem(store);
    if (problem !== undefined) problems.clock = problem;
  } catch (error) {
    const isFull = error instanceof PlatError && error.code === 'storeFull';
    problems.store = isFull ? 'there is no room left on the disk of the store' : 'the store cannot be used';
  }
  const trouble = store.trouble?.();
  if (trouble !== undefined) problems.store = trouble;
  for (const { name, check } of readiness) {
    const problem = await check();
    if (problem !== undefined) problems[name] = problem;
  }
  return problems;
}
