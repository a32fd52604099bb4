/**
 * The check of a whole store, and its repair: every row, what is kept beside the rows, and what lies beneath them. It
 * reads in steps, so that a store of any size is checked in bounded memory and beside those who write to it. It knows
 * nothing of engines.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { PlatError } from '../../errors/index.ts';
import type { Store } from '../store.ts';
import type { FileFault } from './file-faults.ts';
import type { RowPlace } from './row-faults.ts';
import { COLUMNS_ARE_MISSING } from './table-faults.ts';

/** The parts of a store that a check needs. */
export type Checkable = Pick<Store, 'model' | 'rowFaults' | 'tableFaults' | 'fileFaults'>;

/** Where something is wrong: beneath the records, in what is kept beside them, or in a record. */
export type Fault =
  | { readonly place: 'file'; readonly kind: FileFault['kind']; readonly what: readonly string[] }
  | {
      readonly place: 'table' | 'row';
      readonly resource: string;
      readonly key: string;
      readonly what: readonly string[];
    };

/** Rows that are read at once. */
const ROWS = 500;

/** @param told after each step, with the rows of all resources that were read */
export async function* findFaults(
  store: Checkable,
  told: (resource: string, rows: number) => void = () => undefined,
): AsyncIterable<Fault> {
  const { dictionary, stores } = await store.model();
  for (const { what, kind } of await store.fileFaults()) yield { place: 'file', kind, what: [what] };
  let rows = 0;
  for (const { name: resource } of dictionary.resources.values()) {
    if (!stores(resource)) continue;
    try {
      for (let place: RowPlace | undefined, isLast = false; !isLast; isLast = place === undefined) {
        const page = await store.rowFaults(resource, { kind: 'after', place, limit: ROWS });
        for (const { key, what } of page.faults) yield { place: 'row', resource, key, what };
        rows += page.rows;
        told(resource, rows);
        place = page.next;
        // An engine in this process answers at once: a signal is heard in between.
        await nextTurn();
      }
      for (const { key, what } of await store.tableFaults(resource)) {
        yield { place: 'table', resource, key, what };
      }
    } catch (error) {
      // What lies behind a page that cannot be read is not known; other resources are.
      if (!(error instanceof PlatError) || error.code !== 'storeDamaged') throw error;
      yield { place: 'file', kind: 'pages', what: [`not all of ${resource} can be read: ${error.message}`] };
    }
  }
}

/** Writes the rows of a resource anew that do not agree with themselves, as far as they tell what is right. */
export async function rewriteDamaged(
  store: Pick<Store, 'rowFaults' | 'rewrite'>,
  resource: string,
): Promise<void> {
  for (let place: RowPlace | undefined, isLast = false; !isLast; isLast = place === undefined) {
    const page = await store.rowFaults(resource, { kind: 'after', place, limit: ROWS });
    const keys = page.faults.map(({ key }) => key);
    if (keys.length > 0) await store.rewrite(resource, keys);
    place = page.next;
  }
}

/** Rows that are written anew at once. */
const REWRITTEN = 200;

/**
 * Mends what can be mended, from what is right; what is left is found by the next check. Where pages are damaged nothing
 * is written, since it might be written over what can still be read.
 */
export async function repairStore(
  store: Checkable & Pick<Store, 'mend' | 'mendFile' | 'rewrite'>,
  told?: (resource: string, rows: number) => void,
): Promise<void> {
  let waiting: { readonly resource: string; readonly keys: Set<string> } | undefined;
  let beneath = false;
  const flush = async (): Promise<void> => {
    if (waiting !== undefined) await store.rewrite(waiting.resource, [...waiting.keys]);
    waiting = undefined;
  };
  for await (const fault of findFaults(store, told)) {
    if (fault.place === 'file') {
      if (fault.kind !== 'structure') return;
      beneath = true;
      continue;
    }
    if (fault.place === 'table' && !fault.what.includes(COLUMNS_ARE_MISSING)) continue;
    if (waiting?.resource !== fault.resource || waiting.keys.size >= REWRITTEN) await flush();
    waiting ??= { resource: fault.resource, keys: new Set() };
    waiting.keys.add(fault.key);
  }
  await flush();
  await store.mend();
  if (beneath) await store.mendFile();
}

/** Why a copy of a store is not to be trusted: its first fault, in words; undefined for a sound one. */
export async function unsoundness(
  store: Checkable,
  told?: (resource: string, rows: number) => void,
): Promise<string | undefined> {
  for await (const fault of findFaults(store, told)) if (!isOfItsSource(fault)) return wordsOf(fault);
  return undefined;
}

/** A replica's record whose source is not known is whole, and the next refresh says whose it is. */
const isOfItsSource = (fault: Fault): boolean =>
  fault.place === 'row' && fault.what.every((what) => what === '_source');

const wordsOf = (fault: Fault): string =>
  fault.place === 'file' ? fault.what.join('; ') : `${fault.resource} ${fault.key}: ${fault.what.join(', ')}`;
