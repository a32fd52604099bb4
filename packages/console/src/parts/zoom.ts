/** The arithmetic of zooming and moving a picture in a box. This module knows no page. */

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The placement of a picture in its box: the position of its upper left corner, and its scale. */
export interface Placement {
  readonly scale: number;
  readonly x: number;
  readonly y: number;
}

/** The largest magnification, relative to the whole picture in its box. */
const MOST = 12;

export function wholeIn(box: Size, picture: Size): Placement {
  const scale = Math.min(box.width / picture.width, box.height / picture.height);
  return {
    scale,
    x: (box.width - picture.width * scale) / 2,
    y: (box.height - picture.height * scale) / 2,
  };
}

/** The nearest placement at which the picture covers its box or, if it is too small for that, is centered. */
function kept({ scale, x, y }: Placement, box: Size, picture: Size): Placement {
  const along = (at: number, room: number, length: number): number =>
    length <= room ? (room - length) / 2 : Math.min(0, Math.max(room - length, at));
  return {
    scale,
    x: along(x, box.width, picture.width * scale),
    y: along(y, box.height, picture.height * scale),
  };
}

export const moved = (place: Placement, dx: number, dy: number, box: Size, picture: Size): Placement =>
  kept({ ...place, x: place.x + dx, y: place.y + dy }, box, picture);

/** Zooms around a point of the box, which keeps its position. */
export function zoomed(
  place: Placement,
  factor: number,
  at: { readonly x: number; readonly y: number },
  box: Size,
  picture: Size,
): Placement {
  const least = wholeIn(box, picture).scale;
  const scale = Math.min(least * MOST, Math.max(least, place.scale * factor));
  const grown = scale / place.scale;
  return kept(
    { scale, x: at.x - (at.x - place.x) * grown, y: at.y - (at.y - place.y) * grown },
    box,
    picture,
  );
}

/** The current magnification, relative to the whole picture in its box. */
export const enlargement = (place: Placement, box: Size, picture: Size): number =>
  place.scale / wholeIn(box, picture).scale;
