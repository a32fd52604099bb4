/** What is needed to answer requests; service.ts creates it once. */
import type { Logger } from 'pino';
import type { RequestQueue } from './access/budget.ts';
import type { KeyStatusCache } from './access/key-status-cache.ts';
import type { RequestLimiter } from './access/rate-limits.ts';
import type { UsageRecorder } from './access/usage.ts';
import type { ViewCache } from './access/view-cache.ts';
import type { AdminContext } from './admin/admin-route.ts';
import type { ResponseCache } from './cache/response-cache.ts';
import type { EventStreams } from './events/event-streams.ts';
import type { ServiceContext } from './exchange.ts';
import type { FileContext } from './front/media.ts';
import type { ServiceOptions } from './options.ts';
import type { LoggedDamages } from './reply/errors.ts';
import type { PromisedDate } from './reply/promised-date.ts';

export interface Responder {
  readonly options: ServiceOptions;
  readonly context: ServiceContext;
  readonly date: PromisedDate;
  readonly files: FileContext;
  readonly admin: AdminContext;
  readonly limiter: RequestLimiter;
  readonly queue: Pick<RequestQueue, 'enter'>;
  readonly usage: UsageRecorder;
  readonly views: ViewCache;
  /** The open event streams. */
  readonly streams: EventStreams;
  readonly standings: KeyStatusCache;
  readonly replies: ResponseCache;
  readonly log: Logger;
  /** The damages that have been logged, so that each is logged once. */
  readonly damages: LoggedDamages;
}
