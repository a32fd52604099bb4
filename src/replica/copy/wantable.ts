import { isStorableKey, KEY_LIMIT } from '../../records/parsed-record.ts';
import type { Keys, QuarantineEntry } from '../../store/ledger.ts';
import type { Copy } from './copy.ts';
import { RECORD } from './pending-fetches.ts';
import { nameOfKey } from './read-page.ts';

type Want = Keys & { readonly why: string };

/** What is asked for; a record whose key no record here can have goes to the quarantine in its place. */
export async function wantable(
  { book, store }: Pick<Copy, 'book' | 'store'>,
  wants: readonly Want[],
): Promise<{ readonly want: readonly Want[]; readonly quarantine: readonly QuarantineEntry[] }> {
  if (wants.every(({ keys }) => keys.every(isStorableKey))) return { want: wants, quarantine: [] };
  const model = await store.model();
  const quarantine = wants.flatMap(({ resource, keys, why }) => {
    if (why !== RECORD) return []; // its record is there, or was put aside itself
    const { key: field } = model.resource(resource);
    return keys
      .filter((key) => !isStorableKey(key) && !book.isQuarantined(resource, nameOfKey(key)))
      .map((key) => {
        const payload = JSON.stringify({ [field]: key });
        const reason = `${field} takes at most ${KEY_LIMIT} characters and no control characters`;
        return { resource, key: nameOfKey(key), reason, payload };
      });
  });
  return {
    want: wants.map(({ keys, ...want }) => ({ ...want, keys: keys.filter(isStorableKey) })),
    quarantine,
  };
}
