/**
 * The records that changes refer to, as a role sees them now, complete and in the form of the RESO interface. A record
 * that the role no longer sees is absent. It knows no engine.
 */
import type { FileSigning, RecordQuery, ResoShape } from '../../compile/read.ts';
import { chunked } from '../../shared/chunked.ts';
import type { ReadOptions, Store } from '../store.ts';
import type { RecordChange } from './change-feed.ts';

/** Records that are read at once; for listings with long remarks, about a megabyte. */
const AT_ONCE = 100;

interface RecordsRequest extends Pick<RecordQuery, 'view' | 'now'> {
  /** Root of the service, for references; ends with `/`. */
  readonly root: string;
  readonly files: FileSigning;
}

/** The texts of records, by resource and key, which `recordNamed` combines into one name. */
export type RecordTexts = ReadonlyMap<string, string>;

export const recordNamed = ({ resource, key }: Pick<RecordChange, 'resource' | 'key'>): string =>
  `${resource} ${key}`;

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
      await readSome(store, resource, some, { asked: request, read, texts });
    }
  }
  return texts;
}

async function readSome(
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
  const shape: ResoShape = {
    kind: 'reso',
    selection: { all: true, fields: [], hidden: [] },
    computed: [],
    expansions: [],
    omitNulls: false,
    annotateHidden: false,
    root,
  };
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
      shape,
      files,
    },
    read,
  );
  try {
    for (const text of splitRecords(Buffer.from(page.body).toString(), resource.key)) {
      texts.set(recordNamed({ resource: name, key: keyOfText(text) }), text);
    }
  } finally {
    page.release?.();
  }
}

/**
 * Splits the texts of records, which are joined by commas. Each text begins with its key, and no value contains a brace before a
 * quote.
 */
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
