/**
 * What the console asks of the service: the admin port that served it, and through it the interfaces as another role or key
 * sees them. The session is a cookie that no script reads. This module must not know what is shown.
 */
import { signal } from '@preact/signals';
import { doubt } from './connection.ts';

/**
 * Whether a person is logged in: what the service says of itself, `none`, or `ended` if the service ended the session;
 * undefined while that is not known yet.
 */
export const session = signal<About | undefined | 'none' | 'ended'>(undefined);

export type SurfaceName = 'api' | 'replication' | 'floorplans';

/** What the service says of itself (GET /about). */
export interface About {
  readonly store: string;
  readonly owner: string;
  readonly surfaces: readonly {
    readonly name: SurfaceName;
    readonly address: string;
    readonly resoRoot?: string;
    readonly nativeRoot?: string;
  }[];
  readonly roles: readonly string[];
}

/** A response that is not the one that was wanted. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The response to a request, with the headers that pages show. */
export interface Answer<T> {
  readonly body: T;
  readonly headers: Headers;
  /** Milliseconds from the request to the whole answer. */
  readonly took: number;
}

/** What an error says, in the envelope of either interface. */
function refusalIn(status: number, body: unknown): Refused {
  const { error, D }: { error?: { code: string; message: string }; D?: { Code: number; Message: string } } =
    typeof body === 'object' && body !== null ? body : {};
  if (error !== undefined) return new Refused(status, error.code, error.message);
  if (D !== undefined) return new Refused(status, String(D.Code), D.Message);
  return new Refused(status, String(status), `The service answered with status ${status}.`);
}

/**
 * Asks the service. A session that has ended leads back to the log-in.
 * @param path on the admin port, with its query
 * @throws Refused for any answer but a success, and with the status 0 where there is none
 */
export async function ask<T>(path: string, options: RequestInit = {}): Promise<Answer<T>> {
  const began = performance.now();
  let response: Response;
  let text: string;
  try {
    response = await fetch(path, { ...options, headers: { accept: 'application/json', ...options.headers } });
    text = await response.text();
    if (FROM_A_PROXY.includes(response.status)) throw new Refused(0, 'away', AWAY);
  } catch (error) {
    // A request that the page itself gave up says nothing about the service.
    if (options.signal?.aborted !== true) doubt();
    throw error instanceof Refused ? error : new Refused(0, 'away', AWAY);
  }
  const body: unknown = text === '' ? undefined : jsonOr(text);
  if (response.status === 401 && path !== '/session') endSession();
  if (!response.ok) throw refusalIn(response.status, body);
  return { body: body as T, headers: response.headers, took: performance.now() - began };
}

/** What a person reads while nothing answers; the page asks again by itself. */
const AWAY = 'The service cannot be reached. It may be restarting.';

/** A proxy answers so for a service that is away. */
const FROM_A_PROXY = [502, 504];

function endSession(): void {
  session.value = session.value === undefined || session.value === 'none' ? 'none' : 'ended';
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export const get = async <T>(path: string): Promise<T> => (await ask<T>(path)).body;

export const post = <T>(path: string, body: unknown, method = 'POST'): Promise<Answer<T>> =>
  ask<T>(path, { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });

/** Whose eyes the interfaces are asked with: `role/idx`, or `key/k_…`. */
export type Eyes = string;

/** The address on the admin port at which a surface answers with another's eyes. */
export const seenThrough = (eyes: Eyes, surface: SurfaceName, path: string): string =>
  `/as/${eyes}/${surface}${path}`;

/** Determines whether there is a session. */
export async function resume(): Promise<void> {
  try {
    session.value = await get<About>('/about');
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 401) throw error;
  }
}

/** @throws Refused for a token that is not an admin key's */
export async function logIn(token: string): Promise<void> {
  await post('/session', { token });
  await resume();
}

export async function logOut(): Promise<void> {
  await ask('/session', { method: 'DELETE' });
  session.value = 'none';
}
