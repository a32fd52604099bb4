import { platError } from '../../errors/index.ts';
import type { ServiceContext } from '../context.ts';
import type { Exchange, Reply, Session } from '../exchange.ts';
import { nativeExchange } from './native-request.ts';
import { NATIVE_ROUTES, type NativeRoute } from './routes.ts';

/** Answers a request of the native interface. The path is below its root, percent-encoded. */
export async function native(
  context: ServiceContext,
  exchange: Exchange,
  session: Session,
  path: string,
): Promise<Reply> {
  exchange.timings.start('parse');
  const request = nativeExchange(context, exchange, session);
  // No key is empty, so a slash too many says nothing.
  const segments = path.split('/').filter(Boolean).map(decodeSegment);
  for (const route of NATIVE_ROUTES) {
    const given = match(route, segments);
    const reply = given === undefined ? undefined : await route.answer(request, ...given);
    if (reply !== undefined) return reply;
  }
  throw platError('pathNotFound', { path: exchange.path });
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw platError('requestMalformed', { reason: 'the percent-encoding of the path is broken' });
  }
}

/** What stands where the route has names in braces; undefined for another path. */
function match({ path }: NativeRoute, segments: readonly string[]): [string, string] | undefined {
  const names = path.split('/');
  if (names.length !== segments.length) return undefined;
  const given = segments.filter((_, at) => names[at]?.startsWith('{') === true);
  const isSame = names.every((name, at) => name.startsWith('{') || name === segments[at]);
  return isSame ? [given[0] ?? '', given[1] ?? ''] : undefined;
}
