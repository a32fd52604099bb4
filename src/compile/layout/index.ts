/** The tables, columns, indexes and views of resources, which are the same in every engine. */
import type { AccessRules, RowRule, WithheldRule } from '../../access/index.ts';
import {
  type Dictionary,
  type Field,
  navigationTo,
  REPLICA_TIMESTAMP,
  type Resource,
} from '../../dictionary/index.ts';
import type { Profile } from '../../records/profile.ts';
import type { StoreSettings } from '../../records/settings.ts';
import { type FieldIndex, fieldIndexes, indexColumns } from './field-indexes.ts';
import { type JoinPiece, joinPieces, type Piece, piecesOf } from './pieces.ts';
import { FIXED_SEARCH_COLUMNS, type SearchTable, searchTable } from './search-table.ts';

export {
  containsTimestamps,
  type JoinPiece,
  joinPrefix,
  NAME_MARK,
  type Naming,
  type Piece,
} from './pieces.ts';
export type { SearchTable } from './search-table.ts';

/** `PropertyRooms` → `property_rooms`, `OUID` → `ouid`. */
export function snakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .toLowerCase();
}

/** A published view has the name of a listing's collection or of its resource, in snake case. */
const viewName = (resource: string): string => snakeCase(navigationTo(resource) ?? resource);
const columnsTable = (resource: string): string => `${snakeCase(resource)}_records`;

/**
 * The records of a large resource are wide and numerous, so their texts are in a separate table, and the fields that searches
 * read are in another (search-table.ts). All other records have their texts in the same table as their columns.
 */
const textsTable = ({ name, filteredBy }: Resource): string =>
  filteredBy === undefined ? columnsTable(name) : `${snakeCase(name)}_texts`;

/** Columns that every table has: the record's key, its parent's key, and its parent's resource. */
type OwnColumn = '_key' | '_parent' | '_parent_resource';

/** The standard column that stores a field; undefined for fields with a typed column of their own name. */
export function ownColumn(resource: Resource, field: Field): OwnColumn | undefined {
  const { key, parent } = resource;
  if (field.name === key) return field.type.kind === 'string' ? '_key' : undefined;
  if (parent === undefined) return undefined;
  if (field.name === parent.keyField) return '_parent';
  return parent.kind === 'named' && field.name === parent.resourceField ? '_parent_resource' : undefined;
}

/** The resources that the store itself publishes, row by row for the roles that each row names. */
export const PUBLISHED_RESOURCES: ReadonlySet<string> = new Set(['Field', 'Lookup']);

/** Where a record's originating system comes from. Rows without one are not filtered by system. */
type SystemSource = 'own' | 'parent' | 'none';

/** How a store represents a resource: typed columns and ready texts, in key order. */
export interface ResourceLayout {
  readonly resource: Resource;
  readonly columnsTable: string;
  /** Equal to `columnsTable` if texts and columns share a table. */
  readonly textsTable: string;
  readonly viewName: string;
  /** Stored fields in use, the key first. Each has a typed column. */
  readonly fields: readonly Field[];
  /** Fields in use that are read from Member or Office at request time. */
  readonly joinedFields: readonly Field[];
  readonly pieces: readonly Piece[];
  /** Fields that name the Member or Office to join. The texts table has these columns, too. */
  readonly links: readonly { readonly field: string; readonly resource: string }[];
  readonly joinPieces: readonly JoinPiece[];
  /** Only large resources have a search table. */
  readonly search?: SearchTable;
  /** On the search table if there is one, otherwise on the table of columns. */
  readonly indexes: readonly FieldIndex[];
  readonly systemSource: SystemSource;
  readonly rowRules: readonly RowRule[];
  readonly withheldRules: readonly WithheldRule[];
  /** The version of the profile in which a stored field came into use. */
  readonly since: (field: Field) => number;
}

interface LayoutSource {
  readonly resource: Resource;
  readonly dictionary: Dictionary;
  readonly profile: Profile;
  readonly settings: StoreSettings;
  readonly rules: AccessRules;
}

