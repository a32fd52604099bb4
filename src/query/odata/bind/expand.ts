import type { Navigation } from '../../../dictionary/types.ts';
import { type PlatError, platError } from '../../../errors/index.ts';
import type { Expansion } from '../../request.ts';
import type { ResourceSchema } from '../../schema.ts';
import { MAX_EXPANSIONS, MAX_LEVELS } from '../limits.ts';
import { type ExpandNode, NO_OPTIONS, type OptionNodes, type PathPart } from '../syntax/nodes.ts';
import { type Source, type Sourced, shown, tooLarge } from '../syntax/source.ts';
import type { QueryScope } from './environment.ts';
import { bindQuery } from './query.ts';
import { type SelectLists, unknown } from './select.ts';

/** Counts the expansions of a whole request. */
export interface Expanding {
  expansions: number;
}

type Item = ExpandNode & { readonly kind: 'path' };

interface Context {
  readonly expanding: Expanding;
  readonly query: QueryScope;
  readonly source: Source;
  readonly passed: ReadonlyMap<string, SelectLists>;
}

/**
 * Binds `$expand` (OData 4.01 URL conventions, 5.1.3). A star stands for every navigation that is not named beside it.
 * @param passed what `$select` asks of the related records
 * @throws fieldUnknown, typeMismatch, optionsConflict, optionRepeated, filterTooLarge, notImplemented
 */
export function bindExpand(
  expanding: Expanding,
  query: QueryScope,
  items: Sourced<readonly ExpandNode[]> | undefined,
  passed: ReadonlyMap<string, SelectLists>,
): readonly Expansion[] {
  const expansions = new Map<string, Expansion>();
  if (items) {
    const context: Context = { expanding, query, source: items.source, passed };
    const paths = items.value.map((item) => checked(context, item));
    for (const item of paths.filter(({ star }) => !star)) add(expansions, bindNamed(context, item));
    const named = new Set([...expansions.values()].map(({ navigation }) => navigation.name));
    for (const item of paths.filter(({ star }) => star)) {
      for (const navigation of navigationsOf(query)) {
        if (!named.has(navigation.name)) add(expansions, bindStar(context, item, navigation));
      }
    }
  }
  const reached = new Set([...expansions.values()].map(({ navigation }) => navigation.name));
  for (const name of passed.keys()) if (!reached.has(name)) throw notExpanded(name);
  return [...expansions.values()];
}

function add(expansions: Map<string, Expansion>, expansion: Expansion): void {
  const { name } = expansion;
  if (expansions.has(name)) {
    throw platError('optionRepeated', { name: `${name} inside $expand` }, { target: '$expand' });
  }
  expansions.set(name, expansion);
}

const notExpanded = (name: string): PlatError =>
  platError(
    'optionsConflict',
    { first: '$select', second: '$expand', reason: `fields of ${name} are selected, but it is not expanded` },
    { target: '$select' },
  );

function* navigationsOf({ record: { schema } }: QueryScope): Iterable<Navigation> {
  for (const name of schema.resource.navigations.keys()) {
    const navigation = schema.findNavigation(name);
    if (navigation) yield navigation;
  }
}

/** Refuses what the grammar allows and nothing here has. */
function checked({ query, source }: Context, item: ExpandNode): Item {
  const unsupported = (start: number, what: string) =>
    platError(
      'notImplemented',
      { option: source.option, position: start + 1, what },
      { target: source.option },
    );
  if (item.kind === 'media') throw unsupported(item.start, 'a media stream');
  for (const { kind, name, start } of item.path) {
    if (kind === 'annotation') throw unsupported(start, `the annotation @${shown(name)}`);
    if (name.includes('.')) throw unsupported(start, `the type cast ${shown(name)}`);
  }
  const [first, second] = item.path;
  const { schema } = query.record;
  if (first && (second || item.star)) {
    if (!schema.findNavigation(first.name)) throw noNavigation(schema, source, first);
    const inner = shown(second?.name ?? '*');
    const expected = `expansions of expansions in parentheses: ${first.name}($expand=${inner})`;
    const value = `${first.name}/${inner}`;
    throw platError('optionInvalid', { name: source.option, value, expected }, { target: source.option });
  }
  return item;
}

function noNavigation(schema: ResourceSchema, source: Source, part: PathPart): PlatError {
  if (schema.findField(part.name).kind !== 'visible') return unknown(schema, source, part);
  const { option } = source;
  const reason = `${part.name} is a field, which $select names, and leads to no other record`;
  return platError('typeMismatch', { option, position: part.start + 1, reason }, { target: option });
}

function bindNamed(context: Context, item: Item): Expansion {
  const { query, source } = context;
  const { schema } = query.record;
  const [part] = item.path;
  const navigation = part && schema.findNavigation(part.name);
  if (part === undefined || navigation === undefined) {
    throw noNavigation(schema, source, part ?? { kind: 'name', name: '', start: item.start });
  }
  const left = levels(source, item) - 1;
  const cyclic = navigation.target === schema.resource.name;
  const options = left > 0 && cyclic ? oneMoreLevel(source, item, left) : item.options;
  return expansion(context, item, navigation, part.name, options);
}

function bindStar(context: Context, item: Item, navigation: Navigation): Expansion {
  const left = levels(context.source, item) - 1;
  const value: ExpandNode = { ...item, options: { ...NO_OPTIONS, levels: left } };
  const options =
    left > 0 ? { ...NO_OPTIONS, expand: { source: context.source, value: [value] } } : NO_OPTIONS;
  return expansion(context, item, navigation, navigation.name, options);
}

/** The options with the same expansion once more inside. */
function oneMoreLevel(source: Source, item: Item, left: number): OptionNodes {
  const { options } = item;
  const again: ExpandNode = { ...item, options: { ...options, levels: left } };
  return { ...options, expand: { source, value: [...(options.expand?.value ?? []), again] } };
}

function levels(source: Source, { options, start }: Item): number {
  const wanted = options.levels ?? 1;
  if (wanted === 'max') return MAX_LEVELS;
  if (wanted > MAX_LEVELS) throw tooLarge(source, 'levels', MAX_LEVELS, start);
  return wanted;
}

function expansion(
  { expanding, query, source, passed }: Context,
  item: Item,
  navigation: Navigation,
  name: string,
  options: OptionNodes,
): Expansion {
  expanding.expansions++;
  if (expanding.expansions > MAX_EXPANSIONS) {
    throw tooLarge(source, 'expansions', MAX_EXPANSIONS, item.start);
  }
  if (!navigation.collection) refuseListOptions(source, item, name);
  const { schema, aliases } = query;
  const around = { schema, aliases, isExpansion: true, expanding };
  const inner = bindQuery(around, schema.of(navigation.target), options, passed.get(navigation.name));
  return { navigation, name, give: item.give, query: inner };
}

const LIST_OPTIONS = ['filter', 'search', 'orderby', 'top', 'skip', 'count'] as const;

/** One related record cannot be filtered, ordered or counted. */
function refuseListOptions(source: Source, { give, options, start }: Item, name: string): void {
  const { option } = source;
  if (give === 'count') {
    const reason = `${name} leads to one record, so it has no $count`;
    throw platError('typeMismatch', { option, position: start + 1, reason }, { target: option });
  }
  const found = LIST_OPTIONS.find((key) => options[key] !== undefined);
  if (found !== undefined) {
    const facts = { first: `$${found}`, second: `$expand=${name}`, reason: `${name} leads to one record` };
    throw platError('optionsConflict', facts, { target: option });
  }
}
