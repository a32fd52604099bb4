import { platError } from '../../errors/index.ts';
import { Book } from '../copy/book.ts';
import { resourcesIn } from '../copy/collections.ts';
import type { Copy } from '../copy/copy.ts';
import { PageSize } from '../copy/page-size.ts';
import { findAllDamage, withParts } from '../verify/damage.ts';
import { type Verified, withDifferences, withQuarantine } from '../verify/results.ts';
import { type VerifyOptions, verifyCollection } from '../verify/verify.ts';
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
    const { resources } = copy.feed.capabilities;
    const parts = withParts(await store.model(), resources.flatMap(resourcesIn));
    const onProgress = (resource: string, rows: number): void =>
      options.onProgress?.(`${resource} of the copy`, rows, undefined);
    // The source has its own to do, so the copy is checked beside it.
    const damages = findAllDamage(store, parts, onProgress);
    try {
      for (const collection of resources) {
        results.push(...(await verifyCollection(copy, collection, options)));
      }
    } catch (error) {
      await damages.stop();
      throw error;
    }
    const damage = await damages.found;
    const every = withQuarantine(withDifferences(results, damage), await store.ledger.quarantined(name));
    // What is copied by itself comes before what is part of it.
    const own = resources.flatMap(resourcesIn);
    return every.toSorted(
      (one, other) => Number(own.includes(other.resource)) - Number(own.includes(one.resource)),
    );
  } finally {
    await close();
  }
}
