/**
 * The options of an OData request: splits the query string, has each option parsed, and binds the options to the key's schema:
 * `$filter`, `$orderby`, `$compute`, `$select` and `$expand` become a CollectionQuery. This module knows neither HTTP nor a store.
 */
import { CUSTOM_FIELDS, customFieldsNavigation, leadsToCustomFields } from '../../dictionary/index.ts';
import type { Field, Navigation } from '../../dictionary/types.ts';
import { malformedError, type PlatError, platError } from '../../errors/index.ts';
import {
  type CollectionQuery,
  type Computed,
  type Expansion,
  mustNotHaveNul,
  SELECT_ALL,
  type Selection,
} from '../request.ts';
import type { ResourceSchema, Schema } from '../schema.ts';
import { keyOfSkipToken } from '../skip-token.ts';
import { type Expression, type OrderTerm, typeOf } from '../tree.ts';
import {
  bindCondition,
  bindValue,
  type ComputedName,
  environmentOf,
  fieldUnknown,
  mismatch,
  type NamedExpression,
  type QueryScope,
  type RequestCost,
} from './expression.ts';
import {
  type ComputeNode,
  type ExpandNode,
  NO_OPTIONS,
  type Node,
  type OptionNodes,
  type OrderNode,
  type PathPart,
  type SelectNode,
} from './nodes.ts';
import {
  decodePart,
  MAX_EXPANSIONS,
  MAX_LEVELS,
  notProvided,
  type OptionText,
  type Sourced,
  shown,
  tooLarge,
  typeMismatch,
} from './option-text.ts';
import { findOption, PARSED_OPTIONS, parseExpressionText, parseOptions, unknownOption } from './parser.ts';
import { describeExpression, isShape } from './values.ts';

// The query string

/** The options of collections, without the dollar sign. */
const COLLECTION_OPTIONS = [...PARSED_OPTIONS, 'skiptoken', 'deltatoken', 'format'] as const;

/** The system query options of OData 4.01. */
const SYSTEM_OPTIONS = [...COLLECTION_OPTIONS, 'schemaversion', 'index', 'id', 'apply'] as const;

export type SystemOption = (typeof SYSTEM_OPTIONS)[number];

/** The options of a query string, percent-decoded, each still as text. */
export interface RawOptions {
  readonly system: ReadonlyMap<SystemOption, string>;
  /** The texts of parameter aliases by name, without the at sign. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Names of custom options, which are ignored. */
  readonly custom: readonly string[];
}

const decodeQuery = (text: string): string => decodePart(text.replaceAll('+', ' '));

/**
 * Splits the text after the question mark into options (OData 4.01 URL conventions, 2 and 5): at `&`, then at the first `=`; only
 * then does it decode them. System options are case-insensitive and may lack their dollar sign. An option without `=` has an empty
 * value.
 * @throws optionUnknown for an unknown name with a dollar sign; optionRepeated; requestMalformed
 */
export function parseQueryOptions(rawQuery: string): RawOptions {
  const system = new Map<SystemOption, string>();
  const aliases = new Map<string, string>();
  const custom: string[] = [];
  if (rawQuery.includes('#')) {
    throw malformedError('the query contains "#", which must be written %23');
  }
  for (const pair of rawQuery.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decodeQuery(equals === -1 ? pair : pair.slice(0, equals));
    const value = equals === -1 ? '' : decodeQuery(pair.slice(equals + 1));
    mustNotHaveNul(value, shown(name));
    const option = findOption(name, SYSTEM_OPTIONS);
    if (option !== undefined) setOnce(system, option, value, `$${option}`);
    else if (name.startsWith('$')) throw unknownOption(shown(name), name.slice(1), SYSTEM_OPTIONS, name);
    else if (name.startsWith('@')) setOnce(aliases, name.slice(1), value, name);
    else custom.push(name);
  }
  return { system, aliases, custom };
}

function setOnce<K>(options: Map<K, string>, key: K, value: string, name: string): void {
  if (options.has(key)) throw platError('optionRepeated', { name }, { target: name });
  options.set(key, value);
}

// The options of each kind of path

