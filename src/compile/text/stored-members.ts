/** Reads a record's own members from stored texts: the pieces that the role may see. */
import type { Field } from '../../dictionary/index.ts';
import { shownCondition, withheldBit } from '../context.ts';
import { column, concat, constantText, type Sql, sql } from '../fragment.ts';
import type { Naming, Piece } from '../layout/index.ts';
import { absentText, label } from './members.ts';
import type { TextSource } from './source.ts';
import { missingNulls, nullsByVersion } from './version-nulls.ts';

interface PieceChoice {
  readonly naming: Exclude<Naming, 'shared'>;
  /** Whether the members include custom fields. */
  readonly custom: boolean;
  readonly omitNulls: boolean;
}

/**
 * The members that the role may see, from the stored texts: piece by piece, with nulls in place of withheld pieces, plus the nulls
 * of fields that came into use after the text was written.
 */
export function piecesText(source: TextSource, choice: PieceChoice): Sql[] {
  const { view, layout, alias } = source;
  const pieces = layout.pieces.filter(
    (piece) =>
      (piece.naming === 'shared' || piece.naming === choice.naming) &&
      (choice.custom || !piece.custom) &&
      piece.fields.some((field) => view.role.seesField(field)),
  );
  // Pieces are sorted by class name, because their order in the layout depends on which fields are in use.
  const rest = pieces.filter((piece) => !piece.first).toSorted(byName);
  const texts = [...pieces.filter((piece) => piece.first), ...rest].flatMap((piece) =>
    pieceText(source, piece, choice),
  );
  if (choice.omitNulls) return texts;
  const fields = pieces.flatMap((piece) => piece.fields);
  const gap = missingNulls(alias, fields, (field) => layout.since(field), memberNull(choice.naming));
  return gap === undefined ? texts : [...texts, gap];
}

const byName = (one: Piece, other: Piece): number => (one.valuesColumn < other.valuesColumn ? -1 : 1);

const memberNull =
  (naming: PieceChoice['naming']) =>
  (field: Field): string =>
    `,${label(naming === 'native' ? field.nativeName : field.name)}${absentText(field)}`;

function pieceText({ context, layout, alias }: TextSource, piece: Piece, choice: PieceChoice): Sql[] {
  const values = column(alias, piece.valuesColumn);
  const texts = choice.omitNulls ? [values] : [values, column(alias, piece.nullsColumn)];
  const [field] = piece.fields;
  const bits = field === undefined ? 0 : withheldBit(context.rows, layout, field);
  if (bits === 0) return texts;
  // The nulls of later fields are added elsewhere, so these are the nulls of the text's own version.
  const instead = choice.omitNulls
    ? constantText('')
    : nullsByVersion(alias, piece.fields, (each) => layout.since(each), memberNull(choice.naming));
  return [
    sql`CASE WHEN ${shownCondition(context, layout, alias, bits)} THEN ${concat(texts)} ELSE ${instead} END`,
  ];
}
