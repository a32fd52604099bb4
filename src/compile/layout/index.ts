import type { AccessRules, RowRule, WithheldRule } from '../../access/index.ts';
import type { Dictionary, Field, Resource } from '../../dictionary/index.ts';
import type { Profile } from '../../records/profile.ts';
import type { StoreSettings } from '../../records/settings.ts';
import { searchedBy } from './indexes.ts';
import { type JoinPiece, joinPieces } from './joins.ts';
import { columnsTable, textsTable, viewName } from './names.ts';
import { ownColumn } from './own-column.ts';
import { type Piece, piecesOf } from './pieces.ts';

export { type JoinPiece, joinPrefix, NAME_MARK } from './joins.ts';
export { snakeCase } from './names.ts';
export { type OwnColumn, ownColumn } from './own-column.ts';
export type { Naming, Piece } from './pieces.ts';

/** What the store publishes of itself, for the roles that it names row by row. */
export const PUBLISHED: ReadonlySet<string> = new Set(['Field', 'Lookup']);

/** Where a record's originating system comes from; rows without one are not filtered by it. */
export type SystemSource = 'own' | 'parent' | 'none';

/** How one resource lies in a store: typed columns and ready texts, in key order. */
export interface ResourceLayout {
  readonly resource: Resource;
  readonly columnsTable: string;
  /** The same as `columnsTable` where texts and columns lie in one table. */
  readonly textsTable: string;
  readonly viewName: string;
  /** Stored fields in use, the key first: a typed column each. */
  readonly fields: readonly Field[];
  /** Fields in use that are read from Member or Office at request time. */
  readonly joinedFields: readonly Field[];
  readonly pieces: readonly Piece[];
  /** Fields that name the Member or Office to join; the texts carry them, too. */
  readonly links: readonly { readonly field: string; readonly resource: string }[];
  readonly joinPieces: readonly JoinPiece[];
  readonly indexes: readonly (readonly string[])[];
  readonly systemSource: SystemSource;
  readonly rowRules: readonly RowRule[];
  readonly withheldRules: readonly WithheldRule[];
  /** The version of the profile since which a stored field is in use. */
  readonly since: (field: Field) => number;
}

export interface LayoutSource {
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
  const known = (name: string, field: string): number | undefined => profile.since.get(name)?.get(field);
  const joins = settings.agentsFrom === 'records';
  const all = [...resource.fields.values()];
  const stored = all.filter(
    (field) => (field.joined === undefined || !joins) && known(resource.name, field.name) !== undefined,
  );
  const joined = all.filter(
    (field) =>
      joins && field.joined !== undefined && known(field.joined.resource, field.joined.field) !== undefined,
  );
  const fields = [
    ...stored.filter((field) => field.name === resource.key),
    ...stored.filter((field) => field.name !== resource.key),
  ];
  const names = new Set(fields.map((field) => field.name));
  return {
    resource,
    columnsTable: columnsTable(resource.name),
    textsTable: textsTable(resource.name),
    viewName: viewName(resource.name),
    fields,
    joinedFields: joined,
    pieces: piecesOf(resource, fields),
    links: joins ? linksOf(all) : [],
    joinPieces: joins
      ? joinPieces(resource.name, dictionary, (field) => known(field.resource, field.name) !== undefined)
      : [],
    indexes: searchedBy(resource.name).filter((columns) => columns.every((column) => names.has(column))),
    systemSource: systemSource(resource),
    rowRules: rules.rowRules(resource.name),
    withheldRules: rules.withheldRules(resource.name),
    since: (field) => known(field.resource, field.name) ?? 0,
  };
}

/** Whether columns and texts of a resource lie in one table. */
export const isOneTable = ({ columnsTable, textsTable }: ResourceLayout): boolean =>
  columnsTable === textsTable;

/** Typed columns of a layout: all fields but those that have a column of plat's own. */
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
