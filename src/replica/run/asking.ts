/**
 * A copy and its source, for what asks the source and stores nothing of it: the proof, and whoever wants to know whether
 * the source still has a record. It knows nothing of steps.
 */
import { platError } from '../../errors/index.ts';
import { Book } from '../checkpoint/checkpoint.ts';
import type { Copy } from '../copy/copy.ts';
import { PageSize } from '../copy/page-size.ts';
import { SHORT_BACKOFF } from '../http/retry.ts';
import { resourcesIn } from '../source/source.ts';
import { PAGE_SIZE, PURGE_SHARE, type ReplicateOptions } from './options.ts';
import { environmentOf } from './real-environment.ts';
import { clientOf, discover, type SessionOptions, sourceName } from './session.ts';
import { untilLeft } from './until-left.ts';

/** Of which copy, and how its source is asked. */
export type AskOptions = Omit<ReplicateOptions, 'step' | 'watch'>;

/**
 * Runs work with a copy and its source.
 * @throws RequestFailure; PlatError `usage` when nothing was ever copied from this source
 */
export async function asking<T>(options: AskOptions, work: (copy: Copy) => Promise<T>): Promise<T> {
  const name = sourceName(options);
  const { store } = options;
  const book = await Book.open({ store, source: name });
  const known = book.get('capabilities');
  if (known === undefined) {
    throw platError('usage', { reason: `${store.name} holds no copy of ${name}.` });
  }
  using scope = untilLeft(options.signal ?? new AbortController().signal);
  const { environment, close } = environmentOf(options.environment);
  const session: SessionOptions = {
    windowField: known.windowField,
    resources: known.resources.flatMap(resourcesIn),
    customFields: known.expansions.includes('CustomFields'),
    ...options,
    environment,
    onEvent: options.onEvent ?? (() => undefined),
    signal: scope.signal,
  };
  const { signal, onEvent: tell } = session;
  const size = new PageSize(options.pageSize ?? PAGE_SIZE, tell);
  try {
    return await work({
      name,
      feed: await discover(session, clientOf(session, SHORT_BACKOFF)),
      store,
      book,
      environment,
      settings: {
        drift: 'discard',
        alsoWindow: options.alsoWindow ?? [],
        purgeShare: PURGE_SHARE,
        force: false,
      },
      tell,
      signal,
      sizeOf: () => size,
    });
  } finally {
    await close();
  }
}
