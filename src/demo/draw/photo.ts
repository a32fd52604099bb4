import type { FieldValues } from '../../dictionary/index.ts';
import type { Scene } from '../media-keys.ts';
import { makeRandom } from '../random.ts';
import { lookOf, type SceneContext } from './look.ts';
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

/** The content of one scene; `id` keeps the ids of several scenes on a page apart. */
export function drawScene(scene: Scene, seed: number, listing: FieldValues, id: string): string {
  return DRAWINGS[scene]({ listing, look: lookOf(listing), random: makeRandom(seed, scene), id });
}

/**
 * A drawn photo, 1200 by 800. The seed decides the details, the facts of the listing what is shown;
 * status and prices play no part, so a photo stays the same while a listing is sold.
 */
export function drawPhoto(scene: Scene, seed: number, listing: FieldValues): string {
  return document(WIDTH, HEIGHT, [drawScene(scene, seed, listing, '')]);
}
