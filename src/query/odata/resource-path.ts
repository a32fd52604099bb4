/**
 * Binds resource paths of OData (OData 4.01 URL conventions, 4): determines which collection, record, field or count a path
 * addresses, and parses the keys in it. This module knows neither options nor HTTP. Names that a role may not use do not exist for
 * it.
 */
import { leadsToCustomFields, nearestName } from '../../dictionary/index.ts';
import type { Field, Navigation } from '../../dictionary/types.ts';
import { type PlatError, platError } from '../../errors/index.ts';
import type { ResourceSchema, Schema } from '../schema.ts';
import type { Argument, LiteralText, Node, PathSegment } from './nodes.ts';
import { decodePart, type OptionText, type Start, shown, syntaxError, typeMismatch } from './option-text.ts';
import { parseExpressionText, parsePathText } from './parser.ts';
import type { RawOptions } from './query.ts';
import { fieldType } from './values.ts';

type KeyValue = string | number;

/** The entity set that a path begins with. */
interface PathRoot {
  /** The name that the request used. */
  readonly name: string;
  readonly resource: ResourceSchema;
  /** The key of one record in a collection. */
  readonly key?: KeyValue;
}

/** One navigation of a path. Every step except the last leads to one record. */
export interface PathStep extends PathRoot {
  readonly navigation: Navigation;
}

/** The part of a path that has been resolved. All of `root` and `steps` except the last lead to one record each. */
interface Route {
  readonly root: PathRoot;
  readonly steps: readonly PathStep[];
  /** The resource of the last record or collection. */
  readonly resource: ResourceSchema;
}

/** The target of a route. */
type Target =
  | { readonly kind: 'collection' }
  | { readonly kind: 'record' }
  | { readonly kind: 'count' }
  /** A field of one record: as JSON, as plain text (`/$value`), or the number of its values (`/$count`). */
  | { readonly kind: 'field'; readonly field: Field; readonly give: 'json' | 'text' | 'count' }
  /** The custom fields of one record as a collection with one element, or their number (`/$count`). */
  | { readonly kind: 'custom'; readonly give: 'json' | 'count' };

type Destination = Target & { readonly route: Route };

/** What a path below the service root addresses. */
export type ResourcePath = { readonly kind: 'service' | 'metadata' } | (Target & Route);

type KeyAliases = RawOptions['aliases'];

/**
 * Parses the path after the service root, still percent-encoded and without a query. A segment after a collection is a key unless
 * it begins with a dollar sign.
 *
 * @param aliases the values of parameter aliases, for keys such as `Property(@key)`
 * @throws resourceUnknown for an unknown entity set; pathNotFound after it, or for an unknown system segment; syntax, typeMismatch or
 * requestMalformed for a malformed segment or key; notImplemented for `$batch`, `$ref`, functions and similar segments
 */
export function parseResourcePath(
  rawPath: string,
  schema: Schema,
  aliases: KeyAliases = new Map(),
): ResourcePath {
  refuseUnknownSet(rawPath, schema);
  const [first, ...rest] = parsePathText(rawPath);
  if (first === undefined) return { kind: 'service' };
  if (first.kind === 'system') {
    if (first.name === 'metadata') return { kind: 'metadata' };
    throw unsupported(`$${first.name}`);
  }
  let destination = begin(schema, first, aliases);
  const followed = [first.text];
  for (const segment of rest) {
    followed.push(segment.text);
    const next = follow(schema, destination, segment, aliases);
    if (next === undefined) throw platError('pathNotFound', { path: followed.map(shown).join('/') });
    destination = next;
  }
  const { route, ...target } = destination;
  return { ...target, ...route };
}

/** Reports a first segment that is not a valid name as an unknown resource, and not as a syntax error. */
function refuseUnknownSet(rawPath: string, schema: Schema): void {
  const first = decodePart(rawPath.split('/', 1)[0] ?? '');
  if (rawPath === '' || first.startsWith('$')) return;
  const name = first.includes('(') ? first.slice(0, first.indexOf('(')) : first;
  if (schema.find(name) === undefined) throw unknownSetError(name, schema);
}

function unknownSetError(name: string, schema: Schema): PlatError {
  return platError('resourceUnknown', { name: shown(name), nearest: nearestName(name, schema.pathNames()) });
}

const unsupported = (what: string): PlatError => platError('notImplemented', { option: 'path', what });

function begin(schema: Schema, segment: PathSegment, aliases: KeyAliases): Destination {
  const name = segment.kind === 'name' ? segment.name : segment.text;
  const resource = schema.find(name);
  if (resource === undefined) throw unknownSetError(name, schema);
  const groups = segment.kind === 'name' ? segment.groups : [];
  const key = keyOf(resource, segment, groups, aliases);
  const root = key === undefined ? { name, resource } : { name, resource, key };
  return { kind: key === undefined ? 'collection' : 'record', route: { root, steps: [], resource } };
}

/** Resolves one more segment; undefined if it leads nowhere. */
function follow(
  schema: Schema,
  destination: Destination,
  segment: PathSegment,
  aliases: KeyAliases,
): Destination | undefined {
  switch (destination.kind) {
    case 'collection':
      return followCollection(destination.route, segment);
    case 'record':
      return followRecord(schema, destination.route, segment, aliases);
    case 'field': {
      if (segment.kind !== 'system' || destination.give !== 'json') return undefined;
      const { collection } = destination.field;
      if (segment.name === 'value') return collection ? undefined : { ...destination, give: 'text' };
      if (segment.name === 'count') return collection ? { ...destination, give: 'count' } : undefined;
      throw unsupported(`$${segment.name}`);
    }
    case 'custom':
      if (segment.kind !== 'system' || destination.give !== 'json' || segment.name === 'value')
        return undefined;
      if (segment.name === 'count') return { ...destination, give: 'count' };
      throw unsupported(`$${segment.name}`);
    case 'count':
      return undefined;
  }
}

