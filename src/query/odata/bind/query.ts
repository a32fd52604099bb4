import type { CollectionQuery } from '../../request.ts';
import type { ResourceSchema, Schema } from '../../schema.ts';
import type { Expression, OrderTerm } from '../../tree.ts';
import type { Node, OptionNodes, OrderNode } from '../syntax/nodes.ts';
import type { Sourced } from '../syntax/source.ts';
import { bindComputed, withComputed } from './compute.ts';
import { type Expanded, environmentOf, mismatch, type Named, type QueryScope } from './environment.ts';
import { bindExpand, type Expanding } from './expand.ts';
import { bindCondition, bindValue } from './expression.ts';
import { bindSelect, type SelectLists } from './select.ts';
import { inWords, typeOf } from './types.ts';

/** Where a query stands: that of the request, or of an expansion of another. */
export interface Around {
  readonly schema: Schema;
  /** Aliases of the request and of the expansions around. */
  readonly aliases: ReadonlyMap<string, Named>;
  readonly isExpansion: boolean;
  readonly expanding: Expanding;
}

/** The scope in which the expressions of a query are bound, its own aliases before those around it. */
export function queryScope(
  schema: Schema,
  resource: ResourceSchema,
  isExpansion: boolean,
  outer: ReadonlyMap<string, Named>,
  own: OptionNodes['aliases'],
  expanded: Expanded,
): QueryScope {
  const aliases = new Map(outer);
  const query: QueryScope = {
    schema,
    record: { kind: 'record', schema: resource, scope: 0, via: [] },
    isExpansion,
    aliases,
    computed: new Map(),
    reach: 0,
    expanded,
  };
  for (const [name, sourced] of own) aliases.set(name, { ...sourced, query });
  return query;
}

/**
 * Binds the options of one collection.
 * @param passed items of an outer `$select` that lead in here
 */
export function bindQuery(
  around: Around,
  resource: ResourceSchema,
  options: OptionNodes,
  passed: SelectLists = [],
): CollectionQuery {
  const { schema, isExpansion, aliases, expanding } = around;
  const plain = queryScope(schema, resource, isExpansion, aliases, options.aliases, expanding.expanded);
  const query = withComputed(plain, options.compute);
  const lists = options.select ? [options.select, ...passed] : passed;
  const select = bindSelect(resource, lists, new Set(query.computed.keys()));
  const expansions = bindExpand(expanding, query, options.expand, select.passed);
  const { filter, search, orderby, count = false, top, skip } = options;
  return {
    resource: resource.resource,
    ...(filter && { filter: bindFilter(query, filter) }),
    ...(search && { search }),
    order: orderby ? bindOrder(query, orderby) : [],
    selection: select.selection,
    computed: bindComputed(query).filter(({ name }) => select.computed?.has(name) ?? true),
    expansions,
    count,
    ...(top !== undefined && { top }),
    ...(skip !== undefined && { skip }),
  };
}

/** @throws the errors of the expression; typeMismatch when it is no condition */
export function bindFilter(query: QueryScope, { source, value }: Sourced<Node>): Expression {
  return bindCondition(environmentOf(query, source), value, source.option);
}

function bindOrder(
  query: QueryScope,
  { source, value }: Sourced<readonly OrderNode[]>,
): readonly OrderTerm[] {
  const env = environmentOf(query, source);
  return value.map(({ expression: node, descending }) => {
    const expression = bindValue(env, node);
    const type = typeOf(expression);
    if (type === 'point' || type === 'polygon')
      throw mismatch(env, node, `${inWords(expression)} has no order`);
    return { expression, descending };
  });
}
