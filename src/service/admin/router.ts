/** Finds the handler of a request to the operator's port: for probes, the console and an operator's own programs. */
import { platError } from '../../errors/index.ts';
import { parseBody } from '../console/json-body.ts';
import type { Exchange, Reply } from '../exchange.ts';
import { ALLOWED, methodNotAllowed } from '../http/methods.ts';
import type { AdminContext, AdminRequest, AdminRoute } from './admin-route.ts';
import { ADMIN_ROUTES } from './routes.ts';

const LONGEST_BODY = 64 * 1024;

/** A route with the variable parts of its path. */
interface Found {
  readonly route: AdminRoute;
  readonly names: AdminRequest['names'];
}

/** The routes of a path, one for each method that it supports. */
function routesOf(path: string): Found[] {
  const parts = path.split('/');
  return ADMIN_ROUTES.flatMap((route) => {
    const names = namesIn(route.path.split('/'), parts);
    return names === undefined ? [] : [{ route, names }];
  });
}

function namesIn(wanted: readonly string[], parts: readonly string[]): AdminRequest['names'] | undefined {
  if (wanted.length !== parts.length) return undefined;
  const names: Record<string, string> = {};
  for (const [at, part] of wanted.entries()) {
    const given = parts[at] ?? '';
    if (part.startsWith('{')) names[part.slice(1, -1)] = given;
    else if (part !== given) return undefined;
  }
  return names;
}

const isReading = (method: string): boolean => method === 'GET' || method === 'HEAD';
const takes = ({ route }: Found, method: string): boolean =>
  route.method === method || (isReading(method) && route.method === 'GET');

/** Whether a request needs no token. A method that an open path does not support is rejected without one as well. */
export function adminPathAllowsAnonymous({ method }: Pick<Exchange, 'method'>, path: string): boolean {
  const routes = routesOf(path);
  const found = routes.find((each) => takes(each, method)) ?? routes[0];
  return found?.route.isOpen === true;
}

const methodsOf = (path: string): string[] =>
  routesOf(path).flatMap(({ route: { method } }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));

/** The methods that a path of the admin port supports, as in `Allow`. */
export function allowedOf(path: string): string {
  const methods = methodsOf(path);
  return methods.length === 0 ? ALLOWED : [...methods, 'OPTIONS'].join(', ');
}

/** @throws PlatError `pathNotFound`, `methodNotAllowed` */
export async function answerAdmin(context: AdminContext, exchange: Exchange, path: string): Promise<Reply> {
  const routes = routesOf(path);
  if (routes.length === 0) throw platError('pathNotFound', { path });
  const found = routes.find((each) => takes(each, exchange.method));
  if (found === undefined) throw methodNotAllowed(exchange.method, methodsOf(path).join(' and '));
  const known = Object.keys(found.route.body?.properties ?? {});
  const given = async () => parseBody(await exchange.body(LONGEST_BODY), known);
  return found.route.answer(context, { exchange, names: found.names, given });
}
