import type { Copy } from '../copy/copy.ts';
import { ACCOUNTS } from '../source/source.ts';

/** The moment of the source's clock up to which the copy of a collection is complete; undefined while it is not. */
export function completeUpTo(
  { checkpoint }: Pick<Copy, 'checkpoint'>,
  collection: string,
): string | undefined {
  if (collection === ACCOUNTS) {
    const sweep = checkpoint.sweep(ACCOUNTS);
    return sweep.kind === 'idle' ? sweep.last?.begun : undefined;
  }
  const load = checkpoint.load(collection);
  return load.kind === 'current' || load.kind === 'updating' ? load.cursor : undefined;
}

/** Why a copy that has no such moment cannot equal its source. */
export function whyIncomplete({ checkpoint }: Pick<Copy, 'checkpoint'>, collection: string): string {
  if (collection === ACCOUNTS) {
    const { kind } = checkpoint.sweep(ACCOUNTS);
    return kind === 'idle' ? 'it was never swept' : `its sweep is not at its end (${kind})`;
  }
  const { kind } = checkpoint.load(collection);
  return kind === 'new' ? 'nothing was ever copied' : `its download is not at its end (${kind})`;
}
