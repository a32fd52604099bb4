/**
 * The check of a whole store, and its repair: every row, everything that is stored in addition to the rows, and the
 * pages and indexes that contain them. It reads page by page, so that its memory is bounded and others can write in the
 * meantime. It knows no engine.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { bind, join, sql } from '../../compile/fragment.ts';
import type { ResourceLayout } from '../../compile/layout/index.ts';
import type { StoreModel } from '../../compile/model.ts';
import { PlatError } from '../../errors/index.ts';
import { COUNTING_RESOURCE } from '../../records/media.ts';
import type { RecordName } from '../../records/record-name.ts';
import { chunked } from '../../shared/chunked.ts';
import type { Engine } from '../engine.ts';
import type { Session } from '../session.ts';
import type { Store } from '../store.ts';
import {
  type Checks,
  checkSession,
  type FaultPage,
  type FileFault,
  type OnProgress,
  type RowFaults,
  type RowPlace,
} from './checks.ts';
import { FOREIGN_SYSTEM, WRONG_COUNTS } from './consistent-rows.ts';
import { endOfPage, findRowFaults } from './row-faults.ts';
import { COLUMNS_ARE_MISSING, findSchemaFaults, findTableFaults, viewFaults } from './table-faults.ts';

/** The checks of a store on one session; the engine itself checks the views. */
export function checksOn(session: Session, model: StoreModel): Checks {
  const checking = checkSession(session, model);
  const layoutOf = (resource: string): ResourceLayout | undefined =>
    model.stores(resource) ? model.layout(resource) : undefined;
  return {
    async rowFaults(resource, rows) {
      const layout = layoutOf(resource);
      return layout === undefined ? { rows: 0, read: 0, faults: [] } : findRowFaults(checking, layout, rows);
    },
    async rowAfter(resource, after, limit) {
      const layout = layoutOf(resource);
      return layout && endOfPage(checking, layout, after, limit);
    },
    async tableFaults(resource) {
      const layout = layoutOf(resource);
      return layout === undefined ? [] : findTableFaults(checking, layout);
    },
  };
}

/** Checks what is stored of a resource in addition to its rows, including its view. */
export async function checkTables(
  resource: string,
  model: StoreModel,
  checks: Pick<Checks, 'tableFaults'>,
  viewState: Structure['viewState'],
): Promise<readonly RowFaults[]> {
  const faults = await checks.tableFaults(resource);
  if (!model.stores(resource)) return faults;
  const layout = model.layout(resource);
  return [...faults, ...viewFaults(layout, await viewState(model, layout))];
}

/** How an engine reports the structure of its tables, indexes and views. */
export type Structure = Pick<Engine, 'viewState' | 'columns' | 'fileFaults'>;

/** Finds faults in the pages, tables, columns and indexes that contain the records, and in the list of fields in use. */
export const checkFile = async (model: StoreModel, structure: Structure): Promise<FileFault[]> => [
  ...findSchemaFaults(model, await structure.columns()),
  ...(await structure.fileFaults(model)),
];

/** A store that is read on one session only. */
export function checkableOn(session: Session, model: StoreModel, structure: Structure): Checkable {
  const checks = checksOn(session, model);
  return {
    model: async () => model,
    rowFaults: (...of) => checks.rowFaults(...of),
    tableFaults: (resource) => checkTables(resource, model, checks, structure.viewState),
    fileFaults: () => checkFile(model, structure),
    countedRows: (resources) => countedRows(session, resources),
  };
}

/** The number of rows by the counters of a store, which may be wrong; undefined if they cannot be read. A check finds out. */
export async function countedRows(
  session: Session,
  resources: readonly string[],
): Promise<number | undefined> {
  try {
    const [row] = await session.rows(sql`SELECT coalesce(sum(rows), 0) AS rows FROM plat_counters
      WHERE resource IN (${join(resources.map(bind), ', ')})`);
    return Number(row?.rows);
  } catch {
    return undefined;
  }
}

/** The checks of all rows of a resource, page by page. @param limit the rows of the next page */
export async function* faultPages(
  store: Pick<Store, 'rowFaults'>,
  resource: string,
  limit: () => number,
): AsyncGenerator<FaultPage, void> {
  for (let place: RowPlace | undefined, isLast = false; !isLast; isLast = place === undefined) {
    const page = await store.rowFaults(resource, { kind: 'after', place, limit: limit() });
    place = page.next;
    yield page;
  }
}

/** The parts of a store that a check needs. */
type Checkable = Pick<Store, 'model' | 'rowFaults' | 'tableFaults' | 'fileFaults' | 'countedRows'>;

/** Where a fault is: in the file or server with the records, in data outside the records, or in a record. */
export type Fault =
  | { readonly place: 'file'; readonly kind: FileFault['kind']; readonly what: readonly string[] }
  | (RecordName & { readonly place: 'table' | 'row'; readonly what: readonly string[] });

