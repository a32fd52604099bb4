import { syntaxError } from '../syntax/source.ts';
import type { Bound, Environment, Named, Place } from './environment.ts';
import { bindNode } from './expression.ts';

/**
 * Binds an alias or a computed name where it is used: nesting and terms count there, names are those of the query
 * that it was written for, and lambda variables around its use are not seen.
 * @throws syntax when it leads back to itself
 */
export function bindNamed(env: Environment, place: Place, named: Named): Bound {
  if (env.within.includes(named)) {
    throw syntaxError(env.source, place.start, 'a name that leads back to itself', 'a value in the end');
  }
  const same = named.query.record === env.query.record;
  const inner: Environment = {
    ...env,
    query: named.query,
    source: named.source,
    self: same ? named.query.record : undefined,
    variables: new Map(),
    within: [...env.within, named],
  };
  return bindNode(inner, named.value);
}
