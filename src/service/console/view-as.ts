/**
 * The interfaces as another role or key sees them: `/as/role/<role>/<surface>/…` and `/as/key/<id>/…` on the admin port
 * lead to the paths of that surface, with the rows and fields of that role or key, and with the operator's own session.
 */
import type { KeyRecord } from '../../access/index.ts';
import { platError } from '../../errors/index.ts';
import type { Store } from '../../store/store.ts';
import { decodeSegment, type Exchange, type ViewAs } from '../exchange.ts';
import { PUBLIC_SURFACES, SURFACE } from '../surface.ts';

const PATH = /^\/as\/(role|key)\/([^/]+)\/([a-z]+)(\/.*)$/;

/** Redirects an exchange under `/as/` to the surface that it requests; returns any other exchange unchanged. */
export function resolveViewAs(exchange: Exchange): Exchange {
  if (exchange.surface.name !== 'admin') return exchange;
  const [, kind, text = '', surface = '', path = ''] = PATH.exec(exchange.path) ?? [];
  const name = PUBLIC_SURFACES.find((each) => each === surface);
  if (name === undefined) return exchange;
  const who = decodeSegment(text);
  const as: ViewAs = kind === 'role' ? { kind, role: who } : { kind: 'key', id: who };
  const base = exchange.base + exchange.path.slice(0, exchange.path.length - path.length);
  return { ...exchange, surface: SURFACE[name], base, path, as };
}

/**
 * The key whose rows and fields a request gets.
 * @param operatorKey the operator's own key
 * @throws PlatError `recordNotFound`
 */
export async function effectiveKey(
  as: ViewAs,
  operatorKey: KeyRecord,
  { surface }: Pick<Exchange, 'surface'>,
  keys: Pick<Store['keys'], 'list'>,
): Promise<KeyRecord> {
  switch (as.kind) {
    case 'role':
      // Lists that filters found are cached by key id, and one role must not read the list of another.
      return {
        ...operatorKey,
        id: `${operatorKey.id} as ${as.role}`,
        role: as.role,
        kind: surface.keyKind,
        systems: [],
      };
    case 'key': {
      const found = (await keys.list()).find(({ id }) => id === as.id);
      if (found === undefined) throw platError('recordNotFound', { resource: 'key' });
      return { ...found, kind: surface.keyKind };
    }
  }
}