/** The options that each kind of path accepts. */
export const OPTIONS_BY_PATH = {
  collection: new Set<SystemOption>(COLLECTION_OPTIONS),
  /** The children of one record. */
  children: new Set<SystemOption>(COLLECTION_OPTIONS).difference(new Set<SystemOption>(['deltatoken'])),
  /** A delta link; other options do not outlive the walk. */
  delta: new Set<SystemOption>(['filter', 'search', 'select', 'expand', 'compute', 'format', 'deltatoken']),
  record: new Set<SystemOption>(['select', 'expand', 'compute', 'format']),
  count: new Set<SystemOption>(['filter', 'search']),
  field: new Set<SystemOption>(['format']),
  /** The number of values of a field. */
  values: new Set<SystemOption>(),
  /** The custom fields of one record, which are a collection with one element, and their number. */
  custom: new Set<SystemOption>(['select', 'count', 'top', 'skip', 'format']),
  customCount: new Set<SystemOption>(),
} as const;

const PATH_DESCRIPTIONS: Readonly<Record<keyof typeof OPTIONS_BY_PATH, string>> = {
  collection: 'a collection',
  children: 'the children of a record',
  delta: 'a delta link',
  record: 'a single record',
  count: 'a count',
  field: 'a single field',
  values: 'a count of values',
  custom: `${CUSTOM_FIELDS}, a list of one`,
  customCount: `a count of ${CUSTOM_FIELDS}`,
};

/**
 * Binds the options of a request: for a collection, for one record (fields, expansions and computed values), or for a part of a
 * record.
 *
 * @throws the errors of each option: syntax, fieldUnknown, typeMismatch, filterTooLarge, optionInvalid, optionsConflict,
 * optionRepeated, optionUnknown; notImplemented for features of OData that this service does not provide
 */
export function bindOptions(
  kind: keyof typeof OPTIONS_BY_PATH,
  raw: RawOptions,
  resource: ResourceSchema,
  schema: Schema,
): CollectionQuery {
  if (raw.system.size === 0 && kind !== 'custom') return plainQuery(resource, schema);
  refuseOthers(raw, OPTIONS_BY_PATH[kind], PATH_DESCRIPTIONS[kind]);
  const totals: RequestTotals = { expansions: 0, cost: { terms: 0, characters: 0 } };
  const surroundings = { schema, aliases: new Map(), isExpansion: false, totals };
  const query = bindQuery(surroundings, resource, parseOptions(raw.system, raw.aliases));
  if (kind === 'custom') {
    return { ...query, selection: customSelection(query.selection, resource, '$select') };
  }
  const skipToken = raw.system.get('skiptoken');
  return skipToken === undefined ? query : { ...query, skipToken: keyOfSkipToken('$skiptoken', skipToken) };
}

/** The queries of requests without options. */
const plainQueries = new WeakMap<ResourceSchema, CollectionQuery>();

const plainQuery = (resource: ResourceSchema, schema: Schema): CollectionQuery =>
  plainQueries.getOrInsertComputed(resource, () => {
    const totals: RequestTotals = { expansions: 0, cost: { terms: 0, characters: 0 } };
    const surroundings = { schema, aliases: new Map(), isExpansion: false, totals };
    return bindQuery(surroundings, resource, parseOptions(new Map(), new Map()));
  });

/**
 * Rejects all options except `$format`, for documents that describe the service.
 * @throws PlatError `requestMalformed`, `notImplemented`
 */
export function requireNoOptions(raw: RawOptions, where: string): void {
  refuseOthers(raw, OPTIONS_BY_PATH.field, where);
}

function refuseOthers(raw: RawOptions, allowed: ReadonlySet<SystemOption>, where: string): void {
  for (const name of raw.system.keys()) {
    const option = `$${name}`;
    const target = { target: option };
    if (!OPTIONS_BY_PATH.collection.has(name)) {
      throw platError('notImplemented', { option, what: 'this option' }, target);
    }
    if (!allowed.has(name)) {
      throw malformedError(`${option} does not apply to ${where}`, target);
    }
  }
}

/**
 * Parses a single filter, such as that of a role.
 *
 * @throws syntax, fieldUnknown, typeMismatch, filterTooLarge, notImplemented, all with the option `$filter`
 */
