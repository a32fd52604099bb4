/**
 * `GET /events`: the changes of the store as server-sent events (HTML, 9.2; docs/changes.md), for keys that may use the
 * replication surface. It reads the parameters of a request; event-streams.ts produces the events.
 */
import { platError } from '../../errors/index.ts';
import {
  type FeedPosition,
  parsePosition,
  positionText,
  SEQUENCE_START,
} from '../../store/changes/change-feed.ts';
import type { ViewCache } from '../access/view-cache.ts';
import {
  type EventReply,
  type Exchange,
  type ServiceContext,
  type Session,
  signingFor,
} from '../exchange.ts';
import { chooseType } from '../http/negotiation.ts';
import { recordAsRequested } from '../reso/value-forms.ts';
import type { FollowRequest } from './event-pages.ts';
import type { EventStreams } from './event-streams.ts';

export const EVENTS_PATH = '/events';

export const EVENT_STREAM = 'text/event-stream';

/** Descriptions of the query parameters. */
export const EVENT_OPTIONS = {
  resources: 'The names of resources, separated by commas; the default is all that the key may read.',
  since:
    'The position after which the events begin: `start`, `end` (the default), or a position that the stream returned. The header `Last-Event-ID` takes precedence.',
  records: '`true`: each change contains its complete record, as the key sees it at the time it is read.',
} as const;

interface EventsContext extends ServiceContext {
  readonly views: ViewCache;
  readonly streams: EventStreams;
  /** Waits in the queue of a key before a read. */
  readonly turn: (name: string) => Promise<void>;
}

/** @throws PlatError `notAcceptable`, `optionInvalid`, `optionUnknown`, `optionRepeated`, `positionGone`, `tooManyStreams` */
export async function answerEvents(
  context: EventsContext,
  exchange: Exchange,
  session: Session,
): Promise<EventReply> {
  const { headers, account } = exchange;
  if (chooseType(headers.accept, [EVENT_STREAM]) === undefined) {
    throw platError('notAcceptable', { by: 'The Accept header', offered: EVENT_STREAM });
  }
  const parameters = optionsIn(exchange.query);
  const since = positionAsked(headers['last-event-id'], parameters.get('since'));
  const following = followRequestOf(context, exchange, session, parameters);
  const { name } = account;
  const stream = await context.streams.open(
    {
      keyId: session.key.id,
      following,
      // Streams share a page, so it is read to its end even if the client of the first of them has gone.
      read: { ...context.read, caller: { ...account, isGone: undefined } },
      turn: () => context.turn(name),
    },
    since,
  );
  if (stream.kind === 'gone') {
    const position = positionText(stream.position);
    throw platError('positionGone', { position }, { goOn: { kind: 'position', position } });
  }
  exchange.taken.defer(stream.close);
  return { status: 200, headers: { 'content-type': EVENT_STREAM }, body: [], events: stream.events };
}

function optionsIn(query: string): Map<string, string> {
  const options = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (!Object.hasOwn(EVENT_OPTIONS, name)) throw platError('optionUnknown', { name }, { target: name });
    if (options.has(name)) throw platError('optionRepeated', { name }, { target: name });
    options.set(name, value);
  }
  return options;
}

/** @param last the position that a reconnecting browser sends by itself (`Last-Event-ID`) */
function positionAsked(last: string | undefined, since: string | undefined): FeedPosition | 'end' {
  const [name, value] = last ? ['Last-Event-ID', last] : ['since', since ?? 'end'];
  if (value === 'end') return 'end';
  if (value === 'start') return SEQUENCE_START;
  const position = parsePosition(value);
  if (position !== undefined) return position;
  const expected = 'start, end, or a position that the stream returned';
  throw platError('optionInvalid', { name, value: value.slice(0, 100), expected }, { target: name });
}

function followRequestOf(
  context: EventsContext,
  exchange: Exchange,
  session: Session,
  parameters: ReadonlyMap<string, string>,
): FollowRequest {
  const { key } = session;
  const resources = resourcesAsked(session, parameters.get('resources'));
  const withRecords = parameters.get('records') ?? 'false';
  if (withRecords !== 'true' && withRecords !== 'false') {
    const facts = { name: 'records', value: withRecords.slice(0, 100), expected: 'true or false' };
    throw platError('optionInvalid', facts, { target: 'records' });
  }
  const isWhole = withRecords === 'true';
  const id = [key.role, key.systems.toSorted(), resources ?? null, isWhole ? exchange.base : null];
  return {
    id: JSON.stringify(id),
    resources,
    viewBy: (model) => context.views.viewOf(key, model),
    records: isWhole
      ? {
          root: `${exchange.base}${exchange.surface.resoRoot ?? '/'}`,
          files: (view, now) => signingFor({ context, exchange, session: { view, now } }),
          written: (view, resource, text) => {
            if (!view.enumerations) return text;
            const given = { resource, expansions: [] };
            const named = recordAsRequested({ session: { ...session, view } }, given, Buffer.from(text));
            return Buffer.from(named).toString();
          },
        }
      : undefined,
  };
}

/** The resources in the parameter, with the dictionary's spelling, sorted by name. */
function resourcesAsked({ view }: Session, text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined;
  const named = text.split(',').map((each) => each.trim());
  const found = named.map((name) => {
    const resource = view.schema.find(name)?.resource;
    if (resource !== undefined) return resource.name;
    const expected = 'names of resources that the key may read, separated by commas';
    throw platError(
      'optionInvalid',
      { name: 'resources', value: name.slice(0, 100), expected },
      { target: 'resources' },
    );
  });
  return [...new Set(found)].toSorted();
}
