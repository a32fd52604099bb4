/** The SELECT statements with which writes read stored rows, and the conversion of these rows, for every engine. */
import { type Field, type FieldValue, MEDIA_KINDS, type MediaKind } from '../dictionary/index.ts';
import { COUNTED_RESOURCE, type CountedChild, isChildCount, PERMISSION } from '../records/media.ts';
import type { StoredRow } from '../records/rows.ts';
import { FIELDS_WITH_TIMESTAMPS, isAssignedTimestamp } from '../records/timestamps.ts';
import { decode, decodeOrUndefined, textOrNull } from './column-value.ts';
import type { Dialect } from './dialect.ts';
import { all, column, compact, join, name, type Sql, sql } from './fragment.ts';
import {
  containsTimestamps,
  isOneTable,
  ownColumn,
  type ResourceLayout,
  typedFields,
} from './layout/index.ts';

/**
 * Reads the stored records that a write needs, in every engine: the values that it compares, the whole content, or the values on
 * which counts depend.
 */
interface StoredRowReader {
  /** `SELECT … FROM … r` of the values that a write compares. */
  readonly rows: Sql;
  /** `SELECT … FROM … r` of the whole content. */
  readonly contents: Sql;
  /** `SELECT … FROM … r` of the values of a medium on which counts depend. */
  readonly counted: Sql;
  row(raw: Readonly<Record<string, unknown>>): StoredRow;
  content(raw: Readonly<Record<string, unknown>>): Record<string, FieldValue>;
  countedChild(raw: Readonly<Record<string, unknown>>): CountedChild;
}

export function storedRowReader(
  layout: ResourceLayout,
  dialect: Pick<Dialect, 'sameSystem'>,
): StoredRowReader {
  const { columnsTable, resource } = layout;
  const typed = typedFields(layout);
  const permissions = typed.filter(
    (field) => resource.name === COUNTED_RESOURCE && field.name === PERMISSION,
  );
  const stamped = new Set(layout.pieces.filter(containsTimestamps).flatMap(({ fields }) => fields));
  // The fields that a write compares or restamps with, so that it does not read whole records.
  const watched = typed.filter(
    (field) =>
      stamped.has(field) ||
      isAssignedTimestamp(field) ||
      FIELDS_WITH_TIMESTAMPS.includes(field.name) ||
      isChildCount(field) ||
      permissions.includes(field),
  );
  const keys = resource.parent === undefined ? ['_key'] : ['_key', '_parent', '_parent_resource'];
  const own = ['_id', '_system', '_kind', '_hash', '_source', '_visible'];
  const select = (columns: readonly string[], fields: readonly Field[], others: readonly Sql[]): Sql => {
    const named = [...columns, ...fields.map((field) => field.name)].map((each) => column('r', each));
    return compact(sql`SELECT ${join([...named, ...others], ', ')} FROM ${name(columnsTable)} r`);
  };

  const inOwnColumns = [...resource.fields.values()].flatMap((field) => {
    const column = ownColumn(resource, field);
    return column === undefined ? [] : [{ name: field.name, column }];
  });
  const valuesOf = (
    fields: readonly Field[],
    raw: Readonly<Record<string, unknown>>,
    read: (field: Field, raw: unknown) => FieldValue,
  ): Record<string, FieldValue> => {
    const values: Record<string, FieldValue> = {};
    for (const { name, column } of inOwnColumns) {
      const value = textOrNull(raw[column]);
      if (value !== null && value !== '') values[name] = value;
    }
    for (const field of fields) {
      const value = read(field, raw[field.name]);
      if (value !== null) values[field.name] = value;
    }
    return values;
  };

  return {
    rows: select(
      [...keys, ...own],
      watched,
      isOneTable(layout) ? [] : [sql`${hasTexts(layout, dialect)} AS whole`],
    ),
    contents: select(keys, typed, []),
    counted: select(['_parent', '_kind'], permissions, []),
    row(raw) {
      let isSound = true;
      const values = valuesOf(watched, raw, (field, stored) => {
        const value = decodeOrUndefined(field, stored);
        isSound &&= value !== undefined;
        return orNobody(value);
      });
      return {
        key: String(raw._key),
        id: Number(raw._id),
        parent: textOrNull(raw._parent),
        parentResource: textOrNull(raw._parent_resource),
        system: textOrNull(raw._system),
        kind: kindOf(raw._kind),
        // No content has an empty hash, so the record is replaced when it is next written.
        hash: isSound ? String(raw._hash) : '',
        source: textOrNull(raw._source),
        visible: Number(raw._visible),
        values,
        ...(Number(raw.whole ?? 1) === 0 ? { isTorn: true } : {}),
      };
    },
    content: (raw) => valuesOf(typed, raw, decode),
    countedChild: (raw) => ({
      kind: kindOf(raw._kind),
      values: valuesOf(permissions, raw, (field, stored) => orNobody(decodeOrUndefined(field, stored))),
    }),
  };
}

/** Replaces a damaged list: a medium whose Permission cannot be read does not count as public. */
const FOR_NOBODY: FieldValue = [''];

const orNobody = (value: FieldValue | undefined): FieldValue => (value === undefined ? FOR_NOBODY : value);

/**
 * 1 if the texts of a row under alias `r` exist under its key and number. If an index covers both, the engine reads only the index.
 */
function hasTexts(layout: ResourceLayout, dialect: Pick<Dialect, 'sameSystem'>): Sql {
  const same = dialect.sameSystem?.(layout, 't', 'r');
  const isIts = [sql`t._id = r._id`, sql`t._key = r._key`, ...(same === undefined ? [] : [same])];
  return sql`CASE WHEN EXISTS (SELECT 1 FROM ${name(layout.textsTable)} t WHERE ${all(isIts)}) THEN 1 ELSE 0 END`;
}

function kindOf(raw: unknown): MediaKind | null {
  return MEDIA_KINDS.find((kind) => kind === raw) ?? null;
}
