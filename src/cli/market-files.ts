import { drawFile, RENDITIONS } from 'plat-demo';
import type { FileSource } from '../service/options.ts';
import type { Store } from '../store/store.ts';
import type { Rasterizer } from './photos/rasterizer.ts';

/** The drawn pictures and plans of a market, made when they are asked for. */
export function marketFiles(store: Store, rasterizer: Rasterizer): FileSource {
  return {
    open: async (path, { width, caller }) => {
      const { settings } = await store.model();
      if (settings.market === undefined) return undefined;
      const file = await drawFile(path, {
        listing: async (key) => (await store.contents('Property', { key }))[0],
        rooms: (key) => store.contents('PropertyRooms', { parent: key, parentResource: 'Property' }),
      });
      if (file === undefined || file.kind === 'whole') return file;
      const { svg, format } = file;
      const drawing = { svg, format, width: renditionOf(file.width, width) };
      return {
        type: `image/${format}`,
        version: `${format} ${drawing.width} ${svg}`,
        body: () => rasterizer.rasterize(drawing, caller),
      };
    },
  };
}

/** The narrowest rendition that is as wide as it is shown; the photo itself where none is narrower. */
function renditionOf(own: number, shown = own): number {
  return RENDITIONS.find((width) => width >= shown && width < own) ?? own;
}
