import { platError } from '../../errors/index.ts';
import { parseQueryOptions, type RawOptions } from '../../query/odata/index.ts';
import type { CollectionQuery } from '../../query/request.ts';
import type { ResoShape } from '../../store/read.ts';
import type { ServiceContext } from '../context.ts';
import type { Exchange, Session } from '../exchange.ts';
import { chooseType } from '../http/accept.ts';
import { type Preferences, parsePreferences } from '../http/prefer.ts';

/** A request of the RESO interface with what all its handlers need. */
export interface ResoRequest {
  readonly context: ServiceContext;
  readonly exchange: Exchange;
  readonly session: Session;
  readonly options: RawOptions;
  readonly preferences: Preferences;
  /** Address of the service root, with a slash at the end. */
  readonly root: string;
}

export function resoRequest(context: ServiceContext, exchange: Exchange, session: Session): ResoRequest {
  const options = parseQueryOptions(exchange.query);
  const preferences = parsePreferences(exchange.headers.prefer);
  const root = `${exchange.base}${exchange.surface.resoRoot ?? '/'}`;
  return { context, exchange, session, options, preferences, root };
}

export const RESO_JSON = 'application/json;odata.metadata=minimal;charset=utf-8';

/** @throws PlatError `notAcceptable` when neither `$format` nor Accept leaves room for JSON */
export function requireJson({ options, exchange }: ResoRequest): void {
  negotiate({ options, exchange }, ['application/json']);
}

/** The short names of `$format`. */
const SHORT = new Map([
  ['json', 'application/json'],
  ['xml', 'application/xml'],
]);

/**
 * The offered type that `$format` names, or else the Accept header likes best (OData 4.01 protocol, 11.2.12).
 * @throws PlatError `notAcceptable`
 */
export function negotiate<T extends string>(
  { options, exchange }: Pick<ResoRequest, 'options' | 'exchange'>,
  offered: readonly T[],
): T {
  const format = options.system.get('format');
  const wanted =
    format === undefined ? exchange.headers.accept : (SHORT.get(format.trim().toLowerCase()) ?? format);
  const chosen = chooseType(wanted, offered);
  if (chosen !== undefined) return chosen;
  const by = format === undefined ? 'The Accept header' : '$format';
  throw platError('notAcceptable', { by, offered: offered.join(', ') });
}

/** How the records of a query are written. */
export function shapeOf({ preferences, root }: ResoRequest, query: CollectionQuery): ResoShape {
  return {
    kind: 'reso',
    selection: query.selection,
    computed: query.computed,
    expansions: query.expansions,
    omitNulls: preferences.omitNulls,
    annotateHidden: preferences.annotations,
    root,
  };
}

/** What of the client's preferences was honoured (OData 4.01 protocol, 8.2.8). */
export function preferenceHeaders(
  { omitNulls, annotations }: Preferences,
  pageSize?: number,
): Record<string, string> {
  const applied = [
    ...(pageSize === undefined ? [] : [`odata.maxpagesize=${pageSize}`]),
    ...(omitNulls ? ['omit-values=nulls'] : []),
    ...(annotations ? ['odata.include-annotations="Core.Permissions"'] : []),
  ];
  return applied.length === 0 ? {} : { 'preference-applied': applied.join(', ') };
}

/** The part of a context address that tells which fields are given (OData 4.01 protocol, 10.7 to 10.10). */
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
