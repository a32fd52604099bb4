import { leadsToCustomFields, nearestName } from '../../../dictionary/index.ts';
import type { Field, Navigation } from '../../../dictionary/types.ts';
import { type PlatError, platError } from '../../../errors/index.ts';
import type { ResourceSchema, Schema } from '../../schema.ts';
import { decodePart } from '../syntax/query-string.ts';
import { type PathSegment, parsePathText } from '../syntax/resource-path.ts';
import { shown } from '../syntax/source.ts';
import { type KeyAliases, keyOf, keyOfSegment } from './key.ts';

export type KeyValue = string | number;

/** The entity set that a path begins with. */
export interface PathRoot {
  /** As the request names it. */
  readonly name: string;
  readonly resource: ResourceSchema;
  readonly key?: KeyValue;
}

/** One navigation on the way; the last one may end at a collection. */
export interface PathStep {
  readonly name: string;
  readonly navigation: Navigation;
  readonly resource: ResourceSchema;
  /** Of one record in a collection. */
  readonly key?: KeyValue;
}

/** What a path under the service root addresses. All but the last of `root` and `steps` name one record each. */
export type ResourcePath =
  | { readonly kind: 'service' | 'metadata' }
  | ({ readonly kind: 'collection' } & Way)
  | ({ readonly kind: 'record' } & Way)
  | ({ readonly kind: 'count' } & Way)
  /** A field of one record: as JSON, as bare text (`/$value`), or the number of its values (`/$count`). */
  | ({ readonly kind: 'field'; readonly field: Field; readonly give: 'json' | 'text' | 'count' } & Way)
  /** The custom fields of one record alone, as a list of one, or its length (`/$count`). */
  | ({ readonly kind: 'custom'; readonly give: 'json' | 'count' } & Way);

interface Way {
  readonly root: PathRoot;
  readonly steps: readonly PathStep[];
  /** The resource of the last record or collection. */
  readonly resource: ResourceSchema;
}

type State =
  | { readonly kind: 'collection' | 'record' | 'count'; readonly way: Way }
  | { readonly kind: 'custom'; readonly way: Way; readonly give: 'json' | 'count' }
  | {
      readonly kind: 'field';
      readonly way: Way;
      readonly field: Field;
      readonly give: 'json' | 'text' | 'count';
    };

/**
 * Reads the path after the service root, percent-encoded as it came, without query (OData 4.01 URL conventions, 4).
 * A segment after a collection is a key, unless it begins with a dollar.
 * @param aliases values of parameter aliases, for keys such as `Property(@key)`
 * @throws resourceUnknown for the entity set; pathNotFound further on; syntax, typeMismatch or requestMalformed for a
 *   malformed segment or key; notImplemented for `$batch`, `$ref`, functions and their like
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
  let state = begin(schema, first, aliases);
  const walked = [first.text];
  for (const segment of rest) {
    walked.push(segment.text);
    const next = follow(schema, state, segment, aliases);
    if (next === undefined) throw platError('pathNotFound', { path: walked.map(shown).join('/') });
    state = next;
  }
  const { way, ...reached } = state;
  return { ...reached, ...way };
}

/** A first segment that is no name at all is a resource that does not exist, and no error of syntax. */
function refuseUnknownSet(rawPath: string, schema: Schema): void {
  const first = decodePart(rawPath.split('/', 1)[0] ?? '');
  if (rawPath === '' || first.startsWith('$')) return;
  const name = first.includes('(') ? first.slice(0, first.indexOf('(')) : first;
  if (schema.find(name) === undefined) throw unknownSet(name, schema);
}

function unknownSet(name: string, schema: Schema): PlatError {
  return platError('resourceUnknown', { name: shown(name), nearest: nearestName(name, schema.pathNames()) });
}

const unsupported = (what: string): PlatError => platError('notImplemented', { option: 'path', what });

function begin(schema: Schema, segment: PathSegment, aliases: KeyAliases): State {
  const name = segment.kind === 'name' ? segment.name : segment.text;
  const resource = schema.find(name);
  if (resource === undefined) throw unknownSet(name, schema);
  const groups = segment.kind === 'name' ? segment.groups : [];
  const key = keyOf(resource, segment, groups, aliases);
  const root = key === undefined ? { name, resource } : { name, resource, key };
  return { kind: key === undefined ? 'collection' : 'record', way: { root, steps: [], resource } };
}

function follow(schema: Schema, state: State, segment: PathSegment, aliases: KeyAliases): State | undefined {
  switch (state.kind) {
    case 'collection':
      return followCollection(state.way, segment);
    case 'record':
      return followRecord(schema, state.way, segment, aliases);
    case 'field':
      return followField(state, segment);
    case 'custom':
      return followCustom(state, segment);
    case 'count':
      return undefined;
  }
}

function followCollection(way: Way, segment: PathSegment): State | undefined {
  if (segment.kind === 'system') {
    if (segment.name === 'count') return { kind: 'count', way };
    if (segment.name === 'value') return undefined;
    throw unsupported(`$${segment.name}`);
  }
  const key = keyOfSegment(way.resource, segment.text);
  if (key === undefined) return undefined;
  const last = way.steps.at(-1);
  if (last === undefined) return { kind: 'record', way: { ...way, root: { ...way.root, key } } };
  return { kind: 'record', way: { ...way, steps: [...way.steps.slice(0, -1), { ...last, key }] } };
}

function followRecord(
  schema: Schema,
  way: Way,
  segment: PathSegment,
  aliases: KeyAliases,
): State | undefined {
  if (segment.kind === 'system') {
    if (segment.name === 'count') return undefined;
    throw unsupported(`$${segment.name}`);
  }
  if (segment.kind === 'text') return undefined;
  const { name, groups } = segment;
  if (name.includes('.')) throw unsupported(shown(name));
  const found = way.resource.findField(name);
  if (found.kind === 'visible') {
    return groups.length === 0 ? { kind: 'field', way, field: found.field, give: 'json' } : undefined;
  }
  // What can be expanded has a path, too, whether or not anything has been stored yet of what it leads to.
  const navigation = way.resource.findExpansion(name);
  if (navigation === undefined || (groups.length > 0 && !navigation.collection)) return undefined;
  if (leadsToCustomFields(navigation)) {
    return groups.length === 0 ? { kind: 'custom', way, give: 'json' } : undefined;
  }
  const resource = schema.of(navigation.target);
  const key = keyOf(resource, segment, groups, aliases);
  const step: PathStep = { name, navigation, resource, ...(key !== undefined && { key }) };
  const kind = navigation.collection && key === undefined ? 'collection' : 'record';
  return { kind, way: { root: way.root, steps: [...way.steps, step], resource } };
}

function followCustom(state: State & { kind: 'custom' }, segment: PathSegment): State | undefined {
  if (segment.kind !== 'system' || state.give !== 'json' || segment.name === 'value') return undefined;
  if (segment.name === 'count') return { ...state, give: 'count' };
  throw unsupported(`$${segment.name}`);
}

function followField(state: State & { kind: 'field' }, segment: PathSegment): State | undefined {
  if (segment.kind !== 'system' || state.give !== 'json') return undefined;
  const { collection } = state.field;
  if (segment.name === 'value') return collection ? undefined : { ...state, give: 'text' };
  if (segment.name === 'count') return collection ? { ...state, give: 'count' } : undefined;
  throw unsupported(`$${segment.name}`);
}
