import type { ListedRoom } from '../../packages/demo/src/draw/plan/sheet.ts';
import { childrenOf, filled, type ImportRecord } from '../../packages/demo/src/records.ts';
import type { FieldValues } from '../../src/dictionary/index.ts';

/** The rooms of a listing from which its plan is drawn. */
export function listedRooms(listing: ImportRecord): ListedRoom[] {
  return childrenOf(listing, 'Rooms').map((room) => ({
    key: String(room.RoomKey),
    type: String(room.RoomType),
    level: String(room.RoomLevel),
    length: Number(room.RoomLength),
    width: Number(room.RoomWidth),
  }));
}

/** The listing's own fields, without its children. */
export function ownFacts({ Media, Rooms, UnitTypes, OpenHouses, ...facts }: ImportRecord): FieldValues {
  return filled(
    Object.fromEntries(
      Object.entries(facts).filter(
        (entry): entry is [string, string | number | boolean | string[]] => entry[1] !== null,
      ),
    ),
  );
}
