import type { View } from '../../access/index.ts';
import type { Search } from '../../query/tree.ts';
import type { ResourceLayout } from '../layout/index.ts';
import type { Context } from './context.ts';
import { placeOf, valueAt } from './fields.ts';
import { all, bind, column, join, name, type Sql, sql } from './fragment.ts';

/** No text holds this character, so that no phrase reaches from one field into the next. */
const BETWEEN = bind('\u001f');
/** A function takes 100 arguments at the most (PostgreSQL). */
const MOST_TEXTS = 90;

/**
 * "The words stand in the record": each in one of its own texts that the role sees, in any case and also inside a
 * longer word (OData 4.01 protocol, 11.2.6.6, leaves to the service what matches).
 */
export function searchCondition(context: Context, view: View, layout: ResourceLayout, search: Search): Sql {
  const texts = layout.fields
    .filter((field) => field.type.kind === 'string' && view.role.seesField(field))
    .map((field) => valueAt(placeOf(context, 0, [], field)));
  const chunks = Array.from({ length: Math.ceil(texts.length / MOST_TEXTS) }, (_, index) =>
    concatenated(texts.slice(index * MOST_TEXTS, (index + 1) * MOST_TEXTS)),
  );
  const alias = context.alias();
  const lower = context.dialect.call('tolower', [concatenated(chunks)], ['string']);
  const rows = sql`(SELECT ${lower} AS words) ${name(alias)}`;
  return sql`EXISTS (SELECT 1 FROM ${rows} WHERE ${holds(context, column(alias, 'words'), search)})`;
}

const concatenated = (texts: readonly Sql[]): Sql => sql`concat_ws(${join([BETWEEN, ...texts], ', ')})`;

function holds(context: Context, words: Sql, search: Search): Sql {
  switch (search.kind) {
    case 'word':
    case 'phrase':
      return context.dialect.call('contains', [words, bind(search.text.toLowerCase())], ['string', 'string']);
    case 'search-and':
      return all(search.terms.map((term) => holds(context, words, term)));
    case 'search-or':
      return sql`(${join(
        search.terms.map((term) => holds(context, words, term)),
        ' OR ',
      )})`;
    case 'search-not':
      return sql`NOT ${holds(context, words, search.operand)}`;
  }
}
