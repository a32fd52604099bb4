import type { ResourceLayout } from '../../../compile/layout/index.ts';
import { storedForm } from '../../../compile/stored-form.ts';
import type { FieldValues } from '../../../dictionary/index.ts';
import type { StoredRow } from '../../../records/rows.ts';
import type { Bindable } from '../connection/session.ts';
import { partitionedDialect, postgresDialect } from '../dialect.ts';
import type { Court } from './judge.ts';

/** What a transaction finds of one resource. */
export interface StoredRows {
  find(keys: readonly string[]): Promise<Map<string, StoredRow>>;
  all(): Promise<StoredRow[]>;
  /** Rows in the order of their keys. */
  after(key: string, limit: number): Promise<StoredRow[]>;
  /** Rows with a later timestamp in a field, in its order. */
  stampedAfter(field: string, moment: string, limit: number): Promise<StoredRow[]>;
  children(parentResource: string, parents: readonly string[]): Promise<Map<string, StoredRow[]>>;
  load(rows: readonly StoredRow[]): Promise<Map<string, FieldValues>>;
}

export function storedRows(
  { session, isPartitioned = false }: Pick<Court, 'session' | 'isPartitioned'>,
  layout: ResourceLayout,
): StoredRows {
  const form = storedForm(layout, isPartitioned ? partitionedDialect : postgresDialect);
  const select = async (rest: string, values: readonly Bindable[]): Promise<StoredRow[]> =>
    (await session.rows(`${form.rows} ${rest}`, values)).map(form.row);
  return {
    async find(keys) {
      if (keys.length === 0) return new Map();
      const rows = await select('WHERE r._key = ANY($1::text[])', [keys]);
      return new Map(rows.map((row) => [row.key, row]));
    },
    all: () => select('', []),
    after: (key, limit) => select(`WHERE r._key > $1 ORDER BY r._key LIMIT ${limit}`, [key]),
    stampedAfter: (field, moment, limit) =>
      select(`WHERE r."${field}" > $1 ORDER BY r."${field}", r._key LIMIT ${limit}`, [
        moment.replace(/Z$/, ''),
      ]),
    async children(parentResource, parents) {
      if (parents.length === 0) return new Map();
      const under = 'WHERE r._parent = ANY($1::text[]) AND r._parent_resource = $2';
      const rows = await select(under, [parents, parentResource]);
      return Map.groupBy(rows, (row) => row.parent ?? '');
    },
    async load(rows) {
      const keys = rows.map(({ key }) => key);
      const found = await session.rows(`${form.contents} WHERE r._key = ANY($1::text[])`, [keys]);
      return new Map(found.map((row) => [String(row._key), form.content(row)]));
    },
  };
}
