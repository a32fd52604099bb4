/** A path of the admin port: its description, and its handler. */
import type { Clock } from '../../shared/clock.ts';
import type { Store } from '../../store/store.ts';
import type { WebhookControls } from '../../webhooks/controls.ts';
import type { UsageRecorder } from '../access/usage.ts';
import type { History } from '../console/history.ts';
import type { HistoryKeeper } from '../console/history-keeper.ts';
import type { BodyMembers } from '../console/json-body.ts';
import type { LiveFeed } from '../console/live-feed.ts';
import type { ConsoleLogin } from '../console/log-in.ts';
import type { Outlines } from '../console/outlines.ts';
import type { ReplicaControls } from '../console/replication.ts';
import type { Walks } from '../console/walks.ts';
import type { Json } from '../description/openapi-elements.ts';
import type { Exchange, Reply } from '../exchange.ts';
import type { Metrics } from '../metrics.ts';
import type { RateLimit } from '../options.ts';
import type { SurfaceName } from '../surface.ts';
import type { Probed } from './probes.ts';

export interface AdminContext extends Probed {
  readonly store: Store;
  readonly metrics: Metrics;
  /** Records the usage of keys. */
  readonly usage: UsageRecorder;
  readonly logIn: ConsoleLogin;
  /** The requests that this process has answered. */
  readonly history: History;
  /** The activity of all processes in the last day. */
  readonly days: HistoryKeeper;
  readonly live: LiveFeed;
  readonly walks: Walks;
  /** Absent if the store is not a replica, or if its state is not reported. */
  readonly replica?: ReplicaControls | undefined;
  readonly webhooks?: WebhookControls | undefined;
  readonly clock: Clock;
  /** The request limits of keys, by surface. */
  readonly limits: Readonly<Record<SurfaceName, RateLimit>>;
  readonly outlines: Outlines;
  /** The address of a surface for a client that connected to an address of this machine. */
  readonly addressOf: (surface: SurfaceName, arrival?: string) => string;
}

/** A request of the admin port, once its path is known. */
export interface AdminRequest {
  readonly exchange: Exchange;
  /** The parts of the path that the route has in braces. */
  readonly names: Readonly<Record<string, string>>;
  /** Reads the object in its body. @throws PlatError `requestMalformed`, also for members that the route does not have */
  readonly given: () => Promise<BodyMembers>;
}

interface BodySchema {
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, Json>>;
}

export interface DescribedRoute {
  /** With its variable parts in braces. */
  readonly path: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** A description of what it does. */
  readonly summary: string;
  /** The media type of its response; absent: JSON. */
  readonly type?: string;
  /** The JSON object that it accepts (JSON Schema). */
  readonly body?: BodySchema;
  /** The parameters of its query: name and description. */
  readonly query?: Readonly<Record<string, string>>;
  /** Whether it needs no token: probes and scrapers have none. */
  readonly isOpen?: true;
}

export interface AdminRoute extends DescribedRoute {
  readonly answer: (context: AdminContext, request: AdminRequest) => Reply | Promise<Reply>;
}