export function parseFilter(text: string, resource: ResourceSchema, schema: Schema): Expression {
  const source = { option: '$filter', text };
  const cost = { terms: 0, characters: 0 };
  const query = queryScope({ schema, aliases: new Map(), isExpansion: false }, resource, new Map(), cost);
  return bindFilter(query, { source, value: parseExpressionText(source) });
}

// The options of one collection

/** The surroundings of a query: the request, or another query of which it is an expansion. */
interface Surroundings {
  readonly schema: Schema;
  /** The aliases of the request and of the enclosing expansions. */
  readonly aliases: ReadonlyMap<string, NamedExpression>;
  readonly isExpansion: boolean;
  readonly totals: RequestTotals;
}

/** The totals of a whole request that are limited. */
interface RequestTotals {
  expansions: number;
  readonly cost: RequestCost;
}

/** The scope in which the expressions of a query are bound. Its own aliases take precedence over those around it. */
function queryScope(
  { schema, aliases: outer, isExpansion }: Omit<Surroundings, 'totals'>,
  resource: ResourceSchema,
  own: OptionNodes['aliases'],
  cost: RequestCost,
): QueryScope {
  const aliases = new Map(outer);
  const query: QueryScope = {
    schema,
    record: { kind: 'record', schema: resource, scope: 0, via: [] },
    isExpansion,
    aliases,
    computed: new Map(),
    usable: 0,
    cost,
  };
  for (const [name, sourced] of own) aliases.set(name, { ...sourced, query });
  return query;
}

