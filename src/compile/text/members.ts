/** Writes the ready texts of a record's members, as they are stored. This module knows no SQL and no sub-resources. */
import type { Field, FieldValue, FieldValues } from '../../dictionary/index.ts';
import { isAbsent } from '../../records/parsed-record.ts';
import { NAME_MARK, type Piece, type ResourceLayout } from '../layout/index.ts';

/** The members of a JSON object: those with values, and those that are null. */
interface Members {
  readonly values: string;
  readonly nulls: string;
}

/** A field, how its member begins (`,"City":`), how its value is written, and the member without a value. */
export interface NamedField {
  readonly field: Field;
  /** The position of the field in its layout. */
  readonly place: number;
  readonly beginning: string;
  readonly write: (value: FieldValue) => string;
  readonly absent: string;
}

export const label = (name: string): string => `${JSON.stringify(name)}:`;

/** An empty collection is [], never null. */
export const absentText = (field: Field): string => (field.collection ? '[]' : 'null');

/** The value of a record's field. */
export type ReadValue = (field: NamedField) => FieldValue | undefined;

/** Writes fields as members, each with a leading comma. */
function writeMembers(fields: readonly NamedField[], read: ReadValue): Members {
  let present = '';
  let absent = '';
  for (const named of fields) {
    const value = read(named);
    if (value === undefined || isAbsent(value)) absent += named.absent;
    else present += named.beginning + named.write(value);
  }
  return { values: present, nulls: absent };
}

/**
 * Stands in place of the address of a file that this service serves, until it is replaced at request time. JSON texts never contain
 * the bare character.
 */
export const URL_MARK = '\u0001';

const ABSOLUTE = /^(?:[A-Za-z][A-Za-z0-9+.-]*:|\/\/)/;

/** The path of a file that this service serves; undefined for media that are hosted elsewhere. */
export function servedFile(url: FieldValue | undefined): string | undefined {
  return typeof url === 'string' && url !== '' && !ABSOLUTE.test(url) ? url : undefined;
}

/** The JSON text of a media address, or the mark if the address is made at request time. */
function urlText(url: FieldValue): string {
  return servedFile(url) === undefined ? JSON.stringify(url) : `"${URL_MARK}"`;
}

/** Replaces numbers in a text of members, each of which has another number. */
export function withNumbers(
  text: string,
  { fields, naming }: Pick<Piece, 'fields' | 'naming'>,
  numbers: FieldValues,
): string {
  let changed = text;
  for (const field of fields) {
    const number = numbers[field.name];
    if (number === undefined) continue;
    const { name, member } = numberMember(naming === 'native' ? field.nativeName : field.name);
    changed = changed.replace(member, `${name}${number}`);
  }
  return changed;
}

const numberMembers = new Map<string, { readonly name: string; readonly member: RegExp }>();

/** Finds the member with a number. Quotes within a value are escaped, so only the member itself matches. */
const numberMember = (field: string) =>
  numberMembers.getOrInsertComputed(field, () => ({
    name: label(field),
    member: new RegExp(`${label(field)}\\d+`),
  }));

/** How to write the two texts of a piece. */
export interface TextPlan {
  readonly valuesColumn: string;
  readonly nullsColumn: string;
  /** Whether the record begins with this piece, so that its first member has no leading comma. */
  readonly first: boolean;
  readonly fields: readonly NamedField[];
}

/** Whether the text of a field may contain the mark in place of an address. */
export const isAddress = (field: Field): boolean => field.resource === 'Media' && field.name === 'MediaURL';

const writerOf = (field: Field): ((value: FieldValue) => string) =>
  isAddress(field) ? urlText : JSON.stringify;

/** The text columns of a layout. */
export function textPlans(layout: ResourceLayout): TextPlan[] {
  const places = new Map(layout.fields.map((field, place) => [field, place]));
  const placeOf = (field: Field): number => {
    const place = places.get(field);
    if (place === undefined) throw new Error(`${field.name} is not a field of the layout`);
    return place;
  };
  const named = (field: Field, name: string, write: NamedField['write']): NamedField => {
    const beginning = `,${name}`;
    return { field, place: placeOf(field), beginning, write, absent: beginning + absentText(field) };
  };
  const pieces = layout.pieces.map(
    (piece): TextPlan => ({
      ...piece,
      fields: piece.fields.map((field) =>
        named(field, label(piece.naming === 'native' ? field.nativeName : field.name), writerOf(field)),
      ),
    }),
  );
  const joins: TextPlan[] = layout.joinPieces.map((join) => ({
    ...join,
    first: false,
    fields: join.fields.map(({ field, suffix }) => named(field, `"${NAME_MARK}${suffix}":`, JSON.stringify)),
  }));
  return [...pieces, ...joins];
}

/** Writes the two texts of each piece, in the order of `columnsOf`. */
export function writeTexts(plans: readonly TextPlan[], read: ReadValue): string[] {
  const texts: string[] = [];
  for (const { fields, first } of plans) {
    const { values, nulls } = writeMembers(fields, read);
    texts.push(first ? values.slice(1) : values, nulls);
  }
  return texts;
}

/** The columns of the texts of pieces. */
export const columnsOf = (plans: readonly TextPlan[]): string[] =>
  plans.flatMap(({ valuesColumn, nullsColumn }) => [valuesColumn, nullsColumn]);
