import { CUSTOM_FIELDS, customFieldsOf, leadsToCustomFields } from '../../../dictionary/index.ts';
import type { Navigation } from '../../../dictionary/types.ts';
import { type PlatError, platError } from '../../../errors/index.ts';
import type { Expansion } from '../../request.ts';
import type { ResourceSchema } from '../../schema.ts';
import { MAX_EXPANSIONS, MAX_LEVELS } from '../limits.ts';
import { type ExpandNode, NO_OPTIONS, type OptionNodes, type PathPart } from '../syntax/nodes.ts';
import { notProvided, type Source, type Sourced, shown, tooLarge, typeMismatch } from '../syntax/source.ts';
import { customSelection, visibleCustomFields } from './custom-fields.ts';
import type { Expanded, QueryScope } from './environment.ts';
import { fieldUnknown } from './field-unknown.ts';
import { bindQuery } from './query.ts';
import type { SelectLists } from './select.ts';

/** Counts the expansions of a whole request. */
export interface Expanding {
  expansions: number;
  readonly expanded: Expanded;
}

type Path = ExpandNode & { readonly kind: 'path' };
type Star = ExpandNode & { readonly kind: 'star' };
type Item = Path | Star;

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
    const stars: Star[] = [];
    for (const item of items.value) {
      const known = checked(context, item);
      if (known.kind === 'star') stars.push(known);
      else add(expansions, bindNamed(context, known));
    }
    const named = new Set([...expansions.values()].map(({ navigation }) => navigation.name));
    for (const star of stars) {
      for (const navigation of navigationsOf(query)) {
        if (!named.has(navigation.name)) add(expansions, bindStar(context, star, navigation));
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
  const [custom] = visibleCustomFields(schema);
  if (custom !== undefined) yield customFieldsOf(schema.resource);
}

/** Refuses what the grammar allows and nothing here has. */
function checked({ query, source }: Context, item: ExpandNode): Item {
  if (item.kind === 'media') throw notProvided(source, item.start, 'a media stream');
  for (const { kind, name, start } of item.path) {
    if (kind === 'annotation') throw notProvided(source, start, `the annotation @${shown(name)}`);
    if (name.includes('.')) throw notProvided(source, start, `the type cast ${shown(name)}`);
  }
  const [first, second] = item.path;
  const inner = item.kind === 'star' ? '*' : second?.name;
  if (first && inner) {
    const { schema } = query.record;
    if (!schema.findExpansion(first.name)) throw noNavigation(schema, source, first);
    const expected = `expansions of expansions in parentheses: ${first.name}($expand=${shown(inner)})`;
    const facts = { name: source.option, value: `${first.name}/${shown(inner)}`, expected };
    throw platError('optionInvalid', facts, { target: source.option });
  }
  return item;
}

function noNavigation(schema: ResourceSchema, source: Source, part: PathPart): PlatError {
  if (schema.findField(part.name).kind !== 'visible') return fieldUnknown(schema, source, part);
  const reason = `${part.name} is a field, which $select names, and leads to no other record`;
  return typeMismatch(source, part.start, reason);
}

function bindNamed(context: Context, item: Path): Expansion {
  const { query, source } = context;
  const { schema } = query.record;
  const [part] = item.path;
  const navigation = schema.findExpansion(part.name);
  if (navigation === undefined) throw noNavigation(schema, source, part);
  if (leadsToCustomFields(navigation)) return customFields(context, item, navigation);
  const left = levels(source, item) - 1;
  const cyclic = navigation.target === schema.resource.name;
  const options = left > 0 && cyclic ? oneMoreLevel(source, item, left) : item.options;
  return expansion(context, item, navigation, part.name, options);
}

/** The custom fields of the record itself that the key may see; of the options only `$select` has a meaning there. */
function customFields(context: Context, item: Path, navigation: Navigation): Expansion {
  const { query, source } = context;
  const { schema } = query.record;
  const { select, ...others } = item.options;
  const isPlain =
    item.give === 'records' && Object.values(others).every((each) => each === undefined || isNothing(each));
  if (!isPlain) throw notProvided(source, item.start, `any option of ${CUSTOM_FIELDS} but $select`);
  const made = expansion(context, item, navigation, CUSTOM_FIELDS, item.options);
  const selection = customSelection(made.query.selection, schema, source.option);
  const [any] = visibleCustomFields(schema);
  return { ...made, ...(any === undefined ? { isBare: true } : {}), query: { ...made.query, selection } };
}

const isNothing = (value: unknown): boolean => value instanceof Map && value.size === 0;

function bindStar(context: Context, item: Star, navigation: Navigation): Expansion {
  if (leadsToCustomFields(navigation)) {
    const path: Path['path'] = [{ kind: 'name', name: navigation.name, start: item.start }];
    return customFields(context, { ...item, kind: 'path', path, options: NO_OPTIONS }, navigation);
  }
  const left = levels(context.source, item) - 1;
  const value: ExpandNode = { ...item, options: { ...NO_OPTIONS, levels: left } };
  const options =
    left > 0 ? { ...NO_OPTIONS, expand: { source: context.source, value: [value] } } : NO_OPTIONS;
  return expansion(context, item, navigation, navigation.name, options);
}

/** The options with the same expansion once more inside. */
function oneMoreLevel(source: Source, item: Path, left: number): OptionNodes {
  const { options } = item;
  const again: ExpandNode = { ...item, options: { ...options, levels: left } };
  return { ...options, expand: { source, value: [...(options.expand?.value ?? []), again] } };
}

function levels(source: Source, { options, start }: Item): number {
  const wanted = options.levels ?? 1;
  if (wanted === 'max') return MAX_LEVELS;
  if (wanted > MAX_LEVELS) throw tooLarge(source, start, 'levels', MAX_LEVELS);
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
    throw tooLarge(source, item.start, 'expansions', MAX_EXPANSIONS);
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
  if (give === 'count') {
    throw typeMismatch(source, start, `${name} leads to one record, so it has no $count`);
  }
  const found = LIST_OPTIONS.find((key) => options[key] !== undefined);
  if (found !== undefined) {
    const facts = { first: `$${found}`, second: `$expand=${name}`, reason: `${name} leads to one record` };
    throw platError('optionsConflict', facts, { target: source.option });
  }
}
