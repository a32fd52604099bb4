/** The pieces of ready text that a record is stored with, for itself and for the listings that include its fields. */
import { hash } from 'node:crypto';
import type { Dictionary, Field, Resource } from '../../dictionary/index.ts';
import { isAssignedTimestamp } from '../../records/timestamps.ts';

/** The interfaces that use a piece. Most fields have the same name in both. */
export type Naming = 'shared' | 'reso' | 'native';

/**
 * A part of a record's JSON text: the fields of one visibility class and naming. It is stored as two texts, the members with values
 * and the members that are null, each member with a leading comma. Only the first piece, which begins with the record's key, has no
 * leading comma.
 */
export interface Piece extends PieceKey {
  readonly first: boolean;
  readonly fields: readonly Field[];
  readonly valuesColumn: string;
  readonly nullsColumn: string;
}

/** Whether the texts of a piece contain timestamps, which change more often than anything else. */
export const containsTimestamps = ({ fields }: Pick<Piece, 'fields'>): boolean =>
  fields.some(isAssignedTimestamp);

interface PieceKey {
  readonly class: string;
  readonly naming: Naming;
  /** Custom fields are members of a RESO record, but a separate list in the native interface. */
  readonly custom: boolean;
}

function keysOf(field: Field): PieceKey[] {
  const custom = field.custom !== undefined;
  if (field.name === field.nativeName) return [{ class: field.class, naming: 'shared', custom }];
  return [
    { class: field.class, naming: 'reso', custom },
    { class: field.class, naming: 'native', custom },
  ];
}

const columnBase = ({ class: name, naming, custom }: PieceKey): string =>
  [name, ...(custom ? ['custom'] : []), ...(naming === 'shared' ? [] : [naming])].join('_');

/** The pieces of a resource, for its stored fields in use. The one with the key comes first. */
export function piecesOf(resource: Resource, fields: readonly Field[]): Piece[] {
  const key = fields.filter((field) => field.name === resource.key);
  const ordered = [...key, ...fields.filter((field) => field.name !== resource.key)];
  const groups = new Map<string, { key: PieceKey; fields: Field[] }>();
  for (const field of ordered) {
    for (const pieceKey of keysOf(field)) {
      groups.getOrInsert(columnBase(pieceKey), { key: pieceKey, fields: [] }).fields.push(field);
    }
  }
  return [...groups].map(([base, group]) => ({
    ...group.key,
    first: group.fields[0]?.name === resource.key,
    fields: group.fields,
    valuesColumn: `${base}_values`,
    nullsColumn: `${base}_nulls`,
  }));
}

/** Replaced at request time by the beginning of the field names, such as `ListAgent`. */
export const NAME_MARK = '\u0001';

/** Fields of a Member or Office that listings include, and that have the same classes in the listing for each link. */
export interface JoinPiece {
  readonly valuesColumn: string;
  readonly nullsColumn: string;
  /** The field, and the end of its name in the listing: MemberEmail is `Email` in `ListAgentEmail`. */
  readonly fields: readonly { readonly field: Field; readonly suffix: string }[];
  /** The class of these fields in the listing, by the link field of the listing (`ListAgentKey`). */
  readonly classes: ReadonlyMap<string, string>;
}

/** The prefix of the fields of a link: `ListAgentKey` → `ListAgent`. */
export const joinPrefix = (link: string): string => link.replace(/Key$/, '');

interface JoinedField {
  readonly field: Field;
  readonly suffix: string;
  readonly classes: Map<string, string>;
}

/**
 * The text fragments that records of `resource` store for the listings that refer to them. Fields whose classes agree
 * for every link share a fragment.
 */
export function joinPieces(
  resource: string,
  dictionary: Dictionary,
  inUse: (field: Field) => boolean,
): JoinPiece[] {
  const joined = new Map<string, JoinedField>();
  for (const holder of dictionary.resources.values()) {
    for (const shown of holder.fields.values()) {
      if (shown.joined?.resource !== resource) continue;
      const field = dictionary.resources.get(resource)?.fields.get(shown.joined.field);
      if (field === undefined || !inUse(field)) continue;
      const suffix = shown.name.slice(joinPrefix(shown.joined.link).length);
      const { classes } = joined.getOrInsert(field.name, { field, suffix, classes: new Map() });
      classes.set(shown.joined.link, shown.class);
    }
  }
  const groups = Map.groupBy(joined.values(), ({ classes }) => signature(classes));
  return [...groups].map(([name, members]) => ({
    valuesColumn: `join_${short(name)}_values`,
    nullsColumn: `join_${short(name)}_nulls`,
    fields: members.map(({ field, suffix }) => ({ field, suffix })),
    classes: members[0]?.classes ?? new Map(),
  }));
}

/** PostgreSQL's column names have at most 63 characters. */
const short = (name: string): string =>
  name.length <= LONGEST ? name : `${name.slice(0, LONGEST - 9)}_${hash('sha256', name, 'hex').slice(0, 8)}`;
const LONGEST = 48;

/** Names a combination of links and classes: by the class if all agree, otherwise by every link and its class. */
function signature(classes: ReadonlyMap<string, string>): string {
  const all = [...classes].toSorted(([left], [right]) => (left < right ? -1 : 1));
  const distinct = [...new Set(all.map(([, name]) => name))];
  if (distinct.length === 1) return distinct[0] ?? '';
  return all.map(([link, name]) => `${joinPrefix(link)}_${name}`).join('_');
}
