import type { Expression } from '../../tree.ts';
import type { Segment } from '../syntax/nodes.ts';
import { shown } from '../syntax/source.ts';
import { bindCount, bindFiltered, bindLambda } from './collection.ts';
import {
  type Bound,
  type BoundCollection,
  type BoundRecord,
  type BoundValue,
  type Environment,
  mismatch,
  unsupported,
} from './environment.ts';
import { fieldUnknown } from './field-unknown.ts';
import { COORDINATES, locationOf } from './geography.ts';
import { bindNamed } from './named.ts';
import { fieldType } from './types.ts';

/** Follows a path from its head (OData 4.01 URL conventions, 5.1.1.15). */
export function bindPath(env: Environment, segments: readonly [Segment, ...Segment[]]): Bound {
  const [head, ...rest] = segments;
  let bound = bindHead(env, head);
  for (const segment of rest) bound = follow(env, bound, segment);
  return bound;
}

function bindHead(env: Environment, head: Segment): Bound {
  switch (head.kind) {
    case 'it':
      if (env.query.isExpansion) throw unsupported(env, head, '$it, the outer record, inside an expansion');
      return reachable(env, head, env.query.record);
    case 'this':
      return reachable(env, head, env.self);
    case 'at': {
      const alias = env.query.aliases.get(head.name);
      if (alias) return bindNamed(env, head, alias);
      if (/[.#]/.test(head.name)) throw unsupported(env, head, `the annotation @${shown(head.name)}`);
      // An alias without a value is null (OData 4.01 URL conventions, 5.3).
      return { kind: 'value', expression: { kind: 'literal', type: 'null', value: null } };
    }
    case 'name': {
      const variable = env.variables.get(head.name);
      if (variable) return variable;
      const self = reachable(env, head, env.self);
      const computed = self === env.query.record ? env.query.computed.get(head.name) : undefined;
      if (computed && computed.before < env.query.reach) return bindNamed(env, head, computed);
      if (self.kind === 'record') return member(env, self, head);
      throw mismatch(env, head, `${shown(head.name)} is named where only $this and variables have a value`);
    }
    case 'root':
      throw unsupported(env, head, '$root');
    case 'call':
    case 'key':
    case 'lambda':
    case 'count':
    case 'filter':
      throw unsupported(env, head, describe(head));
  }
}

/** The record or value that a name starts from; an alias of an outer query has none. */
function reachable(
  env: Environment,
  place: Segment,
  self: BoundRecord | BoundValue | undefined,
): BoundRecord | BoundValue {
  if (self && env.self) return self;
  throw unsupported(env, place, 'an alias of the request that names fields, used inside an expansion,');
}

function follow(env: Environment, bound: Bound, segment: Segment): Bound {
  switch (bound.kind) {
    case 'record':
      return followRecord(env, bound, segment);
    case 'collection':
      return followCollection(env, bound, segment);
    case 'value':
    case 'list':
    case 'location':
      if (isForeign(segment)) throw unsupported(env, segment, describe(segment));
      throw mismatch(env, segment, `a single value has no ${describe(segment)}`);
  }
}

function followRecord(env: Environment, record: BoundRecord, segment: Segment): Bound {
  if (segment.kind === 'name') return member(env, record, segment);
  if (isForeign(segment)) throw unsupported(env, segment, describe(segment));
  const name = record.via.at(-1)?.name ?? 'the record';
  throw mismatch(env, segment, `${name} is one record and no list, so it has no ${describe(segment)}`);
}

function followCollection(env: Environment, collection: BoundCollection, segment: Segment): Bound {
  const value = (expression: Expression): Bound => ({ kind: 'value', expression });
  switch (segment.kind) {
    case 'lambda':
      return value(bindLambda(env, collection, segment));
    case 'count':
      return value(bindCount(env, collection, segment));
    case 'filter':
      return bindFiltered(env, collection, segment);
  }
  if (isForeign(segment)) throw unsupported(env, segment, describe(segment));
  const { name } = collection;
  throw mismatch(env, segment, `${name} is a list, so ${describe(segment)} stands inside ${name}/any(x: …)`);
}

/** What the grammar allows and nothing here has: type casts, bound functions, keys, annotations. */
const isForeign = (segment: Segment): boolean =>
  segment.kind === 'call' ||
  segment.kind === 'key' ||
  segment.kind === 'at' ||
  (segment.kind === 'name' && segment.name.includes('.'));

function describe(segment: Segment): string {
  switch (segment.kind) {
    case 'name':
      return segment.name.includes('.') ? `the type cast ${shown(segment.name)}` : shown(segment.name);
    case 'call':
      return `the function or key ${shown(segment.name)}(…)`;
    case 'key':
      return 'a key in an expression';
    case 'at':
      return `the annotation @${shown(segment.name)}`;
    case 'lambda':
      return segment.operator;
    case 'count':
    case 'filter':
    case 'it':
    case 'this':
    case 'root':
      return `$${segment.kind}`;
  }
}

/** A field, a related record or collection, or the point of a record. */
function member(env: Environment, record: BoundRecord, segment: Segment & { kind: 'name' }): Bound {
  const { name } = segment;
  const { schema, scope, via } = record;
  if (name.includes('.')) throw unsupported(env, segment, describe(segment));
  const found = schema.findField(name);
  if (found.kind === 'visible') {
    const { field } = found;
    const lookup = field.lookup === undefined ? undefined : env.query.schema.lookup(field.lookup);
    const isEnumeration = field.lookup !== undefined && env.query.schema.enumerations;
    const type = fieldType(field);
    const held = (expression: Expression): BoundValue => ({
      kind: 'value',
      expression,
      ...(lookup && { lookup }),
      ...(isEnumeration && { isOfLookup: true }),
    });
    if (!field.collection) return held({ kind: 'field', type, scope, via, field });
    const element = (inner: number) => held({ kind: 'variable', type, scope: inner });
    return { kind: 'collection', name, over: { kind: 'values', scope, via, field }, element };
  }
  const navigation = schema.findNavigation(name);
  if (navigation) {
    const target = env.query.schema.of(navigation.target);
    if (!navigation.collection) return { kind: 'record', schema: target, scope, via: [...via, navigation] };
    return {
      kind: 'collection',
      name,
      over: { kind: 'records', scope, via, navigation },
      element: (inner) => ({ kind: 'record', schema: target, scope: inner, via: [] }),
    };
  }
  const location = name === COORDINATES ? locationOf(record) : undefined;
  if (location) return location;
  throw fieldUnknown(schema, env.source, segment);
}
