import { platError } from '../../errors/index.ts';
import { NATIVE_PARTS, type NativePart } from '../../store/text/native-parts.ts';
import type { ServiceContext } from '../context.ts';
import type { Exchange, Reply, Session } from '../exchange.ts';
import { account, accounts } from './accounts.ts';
import { listing, listings } from './listings.ts';
import { customFieldList, standardFields, system } from './metadata.ts';
import { type NativeExchange, nativeExchange } from './native-request.ts';
import { customFields, part, parts } from './parts.ts';

/** Answers a request of the native interface. The path is below its root, percent-encoded. */
export async function native(
  context: ServiceContext,
  exchange: Exchange,
  session: Session,
  path: string,
): Promise<Reply> {
  exchange.timings.start('parse');
  const request = nativeExchange(context, exchange, session);
  const segments = path.replace(/\/$/, '').split('/').map(decodeSegment);
  const reply = await route(request, segments);
  if (reply === undefined) throw platError('pathNotFound', { path: exchange.path });
  return reply;
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw platError('requestMalformed', { reason: 'the percent-encoding of the path is broken' });
  }
}

const isPart = (name: string): name is NativePart => NATIVE_PARTS.some((known) => known === name);

async function route(request: NativeExchange, segments: readonly string[]): Promise<Reply | undefined> {
  const [collection, key, sub, id, beyond] = segments;
  if (beyond !== undefined || key === '' || sub === '' || id === '') return undefined;
  switch (collection) {
    case 'listings':
      if (key === undefined) return listings(request);
      if (sub === undefined) return listing(request, key);
      if (sub === 'customfields') return id === undefined ? customFields(request, key) : undefined;
      if (!isPart(sub)) return undefined;
      return id === undefined ? parts(request, key, sub) : part(request, key, sub, id);
    case 'accounts':
      if (sub !== undefined) return undefined;
      return key === undefined ? accounts(request) : account(request, key);
    case 'standardfields':
      return sub === undefined ? standardFields(request, key) : undefined;
    case 'customfields':
      return sub === undefined ? customFieldList(request, key) : undefined;
    case 'system':
      return key === undefined ? system(request) : undefined;
    default:
      return undefined;
  }
}
