/** A table of the rooms of a listing, for display beside a floor plan. */

import type { Fields } from './listing-record.ts';
import { ScrollBox } from './scroll-box.tsx';
import { isEmpty, shownValue } from './words.ts';

const text = (room: Fields, field: string): string =>
  isEmpty(room[field]) ? '' : shownValue(field, room[field]);

/** `31.5 × 13.5 feet`, from what the record has. */
function sizeOf(room: Fields): string {
  const { RoomLength, RoomWidth } = room;
  if (typeof RoomLength !== 'number' || typeof RoomWidth !== 'number') return text(room, 'RoomDimensions');
  return `${RoomLength} × ${RoomWidth} ${text(room, 'RoomLengthWidthUnits').toLowerCase().replace('feet', 'ft')}`.trim();
}

const areaOf = (room: Fields): string =>
  isEmpty(room.RoomArea)
    ? ''
    : `${text(room, 'RoomArea')} ${text(room, 'RoomAreaUnits').toLowerCase().replace('square feet', 'sq ft')}`;

export function RoomTable({ rooms }: { readonly rooms: readonly Fields[] }) {
  return (
    <ScrollBox label="Table of rooms">
      <table class="rooms">
        <thead>
          <tr>
            <th scope="col">Room</th>
            <th scope="col">Level</th>
            <th scope="col">Size</th>
            <th scope="col" class="number">
              Area
            </th>
          </tr>
        </thead>
        <tbody>
          {rooms.map((room) => (
            <tr key={room.RoomKey}>
              <th scope="row">
                {text(room, 'RoomType') || 'Room'}
                {isEmpty(room.RoomDescription) ? null : (
                  <span class="note">{text(room, 'RoomDescription')}</span>
                )}
              </th>
              <td>{text(room, 'RoomLevel')}</td>
              <td class="figure">{sizeOf(room)}</td>
              <td class="number figure">{areaOf(room)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}
