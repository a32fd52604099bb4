import type { Field, FieldValue, FieldValues } from '../../dictionary/index.ts';
import { ownColumn, type ResourceLayout, typedFields } from '../layout/index.ts';
import { MEDIA_KINDS, type MediaKind } from '../record/media.ts';
import { isStamp, STAMPED_FIELDS } from '../record/stamps.ts';
import type { StoredRow } from '../write/transaction.ts';
import { decode } from './codec.ts';
import type { Bindable, Row, Session } from './session.ts';

/** What a transaction finds of one resource. */
export interface StoredRows {
  find(keys: readonly string[]): Promise<Map<string, StoredRow>>;
  all(): Promise<StoredRow[]>;
  /** Rows in the order of their keys. */
  after(key: string, limit: number): Promise<StoredRow[]>;
  children(parentResource: string, parents: readonly string[]): Promise<Map<string, StoredRow[]>>;
  load(rows: readonly StoredRow[]): Promise<Map<string, FieldValues>>;
}

export function storedRows(session: Session, layout: ResourceLayout): StoredRows {
  const { columnsTable, resource } = layout;
  const typed = typedFields(layout);
  // Fields that a write compares, so that it need not read the whole record.
  const watched = typed.filter(
    (field) => field.class === 'open' || isStamp(field) || STAMPED_FIELDS.includes(field.name),
  );
  const place = resource.parent === undefined ? '' : ', r._parent, r._parent_resource';
  const listOf = (fields: readonly Field[]): string => fields.map((field) => `, r."${field.name}"`).join('');
  const rowTexts = `SELECT r._key${place}, r._id, r._system, r._kind, r._hash, r._source, r._visible${listOf(watched)} FROM "${columnsTable}" r`;
  const contentTexts = `SELECT r._key${place}${listOf(typed)} FROM "${columnsTable}" r WHERE r._key = ANY($1::text[])`;

  async function select(rest: string, values: readonly Bindable[]): Promise<StoredRow[]> {
    const rows = await session.rows(`${rowTexts} ${rest}`, values);
    return rows.map((row) => ({
      key: String(row._key),
      id: Number(row._id),
      parent: textOf(row._parent),
      parentResource: textOf(row._parent_resource),
      system: textOf(row._system),
      kind: kindOf(row._kind),
      hash: String(row._hash),
      source: textOf(row._source),
      visible: Number(row._visible),
      values: valuesOf(layout, watched, row),
    }));
  }

  return {
    async find(keys) {
      if (keys.length === 0) return new Map();
      const rows = await select('WHERE r._key = ANY($1::text[])', [keys]);
      return new Map(rows.map((row) => [row.key, row]));
    },
    all: () => select('', []),
    after: (key, limit) => select(`WHERE r._key > $1 ORDER BY r._key LIMIT ${limit}`, [key]),
    async children(parentResource, parents) {
      if (parents.length === 0) return new Map();
      const under = 'WHERE r._parent = ANY($1::text[]) AND r._parent_resource = $2';
      const rows = await select(under, [parents, parentResource]);
      return Map.groupBy(rows, (row) => row.parent ?? '');
    },
    async load(rows) {
      const found = await session.rows(contentTexts, [rows.map(({ key }) => key)]);
      return new Map(found.map((row) => [String(row._key), valuesOf(layout, typed, row)]));
    },
  };
}

function valuesOf({ resource }: ResourceLayout, fields: readonly Field[], row: Row): FieldValues {
  const values: Record<string, FieldValue> = {};
  for (const field of resource.fields.values()) {
    const column = ownColumn(resource, field);
    const value = column === undefined ? null : textOf(row[column]);
    if (value !== null && value !== '') values[field.name] = value;
  }
  for (const field of fields) {
    const value = decode(field, row[field.name]);
    if (value !== null) values[field.name] = value;
  }
  return values;
}

const textOf = (raw: unknown): string | null => (typeof raw === 'string' ? raw : null);

function kindOf(raw: unknown): MediaKind | null {
  return MEDIA_KINDS.find((kind) => kind === raw) ?? null;
}
