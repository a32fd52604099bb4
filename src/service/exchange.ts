/** A request and its response as handlers see them, independent of the server that transports them. */
import type { KeyRecord, View } from '../access/index.ts';
import type { StoreModel } from '../compile/model.ts';
import type { FileSigning, Page, RecordQuery } from '../compile/read.ts';
import { timestampFrom } from '../dictionary/index.ts';
import { malformedError } from '../errors/index.ts';
import type { DeflatedList } from '../shared/gzip-member.ts';
import type { WalkStep } from '../store/shared.ts';
import type { RequestAccount } from './access/budget.ts';
import type { Basis } from './cache/response-basis.ts';
import type { ReadBody } from './http/body.ts';
import { prefersGzip } from './http/negotiation.ts';
import type { Timings } from './metrics.ts';
import type { PageReadContext } from './paging/read-page.ts';
import type { Surface } from './surface.ts';

/** The role or the key whose view an operator of the console is reading (console/view-as.ts). */
export type ViewAs =
  | { readonly kind: 'role'; readonly role: string }
  | { readonly kind: 'key'; readonly id: string };

export interface Exchange {
  readonly id: string;
  readonly method: string;
  /** Still percent-encoded, as the client sent it; without the query. */
  readonly path: string;
  /** The text after the question mark; empty if there is none. */
  readonly query: string;
  /** Whether the query was sent in a request body, or in the next link of such a query. */
  readonly isPosted?: boolean;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly surface: Surface;
  readonly as?: ViewAs;
  /** The address of the client; empty once its connection is closed. */
  readonly client: string;
  /** The address of the surface as clients reach it, without a slash at the end. */
  readonly base: string;
  /** The address of this machine at which the connection arrived. */
  readonly arrival?: string | undefined;
  readonly timings: Timings;
  /** The resources that the request has acquired, such as the memory of pages. They are all released when the request ends. */
  readonly taken: DisposableStack;
  /** The cost of the response, charged to the key. */
  readonly account: RequestAccount;
  readonly body: ReadBody;
}

/** A request whose key is known and may use the surface. */
export interface Session {
  readonly key: KeyRecord;
  readonly view: View;
  readonly model: StoreModel;
  /** Milliseconds since 1970 on the store's clock. */
  readonly now: number;
}

/** An authenticated request, as the handlers of all interfaces receive it. */
export interface AuthenticatedExchange {
  readonly context: ServiceContext;
  readonly exchange: Exchange;
  readonly session: Session;
}

/** A part of a body: plain or deflated. */
export type BodyPart = string | Uint8Array | DeflatedList;

export const isDeflated = (part: BodyPart): part is DeflatedList =>
  typeof part === 'object' && 'parts' in part;

export const byteLengthOf = (part: BodyPart): number =>
  typeof part === 'string' ? Buffer.byteLength(part) : part.length;

/** Whether the client of a request accepts gzip and prefers no other encoding. */
export const acceptsGzip = ({ headers }: Pick<Exchange, 'headers'>): boolean =>
  prefersGzip(headers['accept-encoding']);

export const recordsOf = ({ body, deflated }: Page): Uint8Array | DeflatedList => deflated ?? body;

/** A response. The parts of the body are written one after the other, without being joined first. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: readonly BodyPart[];
  /** The number of records in the body, for the usage of the key. */
  readonly rows?: number;
  /** The `Date`, if the clock of the store has just been read; otherwise, it is queried again. */
  readonly date?: number | undefined;
  /** The update window to record in the usage of the key. */
  readonly window?: string;
  readonly walk?: WalkStep | undefined;
  /** The page of a walk or window that this response represents, for the console. */
  readonly reading?: WalkPage | undefined;
  /** What the response was made from; present if it may be cached. */
  readonly basis?: Basis | undefined;
}

/** A response that does not end by itself, such as a stream of events. */
export interface EventReply extends Reply {
  /**
   * The events, as they are written to the client. The next one is produced when the client has read the previous ones. The
   * iteration ends when the signal is aborted.
   */
  readonly events: (until: AbortSignal) => AsyncIterable<string | Uint8Array>;
  /**
   * Checks whether the client may still see the events. `respond` sets this for every handler, so that the stream ends when its key
   * becomes invalid.
   */
  readonly standing?: () => Promise<KeyStatus>;
  /** What is written instead of events while the status of the key is unknown; absent: the stream ends. */
  readonly away?: string;
}

/** A part of a path without its percent-encoding. @throws PlatError `requestMalformed` */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw malformedError('the percent-encoding of the path is broken');
  }
}

/** Whether a follower's key is valid; unknown while the store is unavailable. */
export type KeyStatus = 'stands' | 'ended' | 'unknown';

export const hasEvents = (reply: Reply): reply is EventReply => 'events' in reply;

/** A page of a walk through a resource: through its records, its keys only, or a window of time. */
export interface WalkPage {
  readonly resource: string;
  readonly of: 'records' | 'keys' | 'window';
  readonly window?: string;
  readonly step: WalkStep;
}

/** The step of a walk that a page represents. @param skip rows that were skipped to reach it */
export function walkStep(token: string | undefined, skip: number, page: Page): WalkStep {
  const from = token ? `after ${token}` : skip > 0 ? `skip ${skip}` : '';
  const next = `skip ${skip + page.rows}`;
  const reached = page.last === undefined ? [next] : [next, `after ${page.last.key}`];
  return { from, reached, ended: !page.more };
}

export const JSON_TYPE = 'application/json; charset=utf-8';

export function jsonReply(body: unknown, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status: 200, headers: { 'content-type': JSON_TYPE, ...headers }, body: [JSON.stringify(body)] };
}

/** What handlers get in addition to the request. */
export interface ServiceContext extends PageReadContext {
  readonly fileHours: number;
  /** The URL of a surface for a client that reached this machine at `arrival`; used in messages that refer to another surface. */
  readonly addressOf: (surface: 'replication', arrival: string | undefined) => string;
}

const HOUR = 3600;

/**
 * URLs of files are valid for at least the configured number of hours. The expiry is rounded up to a whole hour, so that a URL
 * stays the same, and cacheable, for up to an hour.
 */
export function signingFor({
  context: { fileHours },
  exchange: { base },
  session: { view, now },
}: {
  readonly context: Pick<ServiceContext, 'fileHours'>;
  readonly exchange: Pick<Exchange, 'base'>;
  readonly session: Pick<Session, 'view' | 'now'>;
}): FileSigning {
  const hour = Math.floor(now / 1000 / HOUR) + 1;
  return { base, role: view.role.name, expires: (hour + fileHours) * HOUR };
}

/** The part of every query that depends on the client and on the time of the request. */
export function queryContext({ view, now }: Session): Pick<RecordQuery, 'view' | 'now' | 'order'> {
  return { view, now: timestampFrom(now), order: [] };
}
