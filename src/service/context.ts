import type { FileSigning, RecordQuery } from '../compile/read.ts';
import { timestampFrom } from '../dictionary/index.ts';
import type { Exchange, Session } from './exchange.ts';
import type { PageSource } from './paging/page-wish.ts';

/** What handlers are given beside the request itself. */
export interface ServiceContext extends PageSource {
  readonly fileHours: number;
  /** Address of a surface as clients of a connection reach it, for messages that name another. */
  readonly addressOf: (surface: 'replication', arrival: string | undefined) => string;
}

const HOUR = 3600;

/** Addresses of served files hold for the promised hours, rounded up, so that they stay the same for a while. */
export function signingFor(context: ServiceContext, exchange: Exchange, { view, now }: Session): FileSigning {
  const hour = Math.floor(now / 1000 / HOUR) + 1;
  return { base: exchange.base, role: view.role.name, expires: (hour + context.fileHours) * HOUR };
}

/** The part of every query that follows from who asks and when. */
export function asking({ view, now }: Session): Pick<RecordQuery, 'view' | 'now' | 'order'> {
  return { view, now: timestampFrom(now), order: [] };
}
