/** A real service on loopback, over a store in memory-backed files, with helpers to send requests. */
import assert from 'node:assert/strict';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { pino } from 'pino';
import { hashToken, type KeyKind, makeKeyId, makeToken } from '../../src/access/index.ts';
import type { ListenOptions } from '../../src/service/http/listen.ts';
import { SERVICE_DEFAULTS, type ServiceOptions } from '../../src/service/options.ts';
import { type Service, startService } from '../../src/service/service.ts';
import type { SurfaceName } from '../../src/service/surface.ts';
import type { Store } from '../../src/store/store.ts';
import type { Engine, Scope } from './engine.ts';
import { sqliteEngine } from './sqlite-engine.ts';
import { type Json, makeWorld, objectOf, type World, type WorldOptions } from './world.ts';

export interface TestServiceOptions extends WorldOptions {
  /** Stores records for the tests before the service starts. */
  readonly fill?: (world: World) => Promise<void>;
  /** Options that differ from the defaults; they may depend on the store. */
  readonly service?: Partial<ServiceOptions> | ((store: Store) => Partial<ServiceOptions>);
  readonly listen?: Partial<ListenOptions>;
  /** Threads that read; absent: the calling thread reads. */
  readonly readers?: Parameters<typeof sqliteEngine>[0];
  /** Absent: SQLite. */
  readonly engine?: Engine;
}

export interface KeyOptions {
  readonly role?: string;
  readonly systems?: readonly string[];
  readonly expiresAt?: string;
}

export interface AskOptions {
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly body?: string | Buffer;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  /** The body, which must be a JSON object. */
  readonly json: Json;
}

export interface TestService extends World {
  readonly service: Service;
  readonly addresses: Service['addresses'];
  /** Creates a key and returns its token. */
  key(kind: KeyKind, wish?: KeyOptions): Promise<string>;
  /**
   * Sends a request to a surface, or to an absolute address such as a next link. Characters that a URL must not contain are
   * encoded.
   */
  get(surface: SurfaceName, path: string, options?: AskOptions): Promise<Answer>;
}

const SILENT = pino({ level: 'silent' });
const ANY_PORT = { api: 0, replication: 0, floorplans: 0, admin: 0 };

export async function startTestService(scope: Scope, options: TestServiceOptions = {}): Promise<TestService> {
  const inner = innermostFirst(scope);
  const world = await makeWorld(options.engine ?? sqliteEngine(options.readers), inner, options);
  await options.fill?.(world);
  const { store, clock } = world;
  const given = typeof options.service === 'function' ? options.service(store) : options.service;
  const service = await startService(
    { ...SERVICE_DEFAULTS, store, clock, log: SILENT, ...given },
    { host: '127.0.0.1', adminHost: '127.0.0.1', ports: ANY_PORT, ...options.listen },
  );
  const agent = new Agent({ keepAlive: true });
  inner.after(async () => {
    agent.destroy();
    await service.close();
  });
  const { addresses } = service;
  return {
    ...world,
    service,
    addresses,
    key: (kind, wish) => makeKey(store, kind, wish),
    get: (surface, path, asked) => ask(agent, addresses[surface], path, asked),
  };
}

/** Cleans up in reverse order: the service closes before its store. */
function innermostFirst(scope: Scope): Scope {
  const works: (() => Promise<void> | void)[] = [];
  scope.after(async () => {
    for (const work of works.toReversed()) await work();
  });
  return { after: (work) => void works.push(work) };
}

export async function makeKey(store: Store, kind: KeyKind, wish: KeyOptions = {}): Promise<string> {
  const { role = 'private', systems = [], expiresAt = null } = wish;
  const token = makeToken();
  const key = { id: makeKeyId(), name: `${kind} ${role}`, kind, role, systems, expiresAt };
  await store.keys.add({ ...key, createdAt: '2020-01-01T00:00:00Z', revokedAt: null }, hashToken(token));
  return token;
}

/** Encodes characters that a request line must not contain; percent and plus signs are kept. */
export const encoded = (path: string): string =>
  path.replaceAll(/[^\x21-\x7e]|["<>\\^`{|}]/gu, encodeURIComponent);

function ask(agent: Agent, base: string, path: string, options: AskOptions = {}): Promise<Answer> {
  const { token, headers = {}, method = 'GET', body } = options;
  const address = path.startsWith('http') ? path : `${base}${encoded(path)}`;
  const at = address.indexOf('/', 'http://'.length);
  const { hostname, port } = new URL(address.slice(0, at));
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        agent,
        host: hostname.replaceAll(/[[\]]/g, ''),
        port,
        path: address.slice(at),
        method,
        headers: { ...authorization, ...headers },
      },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () => {
          const bytes = Buffer.concat(parts);
          resolve(answerOf(response.statusCode ?? 0, response.headers, bytes));
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

function answerOf(status: number, headers: IncomingHttpHeaders, bytes: Buffer): Answer {
  const text = bytes.toString();
  return {
    status,
    headers,
    bytes,
    text,
    get json() {
      assert.match(headers['content-type'] ?? '', /^application\/json/, text);
      return objectOf(text);
    },
  };
}
