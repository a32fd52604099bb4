import type { Scene } from '../media-keys.ts';
import type { PhotoShape } from '../photo-shape.ts';
import { makeRandom } from '../random.ts';
import type { FieldValues } from '../values.ts';
import { lookOf, roomLook, type SceneContext } from './look.ts';
import { HEIGHT, WIDTH } from './outdoors.ts';
import { drawFront } from './scenes/front.ts';
import { drawKitchen } from './scenes/kitchen.ts';
import { drawDining, drawLiving } from './scenes/living.ts';
import { drawGarden, drawLot, drawView } from './scenes/outside.ts';
import { drawBath, drawBedroom, drawOffice } from './scenes/private-rooms.ts';
import { document } from './svg.ts';

const DRAWINGS: Readonly<Record<Scene, (context: SceneContext) => string>> = {
  front: drawFront,
  living: drawLiving,
  kitchen: drawKitchen,
  dining: drawDining,
  bedroom: drawBedroom,
  bath: drawBath,
  office: drawOffice,
  garden: drawGarden,
  view: drawView,
  lot: drawLot,
};

/** Rooms of which a listing has several; the others are each shown once, or from several sides. */
const PAINTED: ReadonlySet<Scene> = new Set(['bedroom', 'bath', 'office']);

/** The content of one scene; `id` keeps the ids of several scenes on a page apart. */
export function drawScene(scene: Scene, seed: number, listing: FieldValues, id: string): string {
  const look = lookOf(listing);
  const painted = PAINTED.has(scene) ? roomLook(look, makeRandom(seed, 'room')) : look;
  return DRAWINGS[scene]({ listing, look: painted, random: makeRandom(seed, scene), id });
}

/**
 * A drawn photo, 1200 by 800, or less of its sides where the camera takes narrower pictures. The seed decides the details, the facts of the listing what is shown;
 * status and prices play no part, so a photo stays the same while a listing is sold.
 */
export function drawPhoto(
  scene: Scene,
  seed: number,
  listing: FieldValues,
  { width, height }: Pick<PhotoShape, 'width' | 'height'> = { width: WIDTH, height: HEIGHT },
): string {
  const left = Math.max(0, (WIDTH - (HEIGHT * width) / height) / 2);
  return document(WIDTH, HEIGHT, [drawScene(scene, seed, listing, '')], left);
}
