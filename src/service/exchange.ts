/** A request and its response as handlers see them, independent of the server that transports them. */
import type { KeyRecord, View } from '../access/index.ts';
import type { StoreModel } from '../compile/model.ts';
import type { FileSigning, Page, RecordQuery } from '../compile/read.ts';
import { timestampFrom } from '../dictionary/index.ts';
import type { DeflatedList } from '../shared/gzip-member.ts';
import type { RequestAccount } from './access/budget.ts';
import type { ReadBody } from './http/body.ts';
import { prefersGzip } from './http/negotiation.ts';
import type { Basis } from './kept/basis.ts';
import type { Timings } from './metrics.ts';
import type { PageReading } from './paging/read-page.ts';
import type { Surface } from './surface.ts';

/** The role or key as which an operator of the console reads (console/see-as.ts). */
export type SeenAs =
  | { readonly kind: 'role'; readonly role: string }
  | { readonly kind: 'key'; readonly id: string };

export interface Exchange {
  readonly id: string;
  readonly method: string;
  /** Percent-encoded as it came, without query. */
  readonly path: string;
  /** The text after the question mark; empty without one. */
  readonly query: string;
  /** Whether the query came in a body, or in a link that continues from one. */
  readonly isPosted?: boolean;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly surface: Surface;
  readonly as?: SeenAs;
  /** The address of the client; empty once its connection is closed. */
  readonly client: string;
  /** The address of the surface as clients reach it, without a slash at the end. */
  readonly base: string;
  /** The address of this machine at which the connection arrived. */
  readonly arrival?: string | undefined;
  readonly timings: Timings;
  /**
   * The resources that the request has acquired, such as the memory of pages. All of them are released when the request
   * ends.
   */
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

/** A part of a body: plain, or in deflated form. */
export type Part = string | Uint8Array | DeflatedList;

export const isDeflated = (part: Part): part is DeflatedList => typeof part === 'object' && 'parts' in part;

export const bytesOf = (part: Part): number =>
  typeof part === 'string' ? Buffer.byteLength(part) : part.length;

/** Whether the client of a request accepts gzip and prefers nothing else. */
export const takesGzip = ({ headers }: Pick<Exchange, 'headers'>): boolean =>
  prefersGzip(headers['accept-encoding']);

/** The records of a page. */
export const recordsOf = ({ body, deflated }: Page): Uint8Array | DeflatedList => deflated ?? body;

/** A response. The parts of the body are written one after the other, without being joined first. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: readonly Part[];
  /** Records in the body, for the use of the key. */
  readonly rows?: number;
  /** The `Date`, if the store was read a moment ago; otherwise its clock is queried once more. */
  readonly date?: number | undefined;
  /** The update window that is recorded in the use of the key. */
  readonly window?: string;
  readonly walk?: WalkStep | undefined;
  /** The page of a walk or window that the response is, for the console. */
  readonly reading?: Reading | undefined;
  /** Present if the response may be cached: the records that it was made of. */
  readonly basis?: Basis | undefined;
}

/** A response without an end. */
export interface EventReply extends Reply {
  /**
   * The events as they are written, each when the client has read those before. They end when the signal is aborted.
   */
  readonly events: (until: AbortSignal) => AsyncIterable<string | Uint8Array>;
  /**
   * Whether the client may still see them. The events end with the key, whichever handler produces them: `respond` sets
   * this.
   */
  readonly standing?: () => Promise<Standing>;
  /** What is written instead of events while that is unknown; absent: the events end. */
  readonly away?: string;
}

/** Whether a follower's key is valid; unknown while the store is unavailable. */
export type Standing = 'stands' | 'ended' | 'unknown';

export const hasEvents = (reply: Reply): reply is EventReply => 'events' in reply;

/** A page of a walk over all listings. A complete walk is the sweep that a purge needs (specification 4.4, rule 4). */
export interface WalkStep {
  /** Where the page begins, in the walk's own terms; empty at the start. */
  readonly from: string;
  /** Where the next one may begin, by its token or by its offset. */
  readonly reached: readonly string[];
  readonly ended: boolean;
}

/** A page of a walk through a resource: of its records, of its keys alone, or of a window of time. */
export interface Reading {
  readonly resource: string;
  readonly of: 'records' | 'keys' | 'window';
  readonly window?: string;
  readonly step: WalkStep;
}

/** The step that a page represents. @param skip rows that were skipped to reach it */
export function walkStep(token: string | undefined, skip: number, page: Page): WalkStep {
  const from = token ? `after ${token}` : skip > 0 ? `skip ${skip}` : '';
  const next = `skip ${skip + page.rows}`;
  const reached = page.last === undefined ? [next] : [next, `after ${page.last.key}`];
  return { from, reached, ended: !page.more };
}

export const JSON_TYPE = 'application/json; charset=utf-8';

export function json(body: unknown, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status: 200, headers: { 'content-type': JSON_TYPE, ...headers }, body: [JSON.stringify(body)] };
}

/** What handlers receive in addition to the request itself. */
export interface ServiceContext extends PageReading {
  readonly fileHours: number;
  /** The URL of a surface as clients of a connection reach it, for messages that name another surface. */
  readonly addressOf: (surface: 'replication', arrival: string | undefined) => string;
}

const HOUR = 3600;

/** URLs of served files are valid for the promised hours, rounded up, so that they stay the same for a while. */
export function signingFor(
  context: Pick<ServiceContext, 'fileHours'>,
  exchange: Pick<Exchange, 'base'>,
  { view, now }: Pick<Session, 'view' | 'now'>,
): FileSigning {
  const hour = Math.floor(now / 1000 / HOUR) + 1;
  return { base: exchange.base, role: view.role.name, expires: (hour + context.fileHours) * HOUR };
}

/** The part of every query that depends on the client and the time. */
export function asking({ view, now }: Session): Pick<RecordQuery, 'view' | 'now' | 'order'> {
  return { view, now: timestampFrom(now), order: [] };
}
