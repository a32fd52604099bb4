/**
 * Follows the sequence of changes, for programs with direct access to the store: page by page, or change by change. Also reads the
 * records that changes refer to, as a role sees them now. A record that the role no longer sees is absent.
 */
import { type FileSigning, plainShape, type RecordQuery } from '../../compile/read.ts';
import { roleView } from '../../compile/role-view.ts';
import { timestampFrom } from '../../dictionary/index.ts';
import { platError, usageError } from '../../errors/index.ts';
import { SELECT_ALL } from '../../query/request.ts';
import { recordName } from '../../records/record-name.ts';
import { chunked } from '../../shared/chunked.ts';
import type { ReadOptions, Store } from '../store.ts';
import {
  type Change,
  type ChangesOptions,
  defaultResources,
  type FeedPosition,
  parsePosition,
  positionText,
  type RecordChange,
  SEQUENCE_START,
} from './change-feed.ts';

interface ChangesPage {
  readonly changes: readonly RecordChange[];
  readonly records: RecordTexts | undefined;
  /** The positions before and after the page; they are equal if the page ends within a commit. */
  readonly before: string;
  readonly position: string;
}

type Source = Pick<Store, 'feed' | 'watch' | 'model' | 'now' | 'page'>;

/** Changes in a page. */
const MAX_CHANGES = 1000;
const MOST_WITH_RECORDS = 100;
/** Milliseconds that the records of a page may take. */
const READ_LIMIT = { milliseconds: 30_000 };
/** Seconds for which the URLs of served files are valid. */
const FILE_URL_LIFETIME = 86_400;

/** The role that reads records if none is named. */
const OPERATOR = 'private';

/**
 * Pages of changes; the last is the one at the end of the sequence, or the one after which the signal was aborted.
 * @throws PlatError `usage`, `roleUnknown`, `positionGone`
 */
export async function* changePages(store: Source, options: ChangesOptions): AsyncGenerator<ChangesPage> {
  const { follow = false, role, signal, records = false } = options;
  let commits = 0;
  let wake: (() => void) | undefined;
  const committed = (): void => {
    commits++;
    wake?.();
  };
  using taken = new DisposableStack();
  if (follow) taken.defer(store.watch(committed));
  const end = (): void => wake?.();
  signal?.addEventListener('abort', end, { once: true });
  taken.defer(() => signal?.removeEventListener('abort', end));

  const since = parseSince(options.since ?? 'start');
  let position = since === 'end' ? (await store.feed({ since, limit: 0 })).position : since;
  let commitPosition = positionText(position);
  const limit = records ? MOST_WITH_RECORDS : MAX_CHANGES;
  const isOver = (): boolean => signal?.aborted === true;
  while (!isOver()) {
    const seen = commits;
    const model = await store.model();
    const view = roleView(model, { role: role ?? OPERATOR, systems: [] });
    const scope = role === undefined ? undefined : view.scope;
    const resources = options.resources ?? defaultResources(view, model);
    const page = await store.feed({ since: position, scope, resources, limit });
    if (page.kind === 'gone') throw platError('positionGone', { position: positionText(page.position) });
    const { changes } = page;
    const before = commitPosition;
    position = page.position;
    if (page.isWhole) commitPosition = positionText(position);
    const now = await store.now();
    const files = { base: '', role: view.role.name, expires: Math.ceil(now / 1000) + FILE_URL_LIFETIME };
    const asked = { view, now: timestampFrom(now), root: '/', files };
    const texts = records ? await changedRecords(store, changes, asked, READ_LIMIT) : undefined;
    yield { changes, records: texts, before, position: commitPosition };
    if (!page.isLevel) continue;
    if (!follow) return;
    if (commits === seen && !isOver()) {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      await promise;
      wake = undefined;
    }
  }
}

/**
 * The changes of `changePages`, one by one.
 * @param closing aborted when the store closes, which ends every follower
 */
