import { resourcesIn } from '../source/source.ts';
import { findAllDamage, withParts } from '../verify/damage.ts';
import { goneSince } from '../verify/quarantine.ts';
import { type Verified, withDifferences, withQuarantine } from '../verify/results.ts';
import { type VerifyOptions, verifyCollection } from '../verify/verify.ts';
import { type AskOptions, asking } from './session.ts';

/**
 * Proves a copy equal to its source, or tells what differs. Stores nothing.
 * @throws RequestFailure; PlatError `usage` when nothing was ever copied from this source
 */
export function verifyReplica(options: AskOptions & VerifyOptions): Promise<readonly Verified[]> {
  return asking(options, async (copy) => {
    const { name, store } = copy;
    const met = new Set<string>();
    const results: Verified[] = [];
    const { resources } = copy.feed.capabilities;
    const parts = withParts(await store.model(), resources.flatMap(resourcesIn));
    const onProgress = (resource: string, rows: number): void =>
      options.onProgress?.(`${resource} of the copy`, rows, undefined);
    // The source has its own to do, so the copy is checked beside it.
    const damages = findAllDamage(store, parts, onProgress);
    try {
      for (const collection of resources) {
        results.push(...(await verifyCollection(copy, collection, options, met)));
      }
    } catch (error) {
      await damages.stop();
      throw error;
    }
    const damage = await damages.found;
    const entries = await store.ledger.quarantined(name);
    const gone = await goneSince(copy, entries, options.sample === undefined ? met : undefined);
    const every = withQuarantine(withDifferences(results, damage), entries, gone);
    // What is copied by itself comes before what is part of it.
    const own = resources.flatMap(resourcesIn);
    return every.toSorted(
      (one, other) => Number(own.includes(other.resource)) - Number(own.includes(one.resource)),
    );
  });
}
