import type { Count, Expression, Quantified } from '../../tree.ts';
import { MAX_LAMBDAS } from '../limits.ts';
import type { Node, Segment } from '../syntax/nodes.ts';
import { tooLarge } from '../syntax/source.ts';
import {
  type BoundCollection,
  type BoundRecord,
  type BoundValue,
  type Environment,
  type Place,
  spend,
  unsupported,
} from './environment.ts';
import { bindCondition } from './expression.ts';

type Of<Kind extends Segment['kind']> = Extract<Segment, { kind: Kind }>;

/** Inside a lambda the record around it stays visible, and the variable opens the next scope. */
function inside(env: Environment, place: Place): Environment {
  if (env.nextScope > MAX_LAMBDAS) {
    throw tooLarge(env.source, place.start, 'lists inside each other', MAX_LAMBDAS);
  }
  return { ...env, nextScope: env.nextScope + 1 };
}

/** In an option of the collection itself its members are what unprefixed names speak of. */
function memberOf(env: Environment, collection: BoundCollection, place: Place): Environment {
  const self: BoundRecord | BoundValue = collection.element(env.nextScope);
  return { ...inside(env, place), self };
}

/** `any` and `all` (OData 4.01 URL conventions, 5.1.1.13). */
export function bindLambda(env: Environment, collection: BoundCollection, segment: Of<'lambda'>): Quantified {
  spend(env, segment);
  const { operator, variable: name, predicate } = segment;
  // A filtered-out member would have to satisfy `all`, also where the filter is null for it.
  if (operator === 'all' && collection.predicate) throw unsupported(env, segment, 'all after $filter');
  const variable = env.nextScope;
  const { over } = collection;
  if (predicate === undefined || name === undefined) {
    return { kind: operator, over, variable, ...optional(collection.predicate) };
  }
  const variables = new Map(env.variables).set(name, collection.element(variable));
  const bound = condition({ ...inside(env, segment), variables }, predicate, operator);
  return { kind: operator, over, variable, ...optional(both(collection.predicate, bound)) };
}

/** `$count`, with or without options of its own. */
export function bindCount(env: Environment, collection: BoundCollection, segment: Of<'count'>): Count {
  spend(env, segment);
  if (segment.search) throw unsupported(env, segment, '$search inside an expression');
  const filter = segment.filter && condition(memberOf(env, collection, segment), segment.filter, '$count');
  const predicate = both(collection.predicate, filter);
  return { kind: 'count', over: collection.over, variable: env.nextScope, ...optional(predicate) };
}

/** `$filter(…)` on the way to `any` or `$count` (OData 4.01 URL conventions, 4.13). */
export function bindFiltered(
  env: Environment,
  collection: BoundCollection,
  segment: Of<'filter'>,
): BoundCollection {
  spend(env, segment);
  const filter = condition(memberOf(env, collection, segment), segment.predicate, '$filter');
  return { ...collection, ...optional(both(collection.predicate, filter)) };
}

const condition = (env: Environment, node: Node, name: string): Expression => bindCondition(env, node, name);

const optional = (predicate: Expression | undefined): { predicate?: Expression } =>
  predicate === undefined ? {} : { predicate };

function both(first: Expression | undefined, second: Expression | undefined): Expression | undefined {
  return first && second ? { kind: 'and', terms: [first, second] } : (first ?? second);
}
