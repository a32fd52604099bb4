/**
 * The members of a listing that come from its agents and offices: for each link, the fragment that the Member or Office stores, or
 * nulls if the link leads to no record (specification 2.4, rule 1). A statement either inserts the fragments itself, or marks their
 * place with the keys of the links, so that cached fragments are not read again for each listing (store/read/linked-body.ts).
 */
import { hash } from 'node:crypto';
import type { View } from '../../access/index.ts';
import { BoundedCache, bytesOfText } from '../../shared/bounded-cache.ts';
import { objectId } from '../../shared/memoize.ts';
import { columnKinds } from '../column-value.ts';
import type { Dialect } from '../dialect.ts';
import {
  bind,
  column,
  concat,
  constantText,
  join,
  name,
  render,
  type Sql,
  type Statement,
  slot,
  sql,
} from '../fragment.ts';
import { type JoinPiece, joinPrefix, NAME_MARK, type ResourceLayout } from '../layout/index.ts';
import type { StoreModel } from '../model.ts';
import { absentText } from './members.ts';
import type { TextSource } from './source.ts';
import { missingNulls } from './version-nulls.ts';

/** Stands before and after the JSON list of a listing's link keys. JSON texts never contain the bare character. */
export const LINK_MARK = '\u0002';

/** The meaning of a placeholder: one fragment for each link. */
export interface LinkedTexts {
  /** Equal for the same links and fragments. */
  readonly id: string;
  /** In the order of the keys in a mark. */
  readonly links: readonly PlannedLink[];
  /** Returns `link`, `key` and `text` of the fragments for the slot `links`, a JSON list of links and keys. */
  readonly fragments: Statement;
}

export interface PlannedLink {
  /** Identifies the fragments of the link: links with the same name have the same fragments. */
  readonly name: string;
  /** The resource that the link leads to. */
  readonly resource: string;
  /** Replaces each name mark of a fragment. */
  readonly prefix: string;
  /** The text for a link that leads to no record. */
  readonly without: string;
}

/** A link of a listing, with the pieces of its target that the role sees. */
interface VisibleLink {
  readonly field: string;
  readonly target: ResourceLayout;
  readonly pieces: readonly JoinPiece[];
  readonly prefix: string;
  readonly without: string;
}

/** The links of whose targets a role sees something. */
function visibleLinks(
  model: StoreModel,
  view: View,
  layout: ResourceLayout,
  omitNulls: boolean,
): VisibleLink[] {
  return layout.links.flatMap(({ field, resource }) => {
    const target = model.layout(resource);
    const pieces = visiblePieces(view, target.joinPieces, field);
    if (pieces.length === 0) return [];
    const prefix = joinPrefix(field);
    const nulls = pieces
      .flatMap((piece) => piece.fields)
      .map(({ field: each, suffix }) => `,"${prefix}${suffix}":${absentText(each)}`);
    return [{ field, target, pieces, prefix, without: omitNulls ? '' : nulls.join('') }];
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

/** The fragment of a Member or Office, with marks in place of the beginnings of names. */
function fragmentText({ target, pieces }: VisibleLink, alias: string, omitNulls: boolean): Sql {
  const columns = pieces.flatMap((piece) => [
    column(alias, piece.valuesColumn),
    ...(omitNulls ? [] : [column(alias, piece.nullsColumn)]),
  ]);
  const fields = pieces.flatMap((piece) => piece.fields);
  const suffixes = new Map(fields.map(({ field, suffix }) => [field, suffix]));
  const gap = omitNulls
    ? undefined
    : missingNulls(
        alias,
        fields.map(({ field }) => field),
        (field) => target.since(field),
        (field) => `,"${NAME_MARK}${suffixes.get(field)}":${absentText(field)}`,
      );
  return concat(gap === undefined ? columns : [...columns, gap]);
}

const hasKey = (alias: string, key: Sql): Sql => sql`${column(alias, '_key')} = ${key}`;

const targetTable = ({ target }: VisibleLink, alias: string): Sql =>
  sql`${name(target.textsTable)} ${name(alias)}`;

/** The members of a listing's agents and offices, or the mark in their place. */
export function linkedMembers(source: TextSource, omitNulls: boolean): Sql[] {
  const { context, view, layout, alias, marksLinks } = source;
  const links = visibleLinks(context.model, view, layout, omitNulls);
  if (marksLinks) {
    if (links.length === 0) return [];
    const mark = constantText(LINK_MARK);
    return [mark, context.dialect.textList(links.map(({ field }) => column(alias, field))), mark];
  }
  return links.map((link) => {
    const other = `${alias}_${link.field}`; // no other table of a statement has this alias
    const text = fragmentText(link, other, omitNulls);
    const fragment = sql`replace(${text}, ${bind(NAME_MARK)}, ${constantText(link.prefix)})`;
    const found = sql`(SELECT ${fragment} FROM ${targetTable(link, other)} WHERE ${hasKey(other, column(alias, link.field))})`;
    return sql`coalesce(${found}, ${constantText(link.without)})`;
  });
}

/** There is one entry for each role and form of listings in use. */
const composedTexts = new BoundedCache<LinkedTexts>('composed statements', { bytes: 4 * 1024 * 1024 });

/**
 * The links that the marks of a statement over these listings refer to; undefined if the role sees nothing of agents and offices.
 */
export function linkedTexts(
  { dialect, model }: { readonly dialect: Dialect; readonly model: StoreModel },
  view: View,
  layout: ResourceLayout,
  omitNulls: boolean,
): LinkedTexts | undefined {
  const id = `${dialect.name} ${objectId(layout)} ${objectId(view)} ${omitNulls}`;
  const known = composedTexts.get(id);
  if (known !== undefined) return known;
  const links = visibleLinks(model, view, layout, omitNulls);
  if (links.length === 0) return undefined;
  const made = planLinked(dialect, links, omitNulls);
  return composedTexts.put(id, made, bytesOfText(JSON.stringify(made)));
}

function planLinked(dialect: Dialect, links: readonly VisibleLink[], omitNulls: boolean): LinkedTexts {
  /** Links that have the same pieces of the same records share their fragments. */
  const forms = new Map<string, VisibleLink>();
  const named = links.map((link) => {
    const columns = link.pieces.map(({ valuesColumn }) => valuesColumn);
    const form = `${link.target.resource.name} ${columns.join(' ')}`;
    if (!forms.has(form)) forms.set(form, link);
    return { name: form, resource: link.target.resource.name, prefix: link.prefix, without: link.without };
  });
  const columns = columnKinds({ link: 'text', key: 'text' });
  const statements = [...forms].map(([form, link]) => {
    const asked = dialect.objectTable(slot('links'), 'l', columns);
    const text = dialect.bytes(fragmentText(link, 'f', omitNulls));
    return sql`SELECT l.link AS link, l.key AS key, ${text} AS text FROM ${asked} CROSS JOIN ${targetTable(link, 'f')} WHERE l.link = ${constantText(form)} AND ${hasKey('f', sql`l.key`)}`;
  });
  const fragments = render(join(statements, ' UNION ALL '), dialect.placeholder);
  // Sent with each page, so it is short.
  const id = hash('sha256', JSON.stringify([named, fragments.text]), 'base64url');
  return { id, links: named, fragments };
}
