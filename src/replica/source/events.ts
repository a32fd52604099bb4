/** Reads the server-sent events of a plat source (docs/changes.md). This module does not know how a copy applies them. */
import { isObject, tryParseJson } from '../../shared/json.ts';
import type { SourceClient } from '../http/client.ts';
import { eventsOf, type ServerEvent } from '../http/event-stream.ts';
import { RequestFailure } from '../http/failure.ts';
import type { ChangeFeed, FeedReport, ReportedChange } from './source.ts';

/** Milliseconds without data after which a stream has failed: plat has then missed several heartbeats. */
const IDLE_TIMEOUT = 45_000;
/** The maximum number of changes that are passed on together, however large their commit is. */
const TOGETHER = 500;

/** The stream is at `…/events` if the interfaces are at `…/Reso/OData/` and `…/v1/`. */
const addressOf = (root: string): string => root.replace(/(?:Reso\/OData|v1)\/$/, 'events');

/** The change feed by server-sent events. @param root the root of either interface */
export function eventFeed(client: SourceClient, root: string): ChangeFeed {
  async function* reports(
    since: string,
    resources: readonly string[],
    signal: AbortSignal,
  ): AsyncGenerator<FeedReport> {
    const query = new URLSearchParams({ since, resources: resources.join(',') });
    const { headers, body } = await client.openStream(`${addressOf(root)}?${query}`, {
      headers: { accept: 'text/event-stream', 'accept-encoding': 'identity', 'cache-control': 'no-cache' },
      timeout: IDLE_TIMEOUT,
      signal,
    });
    const type = headers['content-type'] ?? 'no content type';
    if (!type.startsWith('text/event-stream')) {
      throw new RequestFailure(
        'rejected',
        `The response to the request for the stream of changes is ${type}`,
      );
    }
    let changes: ReportedChange[] = [];
    for await (const events of eventsOf(body, { clock: client.clock, idleTimeout: IDLE_TIMEOUT, signal })) {
      for (const event of events) {
        const read = readEvent(event);
        if (read === undefined) continue;
        if (read.kind === 'change') changes.push(read.change);
        if (changes.length > 0 && (read.kind !== 'change' || changes.length >= TOGETHER)) {
          yield { kind: 'changes', changes };
          changes = [];
        }
        if (read.kind !== 'change') yield read;
        if (read.kind === 'expired') return;
      }
    }
    // Changes that arrived without their position are sent again.
  }

  return {
    way: 'events',
    isPushed: true,
    // A sequence number is a valid position.
    translatePosition: ({ way, position }) => (way === 'entity-event' ? position : undefined),
    async currentPosition(resources, signal) {
      const stop = new AbortController();
      try {
        for await (const each of reports('end', resources, AbortSignal.any([signal, stop.signal]))) {
          if (each.kind === 'position') return { position: each.position, unreported: [] };
        }
      } finally {
        stop.abort();
      }
      throw new RequestFailure('transient', 'The stream of changes began without a position');
    },
    async *changesSince(position, resources, signal) {
      try {
        yield* reports(position, resources, signal);
      } catch (error) {
        // 400: the source cannot read the position, which is one of another source.
        const isGone = error instanceof RequestFailure && (error.status === 410 || error.status === 400);
        if (!isGone) throw error;
        yield { kind: 'expired', position: error.position };
      }
    },
  };
}

type Read =
  | { readonly kind: 'change'; readonly change: ReportedChange }
  | Exclude<FeedReport, { kind: 'changes' }>;

/** Parses an event; undefined for a kind of event that this version does not know. @throws RequestFailure for an invalid event */
function readEvent({ event, data, id }: ServerEvent): Read | undefined {
  if (event !== 'change' && event !== 'position' && event !== 'gone') return undefined;
  const value = tryParseJson(data);
  if (!isObject(value)) throw unreadable(event, data);
  const { position } = value;
  switch (event) {
    case 'change': {
      const { resource, key, kind, at } = value;
      if (typeof resource !== 'string' || typeof key !== 'string') throw unreadable(event, data);
      const moment = typeof at === 'string' ? Date.parse(at) : Number.NaN;
      return {
        kind: 'change',
        change: {
          resource,
          key,
          isDeleted: kind === 'deleted',
          at: Number.isNaN(moment) ? undefined : moment,
        },
      };
    }
    case 'position': {
      const place = typeof position === 'string' ? position : id;
      if (place === '') throw unreadable(event, data);
      return { kind: 'position', position: place, isLevel: value.level === true };
    }
    case 'gone':
      return { kind: 'expired', position: typeof position === 'string' ? position : undefined };
  }
}

const unreadable = (event: string, data: string): RequestFailure =>
  new RequestFailure('transient', `The stream of changes has an event "${event}" of ${data.slice(0, 120)}`);
