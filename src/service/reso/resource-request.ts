/**
 * What every handler of the RESO interface uses: the request with its options and preferences, the format of its response, and the
 * parts of a JSON response. It must not know the paths.
 */
import type { ResoShape } from '../../compile/read.ts';
import { keyField } from '../../dictionary/index.ts';
import { malformedError, platError } from '../../errors/index.ts';
import { parseQueryOptions, type RawOptions } from '../../query/odata/query.ts';
import type { CollectionQuery } from '../../query/request.ts';
import type { AuthenticatedExchange, Reply } from '../exchange.ts';
import {
  chooseType,
  negotiateVersion,
  type Preferences,
  parameterOf,
  parsePreferences,
} from '../http/negotiation.ts';
import { enumerationsOf } from './enumerations.ts';

export interface ResoRequest extends AuthenticatedExchange {
  readonly options: RawOptions;
  readonly preferences: Preferences;
  /** Address of the service root, with a slash at the end. */
  readonly root: string;
  /** How much control information the client requested. */
  readonly level: MetadataLevel;
  /** Whether the client requested numbers of the types Edm.Int64 and Edm.Decimal as strings (OData JSON format 4.01, 3.2). */
  readonly numbersAsText: boolean;
}

/**
 * The metadata levels: how much information that a client could compute itself a response contains (OData JSON format 4.01, 3.1).
 */
const METADATA_LEVELS = ['minimal', 'full', 'none'] as const;
type MetadataLevel = (typeof METADATA_LEVELS)[number];

export function resoRequest(request: AuthenticatedExchange): ResoRequest {
  const { exchange } = request;
  const options = parseQueryOptions(exchange.query);
  const preferences = parsePreferences(exchange.headers.prefer);
  const root = `${exchange.base}${exchange.surface.resoRoot ?? '/'}`;
  const form = requestedMediaTypes({ options, exchange });
  const given = parameterOf(form, ['odata.metadata', 'metadata']);
  const level = METADATA_LEVELS.find((each) => each === given) ?? 'minimal';
  const numbersAsText = parameterOf(form, ['ieee754compatible']) === 'true';
  return { ...request, options, preferences, root, level, numbersAsText };
}

/** The media type of a response in JSON. */
export const resoJson = ({ level, numbersAsText }: Pick<ResoRequest, 'level' | 'numbersAsText'>): string =>
  `application/json;odata.metadata=${level}${numbersAsText ? ';IEEE754Compatible=true' : ''};charset=utf-8`;

/** The context URL of a response, as the first member of its JSON object. */
export const contextMember = ({ root, level }: Pick<ResoRequest, 'root' | 'level'>, rest: string) =>
  level === 'none' ? {} : { '@odata.context': `${root}$metadata${rest}` };

/** The number of records, as a member of the JSON object of a response. */
export const countMember = ({ numbersAsText }: Pick<ResoRequest, 'numbersAsText'>, count: number) => ({
  '@odata.count': numbersAsText ? String(count) : count,
});

/** A JSON object that begins with the members of `head` and continues with those of `next`. */
export function openJsonObject(head: Readonly<Record<string, unknown>>, next: string): string {
  const members = JSON.stringify(head).slice(1, -1);
  return members === '' ? `{${next}` : `{${members},${next}`;
}

/** The end of a collection, with the link to the next page or to later changes. */
export function closeCollection(link: {
  readonly next?: string | undefined;
  readonly delta?: string | undefined;
}): string {
  const members = JSON.stringify({ '@odata.nextLink': link.next, '@odata.deltaLink': link.delta }).slice(
    1,
    -1,
  );
  return members === '' ? ']}' : `],${members}}`;
}

/** Adds the key of each record to the selection of a query. A client needs it to apply a delta. */
export function withKeySelected(query: CollectionQuery): CollectionQuery {
  const { resource, selection } = query;
  const key = keyField(resource);
  if (selection.all || selection.fields.includes(key)) return query;
  return { ...query, selection: { ...selection, fields: [...selection.fields, key] } };
}

