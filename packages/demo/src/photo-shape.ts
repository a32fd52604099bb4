import { hashText, makeRandom } from './random.ts';

/** A drawn picture as it is stored, or as vectors. */
export type PhotoFormat = 'jpeg' | 'webp';

/** What comes out of a camera: the format of its files, and how many pixels they have. */
export interface PhotoShape {
  readonly format: PhotoFormat;
  readonly width: number;
  readonly height: number;
}

/** The widths to which a photo can be had, besides its own: those of the native interface's renditions. */
export const RENDITIONS = [150, 300, 640, 800, 1024, 1280, 1600, 2048] as const;

/** The camera of a listing: all its photos are alike, and those of other listings differ. */
export function photoShape(listing: string): PhotoShape {
  const random = makeRandom(hashText(listing), 'camera');
  const format = random.weighted([
    ['jpeg', 65],
    ['webp', 35],
  ] as const);
  const width = random.weighted([
    [1024, 35],
    [1280, 35],
    [1600, 20],
    [2048, 10],
  ]);
  const height = Math.round(width / (random.chance(0.65) ? 3 / 2 : 4 / 3));
  return { format, width, height };
}
