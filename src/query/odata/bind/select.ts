import type { Field } from '../../../dictionary/types.ts';
import type { PlatError } from '../../../errors/index.ts';
import { SELECT_ALL, type Selection } from '../../request.ts';
import type { ResourceSchema } from '../../schema.ts';
import type { PathPart, SelectNode } from '../syntax/nodes.ts';
import { notProvided, type Source, type Sourced, shown, typeMismatch } from '../syntax/source.ts';
import { fieldUnknown } from './field-unknown.ts';

/** What a `$select` asks for, and what it passes on to the expansions that it leads into. */
export interface BoundSelect {
  readonly selection: Selection;
  /** Computed names that were asked for; undefined for all of them. */
  readonly computed: ReadonlySet<string> | undefined;
  /** By the dictionary's name of the navigation: the rests of paths such as `Media/MediaURL`. */
  readonly passed: ReadonlyMap<string, SelectLists>;
}

/** Lists that ask for fields of the same records: a `$select` of their own, and what outer ones lead in. */
export type SelectLists = readonly Sourced<readonly SelectNode[]>[];

/**
 * Sorts the items of `$select` (OData 4.01 URL conventions, 5.1.4). A hidden field is kept apart, a navigation is
 * given by its expansion, and bound operations are passed over, since there are none.
 * @throws fieldUnknown for a name that does not exist; notImplemented for options, annotations and type casts
 */
export function bindSelect(
  schema: ResourceSchema,
  lists: SelectLists,
  computedNames: ReadonlySet<string>,
): BoundSelect {
  if (lists.length === 0) return { selection: SELECT_ALL, computed: undefined, passed: new Map() };
  const fields = new Set<Field>();
  const hidden = new Set<Field>();
  const computed = new Set<string>();
  const passed = new Map<string, SelectLists>();
  let all = false;
  for (const { source, item } of lists.flatMap(({ source, value }) =>
    value.map((item) => ({ source, item })),
  )) {
    switch (item.kind) {
      case 'all':
        all = true;
        continue;
      case 'operations':
        continue;
    }
    if (item.options) throw notProvided(source, item.start, 'options of an item');
    const [first, ...rest] = item.path;
    if (first === undefined || isOperation(item.path)) continue;
    const strange = item.path.find(({ kind, name }) => kind === 'annotation' || name.includes('.'));
    if (strange) throw notProvided(source, strange.start, nameOf(strange));
    if (rest.length > 0) {
      const navigation = schema.findExpansion(first.name);
      if (!navigation) throw noWayIn(schema, source, first, rest);
      const before = passed.get(navigation.name) ?? [];
      passed.set(navigation.name, [...before, { source, value: [{ ...item, path: rest }] }]);
      continue;
    }
    const found = schema.findField(first.name);
    if (found.kind === 'visible') fields.add(found.field);
    else if (computedNames.has(first.name)) computed.add(first.name);
    else if (found.kind === 'hidden') hidden.add(found.field);
    else if (!schema.findExpansion(first.name)) throw fieldUnknown(schema, source, first);
  }
  const selection = all ? SELECT_ALL : { all, fields: [...fields], hidden: [...hidden] };
  return { selection, computed: all ? undefined : computed, passed };
}

/** A qualified name alone names a bound operation. */
const isOperation = (path: readonly PathPart[]): boolean =>
  path.length === 1 && path.every(({ kind, name }) => kind === 'name' && name.includes('.'));

const nameOf = ({ kind, name }: PathPart): string =>
  kind === 'annotation' ? `the annotation @${shown(name)}` : `the type cast ${shown(name)}`;

function noWayIn(
  schema: ResourceSchema,
  source: Source,
  first: PathPart,
  rest: readonly PathPart[],
): PlatError {
  if (schema.findField(first.name).kind !== 'visible') return fieldUnknown(schema, source, first);
  const reason = `${first.name} is a single value and has no ${shown(rest.map(({ name }) => name).join('/'))}`;
  return typeMismatch(source, first.start, reason);
}
