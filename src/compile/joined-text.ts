import type { View } from '../access/index.ts';
import { bind, column, concat, constantText, name, type Sql, sql } from './fragment.ts';
import { type JoinPiece, joinPrefix, NAME_MARK } from './layout/index.ts';
import { gapText } from './pieces-text.ts';
import type { TextSource } from './reso-text.ts';
import { absentText } from './text/encode.ts';

/**
 * The agent and office members of a listing, each link's from the fragment that the Member or Office keeps; nulls
 * where the link names no record (specification 2.4, rule 1).
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

/** Fragments whose fields the role sees in this link's listing fields. */
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
