/**
 * What a watch currently cannot do, or why the last run failed, kept in the store so that `plat status` and probes of other
 * processes report it. It knows nothing of how a watch continues.
 */

import { messageOf } from '../../shared/error-code.ts';
import type { Store } from '../../store/store.ts';
import { RequestFailure } from '../http/failure.ts';
import { readNote, type Troubles } from './notes.ts';

/** Characters of a reason that are kept. */
const KEPT = 500;

/** Whether a failure is expected to resolve by itself. */
export const passesByItself = (error: unknown): boolean =>
  error instanceof RequestFailure && (error.kind === 'transient' || error.kind === 'stopped');

export function noteTrouble(
  store: Store,
  source: string,
  step: string,
  error: unknown,
  now: number,
): Promise<void> {
  const reason = messageOf(error).slice(0, KEPT);
  return store.checkpoints.exchange(source, 'troubles', (current): Troubles => {
    const troubles = readNote({ troubles: current }, 'troubles') ?? {};
    const { since = now, attempts = 0 } = troubles[step] ?? {};
    const lasting = !passesByItself(error);
    return { ...troubles, [step]: { since, last: now, attempts: attempts + 1, reason, lasting } };
  });
}

/** A step succeeded; without a step, everything did. */
export function clearTrouble(store: Store, source: string, step?: string): Promise<void> {
  return store.checkpoints.exchange(source, 'troubles', (current): Troubles => {
    if (step === undefined) return {};
    const { [step]: _, ...others } = readNote({ troubles: current }, 'troubles') ?? {};
    return others;
  });
}
