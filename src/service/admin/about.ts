/** What the console must know before any other request. */
import type { Store } from '../../store/store.ts';
import type { Exchange } from '../exchange.ts';
import { PUBLIC_SURFACES, SURFACE } from '../surface.ts';
import type { AdminContext } from './admin-route.ts';

/** The interfaces and their addresses, and the roles of the store. */
export async function about(store: Store, addressOf: AdminContext['addressOf'], { arrival }: Exchange) {
  const { settings, rules } = await store.model();
  const surfaces = PUBLIC_SURFACES.map((name) => {
    const { resoRoot, nativeRoot } = SURFACE[name];
    return { name, address: addressOf(name, arrival), resoRoot, nativeRoot };
  });
  return { store: store.name, owner: settings.owner, surfaces, roles: [...rules.roles.keys()] };
}
