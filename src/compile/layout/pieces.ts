import type { Field, Resource } from '../../dictionary/index.ts';

/** Which interface a piece is for. Most fields have one name in both. */
export type Naming = 'shared' | 'reso' | 'native';

/**
 * A part of a record's JSON text: the fields of one visibility class, as far as they have the same names.
 * It is stored twice, as the members that have values and as those that are null, each with a leading comma;
 * only the first piece of a record, which begins with its key, has none.
 */
export interface Piece {
  readonly class: string;
  readonly naming: Naming;
  /** Custom fields are part of a RESO record, but a list of their own in the native one. */
  readonly custom: boolean;
  readonly first: boolean;
  readonly fields: readonly Field[];
  readonly valuesColumn: string;
  readonly nullsColumn: string;
}

interface PieceKey {
  readonly class: string;
  readonly naming: Naming;
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

/** The pieces of a resource for its stored fields in use; the one with the key comes first. */
export function piecesOf(resource: Resource, fields: readonly Field[]): Piece[] {
  const key = fields.filter((field) => field.name === resource.key);
  const ordered = [...key, ...fields.filter((field) => field.name !== resource.key)];
  const groups = new Map<string, { key: PieceKey; fields: Field[] }>();
  for (const field of ordered) {
    for (const pieceKey of keysOf(field)) {
      const base = columnBase(pieceKey);
      const group = groups.get(base) ?? { key: pieceKey, fields: [] };
      group.fields.push(field);
      groups.set(base, group);
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