export async function* followChanges(
  store: Source,
  options: ChangesOptions,
  closing: AbortSignal,
): AsyncGenerator<Change> {
  // A reader that does not follow must not mistake a part for the whole.
  const endsOnClose = options.follow === true && !closing.aborted;
  const signals = [options.signal, endsOnClose ? closing : undefined].filter((each) => each !== undefined);
  const signal = AbortSignal.any(signals);
  try {
    for await (const { changes, records, before, position } of changePages(store, { ...options, signal })) {
      for (const [index, change] of changes.entries()) {
        const text = change.kind === 'deleted' ? undefined : records?.get(recordName(change));
        const isLast = index === changes.length - 1;
        yield {
          ...change,
          ...(text === undefined ? {} : { record: JSON.parse(text) }),
          position: isLast ? position : before,
        };
        if (signal.aborted) return;
      }
    }
  } catch (error) {
    if (!endsOnClose || !closing.aborted) throw error;
  }
}

/** @throws PlatError `usage` */
function parseSince(since: number | string): FeedPosition | 'end' {
  if (since === 'end') return 'end';
  if (since === 'start') return SEQUENCE_START;
  const position = parsePosition(String(since));
  if (position !== undefined) return position;
  const reason = `${JSON.stringify(since)} is not a position in the sequence of changes: use start, end, a number, or a position that plat returned.`;
  throw usageError(reason);
}

/** Records that are read at once; for listings with long remarks, about a megabyte. */
const AT_ONCE = 100;

interface RecordsRequest extends Pick<RecordQuery, 'view' | 'now'> {
  /** Root of the service, for references; ends with `/`. */
  readonly root: string;
  readonly files: FileSigning;
}

/** The texts of records, by resource and key, which `recordName` combines into one name. */
export type RecordTexts = ReadonlyMap<string, string>;

/** Reads the records of all changes except deletions, each once. */
export async function changedRecords(
  store: Pick<Store, 'page'>,
  changes: readonly RecordChange[],
  request: RecordsRequest,
  read: ReadOptions,
): Promise<RecordTexts> {
  const keys = new Map<string, Set<string>>();
  for (const { resource, key, kind } of changes) {
    if (kind === 'deleted') continue;
    keys.getOrInsertComputed(resource, () => new Set()).add(key);
  }
  const texts = new Map<string, string>();
  for (const [resource, named] of keys) {
    for (const some of chunked([...named], AT_ONCE)) {
      await readChunk(store, resource, some, { asked: request, read, texts });
    }
  }
  return texts;
}

async function readChunk(
  store: Pick<Store, 'page'>,
  name: string,
  keys: readonly string[],
  { asked, read, texts }: { asked: RecordsRequest; read: ReadOptions; texts: Map<string, string> },
): Promise<void> {
  const { view, now, root, files } = asked;
  const resource = view.schema.find(name)?.resource;
  const key = resource?.fields.get(resource.key);
  // The role lost the resource in the meantime.
  if (resource === undefined || key === undefined) return;
  const page = await store.page(
    {
      query: {
        view,
        now,
        resource,
        order: [],
        filter: {
          kind: 'in',
          operand: { kind: 'field', type: 'string', scope: 0, via: [], field: key },
          values: keys.map((value) => ({ kind: 'literal', type: 'string', value })),
        },
      },
      position: { kind: 'start' },
      limit: keys.length,
      shape: { ...plainShape([], root), selection: SELECT_ALL },
      files,
    },
    read,
  );
  try {
    for (const text of splitRecords(Buffer.from(page.body).toString(), resource.key)) {
      texts.set(recordName({ resource: name, key: keyOfText(text) }), text);
    }
  } finally {
    page.release?.();
  }
}

/** Splits texts of records joined by commas: each begins with its key, and no value has a brace before a quote. */
function* splitRecords(body: string, key: string): Generator<string> {
  const begin = `{"${key}":`;
  for (let at = 0; at < body.length; ) {
    const found = body.indexOf(`},${begin}`, at);
    const end = found < 0 ? body.length : found + 1;
    yield body.slice(at, end);
    at = end + 1;
  }
}

const KEY = /^\{"\w+":("(?:[^"\\]|\\.)*")/;

function keyOfText(text: string): string {
  const [, written] = KEY.exec(text) ?? [];
  if (written === undefined) throw new Error('The text of a record begins with its key');
  return String(JSON.parse(written));
}
