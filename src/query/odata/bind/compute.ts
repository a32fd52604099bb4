import { platError } from '../../../errors/index.ts';
import type { Computed } from '../../request.ts';
import type { ComputeNode } from '../syntax/nodes.ts';
import { type Sourced, shown } from '../syntax/source.ts';
import { type ComputedName, environmentOf, mismatch, type QueryScope } from './environment.ts';
import { bindValue } from './expression.ts';
import { typeOf } from './types.ts';

/**
 * Adds the names of `$compute` to a query (OData 4.01 URL conventions, 5.1.10); each may use those before it. A use
 * of a name stands for its expression, so that the tree knows fields only.
 * @throws optionInvalid for a name that is a field or stands twice
 */
export function withComputed(
  query: QueryScope,
  items: Sourced<readonly ComputeNode[]> | undefined,
): QueryScope {
  if (items === undefined) return query;
  const computed = new Map<string, ComputedName>();
  const reaching = (reach: number): QueryScope => ({ ...query, computed, reach });
  for (const { name, expression } of items.value) {
    const { schema } = query.record;
    if (computed.has(name) || schema.findField(name).kind === 'visible' || schema.findNavigation(name)) {
      const expected = `a new name after "as", which no field of ${schema.resource.name} has and which stands once`;
      throw platError(
        'optionInvalid',
        { name: '$compute', value: shown(name), expected },
        { target: '$compute' },
      );
    }
    const before = computed.size;
    const scope = reaching(before);
    computed.set(name, { source: items.source, value: expression, query: scope, before });
  }
  return reaching(computed.size);
}

/** The computed values of a query, in their order. @throws typeMismatch for a shape, which no record can hold */
export const bindComputed = (query: QueryScope): readonly Computed[] =>
  [...query.computed].map(([name, { source, value, query: before }]) => {
    const env = environmentOf(before, source);
    const expression = bindValue(env, value);
    const type = typeOf(expression);
    if (type === 'point' || type === 'polygon') {
      throw mismatch(
        env,
        value,
        `a record has no ${type} of its own; use it in geo.distance or geo.intersects`,
      );
    }
    return { name, expression };
  });
