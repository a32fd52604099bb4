/** Determines whether a service is ready, and if not, why. It does not know who asks. */
import { type ErrorCode, PlatError } from '../../errors/index.ts';
import { durationText } from '../../shared/clock.ts';
import type { Store } from '../../store/store.ts';
import { aheadText } from '../../store/write/restamp-store.ts';
import type { Problems } from './probes.ts';

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

/** What is wrong with a store, by the code of its error. */
const STORE_PROBLEMS: Partial<Record<ErrorCode, string>> = {
  storeFull: 'there is no room left on the disk of the store',
  storeOutdated: 'the address of the store leads to a former primary, which lacks what was stored since',
};

interface Checked {
  readonly store: Store;
  readonly readiness: readonly ReadinessCheck[];
}

/** What prevents the service from being ready. */
export async function problemsOf({ store, readiness }: Checked): Promise<Problems> {
  const problems: Record<string, string> = {};
  /** A check that fails does so because of the store, which it reads. */
  const attempt = async (check: () => Promise<void>): Promise<void> => {
    try {
      await check();
    } catch (error) {
      const code = error instanceof PlatError ? error.code : undefined;
      problems.store = (code && STORE_PROBLEMS[code]) ?? 'the store cannot be used';
    }
  };
  await attempt(async () => {
    await store.model();
    // Windows need a horizon, and a database server that accepts no writes cannot save one.
    await store.horizon();
    const problem = await clockProblem(store);
    if (problem !== undefined) problems.clock = problem;
  });
  for (const { name, check } of readiness) {
    await attempt(async () => {
      const problem = await check();
      if (problem !== undefined) problems[name] = problem;
    });
  }
  const trouble = store.trouble?.();
  if (trouble !== undefined) problems.store = trouble;
  return problems;
}
