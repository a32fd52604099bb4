import { platError } from '../../errors/index.ts';
import { Book } from '../copy/book.ts';
import { resourcesIn } from '../copy/collections.ts';
import type { Copy } from '../copy/copy.ts';
import { PageSize } from '../copy/page-size.ts';
import { type Verified, type VerifyOptions, verifyCollection } from '../verify/verify.ts';
import { PAGE_SIZE, PURGE_SHARE, type ReplicateOptions } from './options.ts';
import { environmentOf } from './real-environment.ts';
import { clientOf, discover, type SessionOptions, sourceName } from './session.ts';

/**
 * Proves a copy equal to its source, or tells what differs. Stores nothing.
 * @throws RequestFailure; PlatError `usage` when nothing was ever copied from this source
 */
export async function verifyReplica(
  options: Omit<ReplicateOptions, 'step' | 'watch'> & VerifyOptions,
): Promise<readonly Verified[]> {
  const name = sourceName(options);
  const book = await Book.open({ store: options.store, source: name });
  const known = book.get('capabilities');
  if (known === undefined) {
    throw platError('usage', { reason: `${options.store.name} holds no copy of ${name}.` });
  }
  const { environment, close } = environmentOf(options.environment);
  const session: SessionOptions = {
    windowField: known.windowField,
    resources: known.resources.flatMap(resourcesIn),
    customFields: known.expansions.includes('CustomFields'),
    ...options,
    environment,
    onEvent: options.onEvent ?? (() => undefined),
    signal: options.signal ?? new AbortController().signal,
  };
  const { signal, onEvent: tell, store } = session;
  const size = new PageSize(options.pageSize ?? PAGE_SIZE, tell);
  try {
    const copy: Copy = {
      name,
      feed: await discover(session, clientOf(session)),
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
    };
    const results: Verified[] = [];
    for (const collection of copy.feed.capabilities.resources) {
      results.push(...(await verifyCollection(copy, collection, options)));
    }
    return results;
  } finally {
    await close();
  }
}
