import { amountOf, wordOf } from './draw/facts.ts';
import { drawTour, drawVideo } from './draw/moving.ts';
import { drawDocument } from './draw/paper.ts';
import { drawPhoto } from './draw/photo.ts';
import { drawFloorPlan, type ListedRoom } from './draw/plan/sheet.ts';
import { mediaKey, parseMediaPath } from './media-keys.ts';
import { type PhotoShape, photoShape } from './photo-shape.ts';
import { hashText } from './random.ts';
import type { FieldValues } from './values.ts';

/** Where the facts of a drawing come from: fields by their RESO names. */
export interface MediaSource {
  /** The Property record; undefined if there is none. */
  listing(key: string): Promise<FieldValues | undefined>;
  /** The PropertyRooms records of a listing. */
  rooms(key: string): Promise<readonly FieldValues[]>;
}

/** A file as it is, or the drawing of one that has to be made of pixels. */
export type DrawnFile =
  | { readonly kind: 'whole'; readonly type: 'image/svg+xml' | 'application/pdf'; readonly body: string }
  | ({ readonly kind: 'photo'; readonly svg: string } & PhotoShape);

function listedRoom(record: FieldValues): ListedRoom {
  return {
    key: wordOf(record, 'RoomKey'),
    type: wordOf(record, 'RoomType'),
    level: wordOf(record, 'RoomLevel'),
    length: amountOf(record, 'RoomLength'),
    width: amountOf(record, 'RoomWidth'),
  };
}

/**
 * Draws the file of a relative MediaURL of the market, such as `photo/<MediaKey>.jpg`.
 * Whether the asker may have it is for the caller to know.
 * @returns undefined when the path is none of the market's, or its listing or rooms are gone
 */
export async function drawFile(path: string, source: MediaSource): Promise<DrawnFile | undefined> {
  const file = parseMediaPath(path);
  if (file === undefined) return undefined;
  const { name, isDrawing } = file;
  const listing = await source.listing(name.listing);
  if (listing === undefined) return undefined;
  const seed = hashText(mediaKey(name));
  switch (name.kind) {
    case 'photo': {
      if (isDrawing) return svg(drawPhoto(name.scene, seed, listing));
      const shape = photoShape(name.listing);
      return { kind: 'photo', svg: drawPhoto(name.scene, seed, listing, shape), ...shape };
    }
    case 'tour':
      return svg(drawTour(name.branded, seed, listing));
    case 'video':
      return svg(drawVideo(seed, listing));
    case 'document':
      return { kind: 'whole', type: 'application/pdf', body: drawDocument(name.about, listing) };
    case 'plan': {
      if (listing.OriginatingSystemID !== name.system) return undefined;
      const rooms = (await source.rooms(name.listing))
        .map(listedRoom)
        .filter(({ length, width }) => length * width > 0);
      return rooms.length === 0 ? undefined : svg(drawFloorPlan(rooms, listing));
    }
  }
}

function svg(body: string): DrawnFile {
  return { kind: 'whole', type: 'image/svg+xml', body };
}
