/** Reads members from stored texts: pieces that the role may see, and the fields of agents and offices. */
import type { View } from '../../access/index.ts';
import type { Field } from '../../dictionary/index.ts';
import { shownCondition, withheldBit } from '../context.ts';
import { bind, column, concat, constantText, integer, join, name, type Sql, sql } from '../fragment.ts';
import { type JoinPiece, joinPrefix, NAME_MARK, type Naming, type Piece } from '../layout/index.ts';
import { absentText, label } from './members.ts';
import type { TextSource } from './source.ts';

interface PieceChoice {
  readonly naming: Exclude<Naming, 'shared'>;
  /** Whether the members include custom fields. */
  readonly custom: boolean;
  readonly omitNulls: boolean;
}

/**
 * The members that the role may see, from the stored texts: piece by piece, with nulls in place of withheld pieces,
 * plus the nulls of fields that came into use after the text was written.
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
  const gap = gapText(alias, fields, (field) => layout.since(field), memberNull(choice.naming));
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
  // The nulls of later fields are added outside, so these are the nulls of the text's own version.
  const instead = choice.omitNulls
    ? constantText('')
    : nullsByVersion(alias, piece.fields, (each) => layout.since(each), memberNull(choice.naming));
  return [
    sql`CASE WHEN ${shownCondition(context, layout, alias, bits)} THEN ${concat(texts)} ELSE ${instead} END`,
  ];
}

/** Writes a null member. */
type MemberText = (field: Field) => string;
type Since = (field: Field) => number;

/**
 * The nulls that a text of an older version lacks, as a constant per version; undefined if all fields are as old as
 * the store.
 */
function gapText(
  alias: string,
  fields: readonly Field[],
  since: Since,
  memberOf: MemberText,
): Sql | undefined {
  return textByVersion(alias, fields, since, (version) =>
    fields
      .filter((field) => since(field) > version)
      .map(memberOf)
      .join(''),
  );
}

/** Nulls of all fields that a text of its version contains. */
function nullsByVersion(alias: string, fields: readonly Field[], since: Since, memberOf: MemberText): Sql {
  const upTo = (version: number): string =>
    fields
      .filter((field) => since(field) <= version)
      .map(memberOf)
      .join('');
  return textByVersion(alias, fields, since, upTo) ?? constantText(upTo(FIRST_VERSION));
}

/** Profiles are numbered from 1; no text is older. */
const FIRST_VERSION = 1;

function textByVersion(
  alias: string,
  fields: readonly Field[],
  since: Since,
  textOf: (version: number) => string,
): Sql | undefined {
  const later = new Set(fields.map(since).filter((version) => version > FIRST_VERSION));
  if (later.size === 0) return undefined;
  const branches = [...later]
    .toSorted((left, right) => right - left)
    .map(
      (version) =>
        sql`WHEN ${column(alias, '_profile')} >= ${integer(version)} THEN ${constantText(textOf(version))}`,
    );
  return sql`CASE ${join(branches, ' ')} ELSE ${constantText(textOf(FIRST_VERSION))} END`;
}

/**
 * The agent and office members of a listing: for each link, the fragment that the Member or Office stores, or nulls
 * if the link leads to no record (specification 2.4, rule 1).
 */
export function joinedMembers({ context, view, layout, alias }: TextSource, omitNulls: boolean): Sql[] {
  return layout.links.flatMap(({ field: link, resource }) => {
    const target = context.model.layout(resource);
    const pieces = visiblePieces(view, target.joinPieces, link);
    if (pieces.length === 0) return [];
    const other = `${alias}_${link}`; // no other table of a statement has this alias
    const columns = pieces.flatMap((piece) => [
      column(other, piece.valuesColumn),
      ...(omitNulls ? [] : [column(other, piece.nullsColumn)]),
    ]);
    const fields = pieces.flatMap((piece) => piece.fields);
    const suffixes = new Map(fields.map(({ field, suffix }) => [field, suffix]));
    const gap = omitNulls
      ? undefined
      : gapText(
          other,
          fields.map(({ field }) => field),
          (field) => target.since(field),
          (field) => `,"${NAME_MARK}${suffixes.get(field)}":${absentText(field)}`,
        );
    const prefix = joinPrefix(link);
    const texts = concat(gap === undefined ? columns : [...columns, gap]);
    const fragment = sql`replace(${texts}, ${bind(NAME_MARK)}, ${constantText(prefix)})`;
    const found = sql`(SELECT ${fragment} FROM ${name(target.textsTable)} ${name(other)} WHERE ${column(other, '_key')} = ${column(alias, link)})`;
    const nulls = fields.map(({ field, suffix }) => `,"${prefix}${suffix}":${absentText(field)}`).join('');
    return [sql`coalesce(${found}, ${constantText(omitNulls ? '' : nulls)})`];
  });
}

/** The fragments whose fields the role sees in the listing under this link. */
function visiblePieces(view: View, pieces: readonly JoinPiece[], link: string): JoinPiece[] {
  const listing = view.schema.of('Property').resource;
  const prefix = joinPrefix(link);
  return pieces.filter((piece) =>
    piece.fields.some(({ suffix }) => {
      const field = listing.fields.get(`${prefix}${suffix}`);
      return field !== undefined && view.role.seesField(field);
    }),
  );
}
