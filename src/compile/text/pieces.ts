import type { Field, FieldValue, FieldValues } from '../../dictionary/index.ts';
import { NAME_MARK, type ResourceLayout } from '../layout/index.ts';
import { label, type NamedField, writeMembers } from './encode.ts';
import { urlText } from './served-files.ts';

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
