/** Starts and stops the service: its listeners, and what they share. It must not know how a request is answered. */
import type { Logger } from 'pino';
import { settlesWithin } from '../shared/settles-within.ts';
import type { Store } from '../store/store.ts';
import type { ReadinessCheck } from './admin/readiness.ts';
import { type Listener, reachedAddress } from './http/base-address.ts';
import { checkTls, type ListenOptions, planListeners } from './http/listen.ts';
import { makeListener } from './http/listener.ts';
import type { Metrics } from './metrics.ts';
import type { ServiceOptions } from './options.ts';
import { makeParts } from './parts.ts';
import type { SurfaceName } from './surface.ts';

export interface Service {
  /** The addresses of the surfaces as clients reach them, without a trailing slash. */
  readonly addresses: Readonly<Record<SurfaceName, string>>;
  /** The addresses at which the surfaces listen; they differ from `addresses` where a public URL is configured. */
  readonly listening: Readonly<Record<SurfaceName, string>>;
  readonly metrics: Metrics;
  close(): Promise<void>;
}

// All times are in milliseconds. How long requests in progress may take when the service closes, and how often it then closes
// connections that have become idle:
const CLOSING_PATIENCE = 8000;
const CLOSING_INTERVAL = 50;
/** Additional time to record usage after all requests have ended. */
const LAST_NOTES = 1000;
/** How often expired lists are removed. */
const SWEEP_EVERY = 60_000;

/** Starts the service, with a listener for each surface, or one that the public surfaces share. */
export async function startService(
  options: ServiceOptions,
  listen: ListenOptions,
  readiness: readonly ReadinessCheck[] = [],
): Promise<Service> {
  const { store, log, publicUrls } = options;
  const { tls } = listen;
  const plans = planListeners(listen);
  if (tls !== undefined) checkTls(tls);
  const secure = tls !== undefined;
  const listening = new Map<SurfaceName, Listener>();
  const ownAddress = (surface: SurfaceName, arrival?: string): string => {
    const listener = listening.get(surface);
    return listener === undefined ? '' : reachedAddress(listener, arrival);
  };
  const addressOf = (surface: SurfaceName, arrival?: string): string =>
    publicUrls[surface] ?? ownAddress(surface, arrival);
  const parts = makeParts(options, readiness, addressOf);
  const { connections, ofOperators } = parts;
  const closing = new AbortController();
  const listeners = plans.map((plan) => ({
    ...plan,
    server: makeListener({
      ...parts,
      closing: closing.signal,
      dispatch: plan.dispatch,
      connections: plan.surfaces.includes('admin') ? ofOperators : connections,
      where: (surface) => listening.get(surface) ?? { host: plan.host, port: plan.port, secure },
      tls,
    }),
  }));
  const logOverdue = overdueLog(store, log);
  const sweeping = setInterval(() => {
    logOverdue();
    parts.sweep().catch((error: unknown) => log.warn({ err: error }, 'expired lists could not be removed'));
  }, SWEEP_EVERY).unref();
  const close = async (): Promise<void> => {
    closing.abort();
    const patience = listen.closingPatience ?? CLOSING_PATIENCE;
    const end = performance.now() + patience + LAST_NOTES;
    const idle = setInterval(() => {
      for (const each of [connections, ofOperators]) each.closeIdle();
    }, CLOSING_INTERVAL);
    await Promise.all(listeners.map(({ server }) => server.close(patience)));
    clearInterval(idle);
    clearInterval(sweeping);
    parts.close();
    // Another process may hold the write lock of the store for longer than this process can wait.
    if (!(await settlesWithin(end - performance.now(), parts.record()))) {
      log.warn('the store did not respond in time: the usage of the last minute may not be recorded');
    }
  };
  try {
    for (const { server, surfaces, port, host } of listeners) {
      const actual = await server.listen(host, port);
      for (const surface of surfaces) {
        listening.set(surface, { host, port: actual, secure, name: listen.hosts?.[surface] });
      }
    }
  } catch (error) {
    await close();
    throw error;
  }
  const ofEach = (address: (surface: SurfaceName) => string): Service['addresses'] => ({
    api: address('api'),
    replication: address('replication'),
    floorplans: address('floorplans'),
    admin: address('admin'),
  });
  return { addresses: ofEach(addressOf), listening: ofEach(ownAddress), metrics: parts.metrics, close };
}

/** Logs, at most once a day, that the stored visibility is that of an earlier day. */
function overdueLog(store: Store, log: Logger): () => void {
  let logged: string | undefined;
  return () => {
    const late = store.overdue?.();
    if (late !== undefined && late.day !== logged) {
      log.warn(
        { err: late.error, day: late.day },
        'the stored visibility could not be updated to the new day',
      );
    }
    logged = late?.day;
  };
}
