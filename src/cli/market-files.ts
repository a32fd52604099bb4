import { drawFile } from '../demo/index.ts';
import type { FileSource } from '../service/options.ts';
import type { Store } from '../store/store.ts';

/** The drawn pictures and plans of a market, made when they are asked for. */
export function marketFiles(store: Store): FileSource {
  return {
    open: async (path) => {
      const { settings } = await store.model();
      if (settings.market === undefined) return undefined;
      return drawFile(path, {
        listing: async (key) => (await store.contents('Property', { key }))[0],
        rooms: (key) => store.contents('PropertyRooms', { parent: key, parentResource: 'Property' }),
      });
    },
  };
}
