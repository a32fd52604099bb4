/**
 * What a watch cannot do at present, kept in the store so that `plat status` and probes of other processes tell it. It
 * knows nothing of how a watch goes on.
 */
import type { Store } from '../../store/store.ts';
import { RequestFailure } from '../http/failure.ts';
import { readState } from './notes.ts';

/** Failures in a row of one step of a watch, or of the watch as a whole. Moments are milliseconds since 1970. */
export interface Trouble {
  readonly since: number;
  readonly last: number;
  readonly attempts: number;
  readonly reason: string;
  /** Whether waiting alone is not expected to mend it: a refused key, a redirect, an address that is not there. */
  readonly lasting: boolean;
}

/** By step; `watch` where no step was come to. */
export type Troubles = Readonly<Record<string, Trouble>>;

/** Characters of a reason that are kept. */
const KEPT = 500;

/** Whether a failure is expected to pass by itself. */
export const passesByItself = (error: unknown): boolean =>
  error instanceof RequestFailure && (error.kind === 'transient' || error.kind === 'stopped');

export function noteTrouble(
  store: Store,
  source: string,
  step: string,
  error: unknown,
  now: number,
): Promise<void> {
  const reason = (error instanceof Error ? error.message : String(error)).slice(0, KEPT);
  return store.ledger.exchange(source, 'troubles', (current): Troubles => {
    const troubles = readState({ troubles: current }, 'troubles') ?? {};
    const { since = now, attempts = 0 } = troubles[step] ?? {};
    const lasting = !passesByItself(error);
    return { ...troubles, [step]: { since, last: now, attempts: attempts + 1, reason, lasting } };
  });
}

/** A step went well; without one everything did. */
export function clearTrouble(store: Store, source: string, step?: string): Promise<void> {
  return store.ledger.exchange(source, 'troubles', (current): Troubles => {
    if (step === undefined) return {};
    const { [step]: _, ...others } = readState({ troubles: current }, 'troubles') ?? {};
    return others;
  });
}