/** Rows per page. */
const ROWS = 500;

export async function* findFaults(
  store: Checkable,
  onProgress: OnProgress = () => undefined,
): AsyncIterable<Fault> {
  for (const { what, kind } of await store.fileFaults()) yield { place: 'file', kind, what: [what] };
  yield* findRecordFaults(store, onProgress);
}

async function* findRecordFaults(
  store: Checkable,
  onProgress: OnProgress = () => undefined,
): AsyncIterable<Fault> {
  const { dictionary, stores } = await store.model();
  const resources = [...dictionary.resources.keys()].filter(stores);
  // Without its own tables, a store cannot be read, which the check of each resource reports.
  const total = await store.countedRows(resources);
  let rows = 0;
  for (const resource of resources) {
    try {
      for await (const page of faultPages(store, resource, () => ROWS)) {
        for (const { key, what } of page.faults) yield { place: 'row', resource, key, what };
        rows += page.rows;
        onProgress(resource, rows, total);
        // An embedded engine runs without pausing, so a signal must be noticed between two pages.
        await nextTurn();
      }
      for (const { key, what } of await store.tableFaults(resource)) {
        yield { place: 'table', resource, key, what };
      }
    } catch (error) {
      // Nothing is known about the rows after a page that cannot be read; other resources can still be checked.
      if (!isDamage(error)) throw error;
      yield { place: 'file', kind: 'pages', what: [`not all of ${resource} can be read: ${error.message}`] };
    }
  }
}

export function undefinedIfDamaged(error: unknown): undefined {
  if (!isDamage(error)) throw error;
}

export const isDamage = (error: unknown): error is PlatError =>
  error instanceof PlatError && error.code === 'storeDamaged';

/** Rewrites the rows of a resource whose parts disagree, where the parts prove which values are right. */
export async function rewriteDamaged(
  store: Pick<Store, 'rowFaults' | 'rewrite'>,
  resource: string,
): Promise<void> {
  for await (const { faults } of faultPages(store, resource, () => ROWS)) {
    const keys = faults.map(({ key }) => key);
    if (keys.length > 0) await store.rewrite(resource, keys);
  }
}

/** The number of rows that are rewritten at once. */
const MAX_REWRITTEN = 200;

/**
 * Repairs what can be derived from intact data; the next check reports the rest. If pages are damaged, nothing is
 * written, since that might overwrite what can still be read.
 * @returns the missing tables that were created anew, although their content is lost
 */
export async function repairStore(
  store: Checkable & Pick<Store, 'mend' | 'mendFile' | 'rewrite'>,
  onProgress?: OnProgress,
): Promise<readonly FileFault[]> {
  const ofFile = await store.fileFaults();
  if (ofFile.some(({ kind }) => kind !== 'structure' && kind !== 'tables')) return [];
  if (ofFile.some(({ kind }) => kind === 'tables')) await store.mendFile();
  const lost = ofFile.filter(({ isLost }) => isLost);
  let waiting: { readonly resource: string; readonly keys: Set<string> } | undefined;
  const miscounted = new Set<string>();
  const flush = async (): Promise<void> => {
    if (waiting !== undefined) await store.rewrite(waiting.resource, [...waiting.keys]);
    waiting = undefined;
  };
  for await (const fault of findRecordFaults(store, onProgress)) {
    if (fault.place === 'file') return lost;
    if (fault.place === 'table' && !fault.what.includes(COLUMNS_ARE_MISSING)) continue;
    if (fault.what.includes(WRONG_COUNTS)) miscounted.add(fault.key);
    if (waiting?.resource !== fault.resource || waiting.keys.size >= MAX_REWRITTEN) await flush();
    waiting ??= { resource: fault.resource, keys: new Set() };
    waiting.keys.add(fault.key);
  }
  await flush();
  // Media are counted once they have been repaired themselves.
  for (const keys of chunked([...miscounted], MAX_REWRITTEN)) await store.rewrite(COUNTING_RESOURCE, keys);
  await store.mend();
  if (ofFile.length > 0) await store.mendFile();
  return lost;
}

/** Describes the first fault of a copy of a store; undefined if the copy is intact. */
export async function describeFirstFault(
  store: Checkable,
  onProgress?: OnProgress,
): Promise<string | undefined> {
  for await (const fault of findFaults(store, onProgress)) {
    if (!isUsable(fault)) return describeFault(fault);
  }
  return undefined;
}

/**
 * Whether the record is valid otherwise: a refresh determines the source of a replica's record, and a repair corrects a medium that
 * names another system.
 */
export const isUsable = (fault: Fault): boolean =>
  fault.place === 'row' && fault.what.every((what) => what === '_source' || what === FOREIGN_SYSTEM);

/** The fault in one line. */
export const describeFault = (fault: Fault): string =>
  fault.place === 'file' ? fault.what.join('; ') : `${fault.resource} ${fault.key}: ${fault.what.join(', ')}`;
