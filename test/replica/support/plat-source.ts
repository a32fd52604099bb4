/** The real service as a source, and a replica of it, on one clock. */

import type { StoreSettings } from '../../../src/records/settings.ts';
import type { Transport, TransportRequest } from '../../../src/replica/http/transport.ts';
import type { ServiceOptions } from '../../../src/service/options.ts';
import { type TestClock, testClock } from '../../support/clock.ts';
import type { Scope } from '../../support/engine.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { makeReplica, type ReplicaOptions, type TestReplica } from './replica.ts';

export interface Feed extends TestService {
  readonly token: string;
  root(kind: 'reso' | 'native'): string;
  /** A replica of it; `requests` has only its own requests. */
  replica(scope: Scope, kind: 'reso' | 'native', options?: Partial<ReplicaOptions>): Promise<WatchedReplica>;
}

export interface WatchedReplica extends TestReplica {
  /** Path and query of each request, decoded, without the root. */
  readonly requests: string[];
}

export interface FeedOptions {
  readonly role?: string;
  readonly clock?: TestClock;
  readonly service?: Partial<ServiceOptions>;
  /** Of the source's store. */
  readonly settings?: Partial<StoreSettings>;
}

export async function platFeed(scope: Scope, options: FeedOptions = {}): Promise<Feed> {
  const { role = 'private', clock = testClock(), service = {}, settings = {} } = options;
  const source = await startTestService(scope, { clock, service, settings });
  const token = await source.key('replication', { role });
  const root = (kind: 'reso' | 'native'): string =>
    `${source.addresses.replication}${kind === 'reso' ? '/Reso/OData' : '/v1'}`;
  return {
    ...source,
    token,
    root,
    async replica(inner, kind, given = {}) {
      const requests: string[] = [];
      const between = (transport: Transport): Transport => {
        const next = given.between?.(transport) ?? transport;
        return (sent) => {
          requests.push(shown(sent, root(kind)));
          return next(sent);
        };
      };
      const replica = await makeReplica(inner, {
        from: root(kind),
        interface: kind,
        token,
        clock,
        ...given,
        between,
      });
      return { ...replica, requests };
    },
  };
}

const shown = ({ url }: TransportRequest, root: string): string =>
  decodeURIComponent(url.replaceAll('+', ' ')).replace(root, '').replace(/^\//, '');

/** The network, except for requests that a test answers or fails itself. */
export function withFaults(
  fault: (url: string, count: number) => 'pass' | 'cut' | 'lose' | 'busy',
): (transport: Transport) => Transport {
  let count = 0;
  return (transport) => async (sent) => {
    const what = fault(decodeURIComponent(sent.url.replaceAll('+', ' ')), ++count);
    if (what === 'cut') throw new Error('The connection was cut');
    if (what === 'busy') return { status: 503, headers: {}, body: nothing() };
    const response = await transport(sent);
    if (what === 'pass') return response;
    // The source has responded, and the response is lost.
    for await (const _ of response.body);
    throw new Error('The connection was cut');
  };
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
