/**
 * Requests of the console: to the admin port that serves it, and through that to the interfaces as another role or key sees them.
 * The session is a cookie that scripts cannot read. This module must not know what is displayed.
 */
import { signal } from '@preact/signals';
import { doubt } from './connection.ts';

/**
 * The state of the session: what the service reports about itself, `none` if there is no session, or `ended` if the service has
 * ended it; undefined while that is unknown.
 */
export const session = signal<About | undefined | 'none' | 'ended'>(undefined);

export type SurfaceName = 'api' | 'replication' | 'floorplans';

/** What the service reports about itself (GET /about). */
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

/** An unsuccessful response. */
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
  /** Milliseconds from the request to the end of the response. */
  readonly took: number;
}

/** The error in a response body, in the envelope of either interface. */
function refusalIn(status: number, body: unknown): Refused {
  const { error, D }: { error?: { code: string; message: string }; D?: { Code: number; Message: string } } =
    typeof body === 'object' && body !== null ? body : {};
  if (error !== undefined) return new Refused(status, error.code, error.message);
  if (D !== undefined) return new Refused(status, String(D.Code), D.Message);
  return new Refused(status, String(status), `The service answered with status ${status}.`);
}

/**
 * Sends a request to the service. If the session has ended, the log-in page is shown.
 *
 * @param path on the admin port, with its query
 * @throws Refused for any unsuccessful response; with status 0 if there is no response
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
    // A request that the page itself aborted says nothing about the service.
    if (options.signal?.aborted !== true) doubt();
    throw error instanceof Refused ? error : new Refused(0, 'away', AWAY);
  }
  const body: unknown = text === '' ? undefined : jsonOr(text);
  if (response.status === 401 && path !== '/session') endSession();
  if (!response.ok) throw refusalIn(response.status, body);
  return { body: body as T, headers: response.headers, took: performance.now() - began };
}

/** The message while the service does not respond; the page retries by itself. */
const AWAY = 'The service cannot be reached. It may be restarting.';

/** The statuses with which a proxy responds if the service is down. */
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

/** The role or key whose view the interfaces return: `role/idx`, or `key/k_…`. */
export type Viewer = string;

/** The address on the admin port at which a surface responds as a role or key sees it. */
export const pathSeenBy = (viewer: Viewer, surface: SurfaceName, path: string): string =>
  `/as/${viewer}/${surface}${path}`;

/** Checks whether there is a session. */
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