function followCollection(route: Route, segment: PathSegment): Destination | undefined {
  if (segment.kind === 'system') {
    if (segment.name === 'count') return { kind: 'count', route };
    if (segment.name === 'value') return undefined;
    throw unsupported(`$${segment.name}`);
  }
  const key = keyOfSegment(route.resource, segment.text);
  if (key === undefined) return undefined;
  const last = route.steps.at(-1);
  if (last === undefined) return { kind: 'record', route: { ...route, root: { ...route.root, key } } };
  return { kind: 'record', route: { ...route, steps: [...route.steps.slice(0, -1), { ...last, key }] } };
}

function followRecord(
  schema: Schema,
  route: Route,
  segment: PathSegment,
  aliases: KeyAliases,
): Destination | undefined {
  if (segment.kind === 'system') {
    if (segment.name === 'count') return undefined;
    throw unsupported(`$${segment.name}`);
  }
  if (segment.kind === 'text') return undefined;
  const { name, groups } = segment;
  if (name.includes('.')) throw unsupported(shown(name));
  const found = route.resource.findField(name);
  if (found.kind === 'visible') {
    return groups.length === 0 ? { kind: 'field', route, field: found.field, give: 'json' } : undefined;
  }
  // Every navigation that can be expanded has a path, even if its target has no records yet.
  const navigation = route.resource.findExpansion(name);
  if (navigation === undefined || (groups.length > 0 && !navigation.collection)) return undefined;
  if (leadsToCustomFields(navigation)) {
    return groups.length === 0 ? { kind: 'custom', route, give: 'json' } : undefined;
  }
  const resource = schema.of(navigation.target);
  const key = keyOf(resource, segment, groups, aliases);
  const step: PathStep = { name, navigation, resource, ...(key !== undefined && { key }) };
  const kind = navigation.collection && key === undefined ? 'collection' : 'record';
  return { kind, route: { root: route.root, steps: [...route.steps, step], resource } };
}

// Keys

const keyIsNumber = ({ resource }: ResourceSchema): boolean => {
  const field = resource.fields.get(resource.key);
  return field !== undefined && fieldType(field) === 'integer';
};

/** Parses a key that is a segment of its own; undefined if no record can have it. */
function keyOfSegment(resource: ResourceSchema, text: string): KeyValue | undefined {
  if (!keyIsNumber(resource)) return text === '' ? undefined : text;
  const number = Number(text);
  return /^-?\d+$/.test(text) && Number.isSafeInteger(number) ? number : undefined;
}

/** Parses the key in the parentheses of a segment; undefined if there are none. */
function keyOf(
  resource: ResourceSchema,
  { text }: PathSegment,
  groups: readonly (readonly Argument[])[],
  aliases: KeyAliases,
): KeyValue | undefined {
  const [group, further] = groups;
  if (group === undefined) return undefined;
  const source = { option: 'path', text };
  const [argument, second] = group;
  const { name, key } = resource.resource;
  if (argument === undefined || second || further) {
    const start = text.indexOf('(');
    throw syntaxError(source, start, shown(text.slice(start)), `one key, such as ${name}('…')`);
  }
  if (argument.name !== undefined && argument.name !== key) {
    throw syntaxError(source, argument.value.start, shown(argument.name), key);
  }
  return keyOfNode(resource, source, argument.value, aliases);
}

function keyOfNode(resource: ResourceSchema, source: OptionText, node: Node, aliases: KeyAliases): KeyValue {
  if (node.kind === 'literal') return keyOfLiteral(resource, source, node, node.literal);
  if (node.kind !== 'path') throw syntaxError(source, node.start, 'no literal', 'a key');
  const [head] = node.segments;
  const alias = head.kind === 'at' ? head.name : '';
  const text = aliases.get(alias);
  if (text === undefined) throw syntaxError(source, node.start, `@${alias} without a value`, 'a key');
  const aliasSource = { option: `@${alias}`, text };
  const value = parseExpressionText(aliasSource);
  if (value.kind === 'literal') return keyOfLiteral(resource, aliasSource, value, value.literal);
  throw syntaxError(aliasSource, value.start, 'no literal', 'a key');
}

/** Parses a key from a literal. Digits are accepted with and without quotes, since the keys of listings are strings of digits. */
function keyOfLiteral(
  resource: ResourceSchema,
  source: OptionText,
  { start }: Start,
  literal: LiteralText,
): KeyValue {
  const { name, key } = resource.resource;
  if (keyIsNumber(resource)) {
    // Some clients send every key in quotes.
    const isNumber = literal.form === 'integer' || (literal.form === 'string' && /^\d+$/.test(literal.text));
    if (isNumber && Number.isSafeInteger(Number(literal.text))) return Number(literal.text);
    throw typeMismatch(source, start, `${key} of ${name} is an integer`);
  }
  if (literal.form === 'string' || literal.form === 'integer' || literal.form === 'guid') return literal.text;
  throw typeMismatch(source, start, `${key} of ${name} is a string`);
}