export const plainText = (text: string, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status: 200,
  headers: { 'content-type': 'text/plain; charset=utf-8', ...headers },
  body: [text],
});

/** @throws PlatError `notAcceptable` if `$format` or Accept excludes JSON */
export function requireJson({ options, exchange }: ResoRequest): void {
  negotiate({ options, exchange }, ['application/json']);
}

/** The short names of formats in `$format`, possibly followed by parameters. */
const SHORT = /^(json|xml)(?=\s*(?:;|$))/i;

/** The media types that the client requests. */
function requestedMediaTypes({
  options,
  exchange,
}: Pick<ResoRequest, 'options' | 'exchange'>): string | undefined {
  const format = options.system.get('format');
  return format === undefined ? exchange.headers.accept : format.trim().replace(SHORT, 'application/$1');
}

/**
 * The offered type that `$format` names or, without `$format`, that the Accept header prefers (OData 4.01 protocol, 11.2.12).
 *
 * @throws PlatError `notAcceptable`
 */
export function negotiate<T extends string>(
  { options, exchange }: Pick<ResoRequest, 'options' | 'exchange'>,
  offered: readonly T[],
): T {
  const format = options.system.get('format');
  const chosen = chooseType(requestedMediaTypes({ options, exchange }), offered);
  if (chosen !== undefined) return chosen;
  const by = format === undefined ? 'The Accept header' : '$format';
  throw platError('notAcceptable', { by, offered: offered.join(', ') });
}

/**
 * Refuses options that do not apply to entries of the sequence of changes: they have no text to search and no related records.
 *
 * @throws PlatError `requestMalformed`
 */
export function refuseOptionsOfEvents({ resource, search, expansions }: CollectionQuery): void {
  if (!resource.fromChanges) return;
  const option = search !== undefined ? '$search' : expansions.length > 0 ? '$expand' : undefined;
  if (option === undefined) return;
  throw malformedError(`${option} does not apply to ${resource.name}`, { target: option });
}

/** The format in which the records of a query are written. */
export async function shapeOf(request: ResoRequest, query: CollectionQuery): Promise<ResoShape> {
  const { preferences, root, level } = request;
  return {
    kind: 'reso',
    selection: query.selection,
    computed: query.computed,
    expansions: query.expansions,
    omitNulls: preferences.omitNulls,
    annotateHidden: preferences.annotations,
    root,
    ...(level === 'full' ? { control: await controlOf(request) } : {}),
  };
}

/** The control information that states types: those that `$metadata` declares. */
async function controlOf(request: ResoRequest): Promise<NonNullable<ResoShape['control']>> {
  const version = negotiateVersion(request.exchange.headers);
  const enumerations = new Set((await enumerationsOf(request))?.members.keys());
  return { before: version === '4.0' ? '#' : '', enumerations };
}

/** The preferences that were honored (OData 4.01 protocol, 8.2.8). */
export function preferenceHeaders(
  { omitNulls, annotations }: Pick<Preferences, 'omitNulls' | 'annotations'>,
  pageSize?: number,
  tracksChanges = false,
): Record<string, string> {
  const applied = [
    ...(pageSize === undefined ? [] : [`odata.maxpagesize=${pageSize}`]),
    ...(omitNulls ? ['omit-values=nulls'] : []),
    ...(annotations ? ['odata.include-annotations="Core.Permissions"'] : []),
    ...(tracksChanges ? ['odata.track-changes'] : []),
  ];
  return applied.length === 0 ? {} : { 'preference-applied': applied.join(', ') };
}

/** The part of a context URL that lists the fields (OData 4.01 protocol, 10.7 to 10.10). */
export function contextFields({ resource, selection, expansions, computed }: CollectionQuery): string {
  const fields = selection.fields.map((field) => field.name);
  const parts = [
    ...(selection.all || fields.length > 0 ? fields : [resource.key]),
    ...computed.map(({ name }) => name),
    ...expansions
      .filter(({ give }) => give === 'records')
      .map(({ name, query }) => `${name}${contextFields(query) || '()'}`),
  ];
  return parts.length === 0 ? '' : `(${parts.join(',')})`;
}