export function resourceLayout({
  resource,
  dictionary,
  profile,
  settings,
  rules,
}: LayoutSource): ResourceLayout {
  const sinceVersion = (name: string, field: string): number | undefined =>
    profile.since.get(name)?.get(field);
  const joins = settings.agentsFrom === 'records';
  const all = [...resource.fields.values()];
  const stored = all.filter(
    (field) =>
      (field.joined === undefined || !joins) && sinceVersion(resource.name, field.name) !== undefined,
  );
  const joined = all.filter(
    (field) =>
      joins &&
      field.joined !== undefined &&
      sinceVersion(field.joined.resource, field.joined.field) !== undefined,
  );
  const fields = [
    ...stored.filter((field) => field.name === resource.key),
    ...stored.filter((field) => field.name !== resource.key),
  ];
  const names = new Set(fields.map((field) => field.name));
  const searchedBy = withReplicaTimestamp(resource.searchedBy);
  const search = searchTable(`${snakeCase(resource.name)}_search`, resource, {
    stored: fields.filter((field) => ownColumn(resource, field) === undefined),
    indexed: searchedBy.flatMap(({ fields, covers }) => [...fields, ...covers]),
  });
  return {
    resource,
    columnsTable: columnsTable(resource.name),
    textsTable: textsTable(resource),
    viewName: viewName(resource.name),
    fields,
    joinedFields: joined,
    pieces: piecesOf(resource, fields),
    links: joins ? linksOf(all) : [],
    joinPieces: joins
      ? joinPieces(
          resource.name,
          dictionary,
          (field) => sinceVersion(field.resource, field.name) !== undefined,
        )
      : [],
    ...(search === undefined ? {} : { search }),
    indexes: fieldIndexes(searchedBy, names),
    systemSource: systemSource(resource),
    rowRules: rules.rowRules(resource.name),
    withheldRules: rules.withheldRules(resource.name),
    since: (field) => sinceVersion(field.resource, field.name) ?? 0,
  };
}

/** Whether columns and texts of a resource share a table. */
export const isOneTable = ({ columnsTable, textsTable }: ResourceLayout): boolean =>
  columnsTable === textsTable;

/** The table that has the indexes of a resource's fields. */
export const indexedTable = ({ search, columnsTable }: ResourceLayout): string =>
  search?.table ?? columnsTable;

/** The narrowest table with all of these columns of a record. */
export const tableWith = ({ search, columnsTable }: ResourceLayout, columns: readonly string[]): string =>
  search !== undefined && columns.every((column) => search.columns.has(column)) ? search.table : columnsTable;

/** The fields that have a typed column of their own. */
export function typedFields(layout: ResourceLayout): Field[] {
  return layout.fields.filter((field) => ownColumn(layout.resource, field) === undefined);
}

function linksOf(fields: readonly Field[]): { field: string; resource: string }[] {
  const links = new Map<string, string>();
  for (const { joined } of fields) if (joined !== undefined) links.set(joined.link, joined.resource);
  return [...links].map(([field, resource]) => ({ field, resource }));
}

function systemSource(resource: Resource): SystemSource {
  if (resource.parent !== undefined) return 'parent';
  return resource.fields.has('OriginatingSystemID') ? 'own' : 'none';
}

/** A replica's own timestamp serves its consumers as the source's timestamp serves those of an authority, so both are indexed. */
const withReplicaTimestamp = (indexes: Resource['searchedBy']): Resource['searchedBy'] =>
  indexes.flatMap((index) =>
    index.fields[0] === 'ModificationTimestamp'
      ? [index, { ...index, fields: [REPLICA_TIMESTAMP] }]
      : [index],
  );

interface Layouts {
  readonly layout: (resource: string) => ResourceLayout;
}

/**
 * The columns of a published view (docs/sql-views.md) by name, as expressions over the rows that it reads: the fields in use,
 * then the joined fields of agents and offices.
 */
export function viewColumns(model: Layouts, layout: ResourceLayout): ReadonlyMap<string, string> {
  const { resource, fields, joinedFields } = layout;
  const own = viewColumnSource(layout);
  return new Map([
    ...fields.map((field) => [field.name, own(ownColumn(resource, field) ?? field.name)] as const),
    ...joinedFields.map((field) => [field.name, joinedColumn(model, field, own)] as const),
    ['_id', own('_id')] as const,
  ]);
}

/**
 * The SELECT of a published view. A query on the view of a large resource finds rows by the indexes of the search table, and reads
 * whole records only for columns that its indexes lack.
 * @param first the columns that come first, in their order
 */
export function viewSelection(
  model: Layouts,
  layout: ResourceLayout,
  first: ReadonlySet<string> = new Set(),
): string {
  const { search, columnsTable } = layout;
  const columns = viewColumns(model, layout);
  const list = [...first.union(columns)].map((name) => `${columns.get(name)} AS "${name}"`).join(', ');
  const records = `"${columnsTable}" r`;
  const tables =
    search === undefined ? records : `"${search.table}" s LEFT JOIN ${records} ON r._key = s._key`;
  return `SELECT ${list} FROM ${tables}`;
}

/**
 * The view does not read fields from the search table that are there only because of the configuration, which may remove them
 * again.
 */
function viewColumnSource({ search, indexes }: ResourceLayout): (column: string) => string {
  const searched = new Set(
    search === undefined ? [] : [...FIXED_SEARCH_COLUMNS, ...indexes.flatMap(indexColumns)],
  );
  return (column) => `${searched.has(column) ? 's' : 'r'}.${column.startsWith('_') ? column : `"${column}"`}`;
}

function joinedColumn(model: Layouts, { joined }: Field, own: (column: string) => string): string {
  if (joined === undefined) return 'NULL';
  const table = model.layout(joined.resource).columnsTable;
  return `(SELECT j."${joined.field}" FROM "${table}" j WHERE j._key = ${own(joined.link)})`;
}