/** @param passed items of an outer `$select` that apply to this query */
function bindQuery(
  surroundings: Surroundings,
  resource: ResourceSchema,
  options: OptionNodes,
  passed: SelectLists = [],
): CollectionQuery {
  const plain = queryScope(surroundings, resource, options.aliases, surroundings.totals.cost);
  const query = withComputed(plain, options.compute);
  const lists = options.select ? [options.select, ...passed] : passed;
  const select = bindSelect(resource, lists, new Set(query.computed.keys()));
  const expansions = bindExpand(surroundings.totals, query, options.expand, select.passed);
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

const bindFilter = (query: QueryScope, { source, value }: Sourced<Node>): Expression =>
  bindCondition(environmentOf(query, source), value, source.option);

function bindOrder(
  query: QueryScope,
  { source, value }: Sourced<readonly OrderNode[]>,
): readonly OrderTerm[] {
  const env = environmentOf(query, source);
  return value.map(({ expression: node, descending }) => {
    const expression = bindValue(env, node);
    if (isShape(typeOf(expression)))
      throw mismatch(env, node, `${describeExpression(expression)} has no order`);
    return { expression, descending };
  });
}

// $compute

/**
 * Adds the names of `$compute` to a query (OData 4.01 URL conventions, 5.1.10); each may use those before it. Every use of a name
 * is replaced by its expression, so that the tree contains only fields.
 *
 * @throws optionInvalid for a name that is a field or occurs twice
 */
function withComputed(query: QueryScope, items: Sourced<readonly ComputeNode[]> | undefined): QueryScope {
  if (items === undefined) return query;
  const { schema } = query.record;
  const computed = new Map<string, ComputedName>();
  for (const { name, expression } of items.value) {
    if (computed.has(name) || schema.findField(name).kind === 'visible' || schema.findNavigation(name)) {
      const expected = `a new name after "as", which is not the name of a field of ${schema.resource.name} and occurs only once`;
      throw platError(
        'optionInvalid',
        { name: '$compute', value: shown(name), expected },
        { target: '$compute' },
      );
    }
    const before = computed.size;
    const scope = { ...query, computed, usable: before };
    computed.set(name, { source: items.source, value: expression, query: scope, before });
  }
  return { ...query, computed, usable: computed.size };
}

/** The computed values of a query, in order. @throws typeMismatch for a shape, which no record can contain */
const bindComputed = (query: QueryScope): readonly Computed[] =>
  [...query.computed].map(([name, { source, value, query: before }]) => {
    const env = environmentOf(before, source);
    const expression = bindValue(env, value);
    const type = typeOf(expression);
    if (!isShape(type)) return { name, expression };
    const reason = `a record has no ${type} of its own; use it in geo.distance or geo.intersects`;
    throw mismatch(env, value, reason);
  });

// $select

/** Select lists for the same records: the `$select` of the query, and the parts of outer lists that apply to it. */
type SelectLists = readonly Sourced<readonly SelectNode[]>[];

/** The selection that `$select` requests, and the parts of it that apply to expansions. */
interface BoundSelect {
  readonly selection: Selection;
  /** The computed names that were requested; undefined: all of them. */
  readonly computed: ReadonlySet<string> | undefined;
  /** By the dictionary's name of the navigation: the remainders of paths such as `Media/MediaURL`. */
  readonly passed: ReadonlyMap<string, SelectLists>;
}

/**
 * Binds the items of `$select` (OData 4.01 URL conventions, 5.1.4). Hidden fields are listed separately, a navigation is returned
 * by its expansion, and bound operations are ignored, since there are none.
 *
 * @throws fieldUnknown for a name that does not exist; notImplemented for options, annotations and type casts
 */
function bindSelect(
  schema: ResourceSchema,
  lists: SelectLists,
  computedNames: ReadonlySet<string>,
): BoundSelect {
  if (lists.length === 0) return { selection: SELECT_ALL, computed: undefined, passed: new Map() };
  const fields = new Set<Field>();
  const hidden = new Set<Field>();
  const computed = new Set<string>();
  const passed = new Map<string, SelectLists>();
  const items = lists.flatMap(({ source, value }) => value.map((item) => ({ source, item })));
  for (const { source, item } of items) {
    if (item.kind !== 'path') continue;
    if (item.options) throw notProvided(source, item.start, 'options of an item');
    const [first, ...rest] = item.path;
    // A single qualified name is that of a bound operation.
    const isOperation = rest.length === 0 && first?.kind === 'name' && first.name.includes('.');
    if (first === undefined || isOperation) continue;
    refuseForeignParts(source, item.path);
    if (rest.length > 0) {
      const navigation = schema.findExpansion(first.name);
      if (!navigation) throw noFieldsBelowError(schema, source, first, rest);
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
  const all = items.some(({ item }) => item.kind === 'all');
  const selection = all ? SELECT_ALL : { all, fields: [...fields], hidden: [...hidden] };
  return { selection, computed: all ? undefined : computed, passed };
}

/** Rejects annotations and type casts, which the grammar allows but this service does not support. */
function refuseForeignParts(source: OptionText, path: readonly PathPart[]): void {
  for (const { kind, name, start } of path) {
    if (kind === 'annotation') throw notProvided(source, start, `the annotation @${shown(name)}`);
    if (name.includes('.')) throw notProvided(source, start, `the type cast ${shown(name)}`);
  }
}

function noFieldsBelowError(
  schema: ResourceSchema,
  source: OptionText,
  first: PathPart,
  rest: readonly PathPart[],
): PlatError {
  if (schema.findField(first.name).kind !== 'visible') return fieldUnknown(schema, source, first);
  const reason = `${first.name} is a single value and has no ${shown(rest.map(({ name }) => name).join('/'))}`;
  return typeMismatch(source, first.start, reason);
}

// $expand

type Path = ExpandNode & { readonly kind: 'path' };
type Star = ExpandNode & { readonly kind: 'star' };

/** What the items of one `$expand` have in common. */
interface ExpandScope {
  readonly totals: RequestTotals;
  readonly query: QueryScope;
  readonly source: OptionText;
  readonly passed: ReadonlyMap<string, SelectLists>;
}

/**
 * Binds `$expand` (OData 4.01 URL conventions, 5.1.3). A star stands for all navigations that are not listed explicitly.
 * @param passed the parts of an outer `$select` that apply to the related records
 * @throws fieldUnknown, typeMismatch, optionsConflict, optionRepeated, filterTooLarge, notImplemented
 */
function bindExpand(
  totals: RequestTotals,
  query: QueryScope,
  items: Sourced<readonly ExpandNode[]> | undefined,
  passed: ReadonlyMap<string, SelectLists>,
): readonly Expansion[] {
  const expansions = new Map<string, Expansion>();
  const add = (expansion: Expansion): void => {
    const { name } = expansion;
    if (expansions.has(name)) {
      throw platError('optionRepeated', { name: `${name} inside $expand` }, { target: '$expand' });
    }
    expansions.set(name, expansion);
  };
  const expandedNames = () => new Set([...expansions.values()].map(({ navigation }) => navigation.name));
  if (items) {
    const scope: ExpandScope = { totals, query, source: items.source, passed };
    const stars: Star[] = [];
    for (const item of items.value) {
      const known = requireProvided(scope, item);
      if (known.kind === 'star') stars.push(known);
      else add(bindNamed(scope, known));
    }
    const named = expandedNames();
    for (const star of stars) {
      for (const navigation of navigationsOf(query, star)) {
        if (!named.has(navigation.name)) add(bindStar(scope, star, navigation));
      }
    }
  }
  const expanded = expandedNames();
  for (const name of passed.keys()) {
    if (expanded.has(name)) continue;
    const reason = `fields of ${name} are selected, but it is not expanded`;
    throw platError(
      'optionsConflict',
      { first: '$select', second: '$expand', reason },
      { target: '$select' },
    );
  }
  return [...expansions.values()];
}

/** The navigations that a star stands for. The custom fields of a record have no URL of their own that a reference could use. */
function* navigationsOf({ record: { schema } }: QueryScope, { give }: Star): Iterable<Navigation> {
  for (const name of schema.resource.navigations.keys()) {
    const navigation = schema.findNavigation(name);
    if (navigation) yield navigation;
  }
  if (give === 'records' && hasCustomFields(schema)) yield customFieldsNavigation(schema.resource);
}

/** Rejects items that the grammar allows but this service does not support. */
function requireProvided({ query, source }: ExpandScope, item: ExpandNode): Path | Star {
  if (item.kind === 'media') throw notProvided(source, item.start, 'a media stream');
  refuseForeignParts(source, item.path);
  const [first, second] = item.path;
  const inner = item.kind === 'star' ? '*' : second?.name;
  if (first && inner) {
    const { schema } = query.record;
    if (!schema.findExpansion(first.name)) throw noNavigationError(schema, source, first);
    const expected = `expansions of expansions in parentheses: ${first.name}($expand=${shown(inner)})`;
    const facts = { name: source.option, value: `${first.name}/${shown(inner)}`, expected };
    throw platError('optionInvalid', facts, { target: source.option });
  }
  return item;
}

function noNavigationError(schema: ResourceSchema, source: OptionText, part: PathPart): PlatError {
  if (schema.findField(part.name).kind !== 'visible') return fieldUnknown(schema, source, part);
  const reason = `${part.name} is a field (use $select), not a navigation,`;
  return typeMismatch(source, part.start, reason);
}

function bindNamed(scope: ExpandScope, item: Path): Expansion {
  const { query, source } = scope;
  const { schema } = query.record;
  const [part] = item.path;
  const navigation = schema.findExpansion(part.name);
  if (navigation === undefined) throw noNavigationError(schema, source, part);
  if (leadsToCustomFields(navigation)) return bindCustomFields(scope, item, navigation);
  const remainingLevels = levelsOf(source, item) - 1;
  const cyclic = navigation.target === schema.resource.name;
  const options =
    remainingLevels > 0 && cyclic ? withOneMoreLevel(source, item, remainingLevels) : item.options;
  return bindExpansion(scope, item, navigation, part.name, options);
}

/** Binds the expansion of a record's custom fields that the key sees. Only `$select` applies to it. */
function bindCustomFields(scope: ExpandScope, item: Path, navigation: Navigation): Expansion {
  const { query, source } = scope;
  const { schema } = query.record;
  const { select, aliases, ...others } = item.options;
  const isPlain = item.give === 'records' && aliases.size === 0 && Object.keys(others).length === 0;
  if (!isPlain) throw notProvided(source, item.start, `any option of ${CUSTOM_FIELDS} but $select`);
  const expansion = bindExpansion(scope, item, navigation, CUSTOM_FIELDS, item.options);
  const selection = customSelection(expansion.query.selection, schema, source.option);
  const bare = hasCustomFields(schema) ? {} : ({ isBare: true } as const);
  return { ...expansion, ...bare, query: { ...expansion.query, selection } };
}

function bindStar(scope: ExpandScope, item: Star, navigation: Navigation): Expansion {
  const { source } = scope;
  if (leadsToCustomFields(navigation)) {
    const path: Path['path'] = [{ kind: 'name', name: navigation.name, start: item.start }];
    return bindCustomFields(scope, { ...item, kind: 'path', path, options: NO_OPTIONS }, navigation);
  }
  const remainingLevels = levelsOf(source, item) - 1;
  const again: ExpandNode = { ...item, options: { ...NO_OPTIONS, levels: remainingLevels } };
  const options = remainingLevels > 0 ? { ...NO_OPTIONS, expand: { source, value: [again] } } : NO_OPTIONS;
  return bindExpansion(scope, item, navigation, navigation.name, options);
}

/** The options with the same expansion nested once more, for `$levels`. */
function withOneMoreLevel(source: OptionText, item: Path, remainingLevels: number): OptionNodes {
  const { options } = item;
  const again: ExpandNode = { ...item, options: { ...options, levels: remainingLevels } };
  return { ...options, expand: { source, value: [...(options.expand?.value ?? []), again] } };
}

function levelsOf(source: OptionText, { options, start }: Path | Star): number {
  const levels = options.levels ?? 1;
  if (levels === 'max') return MAX_LEVELS;
  if (levels > MAX_LEVELS) throw tooLarge(source, start, 'levels', MAX_LEVELS);
  return levels;
}

function bindExpansion(
  { totals, query, source, passed }: ExpandScope,
  item: Path | Star,
  navigation: Navigation,
  name: string,
  options: OptionNodes,
): Expansion {
  totals.expansions++;
  if (totals.expansions > MAX_EXPANSIONS) throw tooLarge(source, item.start, 'expansions', MAX_EXPANSIONS);
  if (!navigation.collection) refuseListOptions(source, item, name);
  const { schema, aliases } = query;
  const surroundings = { schema, aliases, isExpansion: true, totals };
  const inner = bindQuery(surroundings, schema.of(navigation.target), options, passed.get(navigation.name));
  return { navigation, name, give: item.give, query: inner };
}

const LIST_OPTIONS = ['filter', 'search', 'orderby', 'top', 'skip', 'count'] as const;

/** Rejects options that do not apply to a single related record, which cannot be filtered, ordered or counted. */
function refuseListOptions(source: OptionText, { give, options, start }: Path | Star, name: string): void {
  if (give === 'count') {
    throw typeMismatch(source, start, `${name} leads to one record, so it has no $count`);
  }
  const found = LIST_OPTIONS.find((key) => options[key] !== undefined);
  if (found !== undefined) {
    const facts = { first: `$${found}`, second: `$expand=${name}`, reason: `${name} leads to one record` };
    throw platError('optionsConflict', facts, { target: source.option });
  }
}

// The custom fields of one record

/**
 * The selection of a record's custom fields, with its key.
 *
 * @param option the option that selects them
 * @throws PlatError `optionInvalid` if other fields are selected
 */
function customSelection(
  { all, fields, hidden }: Selection,
  schema: ResourceSchema,
  option: string,
): Selection {
  const key = schema.resource.fields.get(schema.resource.key);
  const other = fields.find((field) => field.custom === undefined && field !== key);
  if (other !== undefined) {
    const facts = { name: '$select', value: other.name, expected: 'custom fields' };
    throw platError('optionInvalid', facts, { target: option });
  }
  const chosen = all ? [...visibleCustomFields(schema)] : fields.filter((field) => field !== key);
  return { all: false, fields: [...(key === undefined ? [] : [key]), ...chosen], hidden };
}

function* visibleCustomFields({ resource, findField }: ResourceSchema) {
  for (const field of resource.fields.values()) {
    if (field.custom !== undefined && findField(field.name).kind === 'visible') yield field;
  }
}

/** Whether a resource has custom fields that the key sees. */
export function hasCustomFields(schema: ResourceSchema): boolean {
  return visibleCustomFields(schema).next().done !== true;
}
