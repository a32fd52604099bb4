import type { Field, FieldValue, FieldValues } from '../../dictionary/index.ts';
import { isAbsent } from '../../records/parsed-record.ts';
import { NAME_MARK, type ResourceLayout } from '../layout/index.ts';

/** The members of a JSON object: those with values, and those that are null. */
export interface Members {
  readonly values: string;
  readonly nulls: string;
}

/** A field with its name as it stands in the text, `"City":`, and how its value is written. */
export interface NamedField {
  readonly field: Field;
  readonly label: string;
  readonly write: (value: FieldValue) => string;
}

export const label = (name: string): string => `${JSON.stringify(name)}:`;

/** A collection is never null: without values it is []. */
export const absentText = (field: Field): string => (field.collection ? '[]' : 'null');

/** Writes the fields as members, each with a leading comma. */
export function writeMembers(fields: readonly NamedField[], values: FieldValues): Members {
  let present = '';
  let absent = '';
  for (const { field, label: name, write } of fields) {
    const value = values[field.name];
    if (value === undefined || isAbsent(value)) absent += `,${name}${absentText(field)}`;
    else present += `,${name}${write(value)}`;
  }
  return { values: present, nulls: absent };
}

/**
 * Stands in stored texts where the address of a file that this service serves is put in at request time. JSON
 * texts never hold the bare character.
 */
export const URL_MARK = '\u0001';

const ABSOLUTE = /^(?:[A-Za-z][A-Za-z0-9+.-]*:|\/\/)/;

/** The path of a file that this service serves itself; undefined for media that lie elsewhere. */
export function servedFile(url: FieldValue | undefined): string | undefined {
  return typeof url === 'string' && url !== '' && !ABSOLUTE.test(url) ? url : undefined;
}

/** The JSON text of a media address: the mark in place of one that is made at request time. */
export function urlText(url: FieldValue): string {
  return servedFile(url) === undefined ? JSON.stringify(url) : `"${URL_MARK}"`;
}

/** The text columns of a record, by column name. */
export type PieceTexts = Readonly<Record<string, string>>;

/** Writes the text columns of one resource's records. Made once per layout. */
export type PieceWriter = (values: FieldValues) => PieceTexts;

/** How the two texts of a piece are made of a record's fields. */
export interface TextPlan {
  readonly valuesColumn: string;
  readonly nullsColumn: string;
  /** Whether the record begins with it, so that its first member has no comma before it. */
  readonly first: boolean;
  readonly fields: readonly NamedField[];
}

/** Whether the text of a field bears the mark in place of the address of a served file. */
export const isAddress = (field: Field): boolean => field.resource === 'Media' && field.name === 'MediaURL';

const writerOf = (field: Field): ((value: FieldValue) => string) =>
  isAddress(field) ? urlText : JSON.stringify;

/** @param only restricts the plans to the pieces of these classes, such as `open` for a new stamp */
export function textPlans(layout: ResourceLayout, only?: ReadonlySet<string>): TextPlan[] {
  const pieces: TextPlan[] = layout.pieces
    .filter((piece) => only?.has(piece.class) ?? true)
    .map((piece) => ({
      ...piece,
      fields: piece.fields.map((field) => ({
        field,
        label: label(piece.naming === 'native' ? field.nativeName : field.name),
        write: writerOf(field),
      })),
    }));
  const joins: TextPlan[] = (only ? [] : layout.joinPieces).map((join) => ({
    ...join,
    first: false,
    fields: join.fields.map(({ field, suffix }) => ({
      field,
      label: `"${NAME_MARK}${suffix}":`,
      write: JSON.stringify,
    })),
  }));
  return [...pieces, ...joins];
}

/** @param only restricts the writer to the pieces of these classes */
export function pieceWriter(layout: ResourceLayout, only?: ReadonlySet<string>): PieceWriter {
  const plans = textPlans(layout, only);
  return (values) => {
    const texts: Record<string, string> = {};
    for (const plan of plans) {
      const members = writeMembers(plan.fields, values);
      texts[plan.valuesColumn] = plan.first ? members.values.slice(1) : members.values;
      texts[plan.nullsColumn] = members.nulls;
    }
    return texts;
  };
}
