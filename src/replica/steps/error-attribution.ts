import type { Copy } from '../copy/copy.ts';
import { isOfRequest, type RequestFailure } from '../http/failure.ts';
import type { SourcePage } from '../source/source.ts';

/** Keys in a row that the source cannot give, after which others are asked for. */
const PATIENCE = 3;
/** Others that are asked for before the source is blamed. */
const OTHERS = 3;
/** Stored keys among which they are chosen. */
const AMONG = 200;

/** Finds out whether a failure is the fault of a key or of the source. */
export interface Blame {
  /** Something was given. */
  clear(): void;
  /** A key was not. @throws the failure, when the source gives no other key either */
  put(key: string, failure: RequestFailure): Promise<void>;
  /** @throws the failure, when the source gives none of the stored keys either */
  onSource(failure: RequestFailure): Promise<void>;
}

/** @param ask asks for one key */
export function makeBlame(
  { name, store }: Pick<Copy, 'name' | 'store'>,
  resource: string,
  ask: (key: string) => Promise<SourcePage>,
): Blame {
  const failed = new Set<string>();
  let inARow = 0;

  async function others(): Promise<string[]> {
    const [last] = [...failed].slice(-1);
    const near = await store.ledger.storedKeys(name, resource, last ?? '', AMONG);
    const first = await store.ledger.storedKeys(name, resource, '', AMONG);
    const candidates = [near.at(-1), first[0], first[first.length >> 1], first.at(-1)];
    const good = candidates.flatMap((key) => (key === undefined || failed.has(key) ? [] : [key]));
    return [...new Set(good)].slice(0, OTHERS);
  }

  async function onSource(failure: RequestFailure): Promise<void> {
    for (const key of await others()) {
      try {
        await ask(key);
        inARow = 0;
        return;
      } catch (error) {
        if (!isOfRequest(error) || error.kind === 'stopped') throw error;
      }
    }
    throw failure;
  }

  return {
    clear: () => {
      inARow = 0;
    },
    async put(key, failure) {
      failed.add(key);
      if (++inARow >= PATIENCE) await onSource(failure);
    },
    onSource,
  };
}
