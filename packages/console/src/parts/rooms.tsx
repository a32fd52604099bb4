/** A table of the rooms of a listing, for display beside a floor plan. */

import type { Fields } from './listing-record.ts';
import { Table } from './table.tsx';
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

export const RoomTable = ({ rooms }: { readonly rooms: readonly Fields[] }) => (
  <Table
    label="Table of rooms"
    class="rooms"
    rows={rooms}
    keyOf={({ RoomKey }) => String(RoomKey)}
    columns={[
      { title: 'Room', cell: nameOf },
      { title: 'Level', cell: (room) => text(room, 'RoomLevel') },
      { title: 'Size', class: 'figure', cell: sizeOf },
      { title: 'Area', isNumber: true, class: 'figure', cell: areaOf },
    ]}
  />
);

const nameOf = (room: Fields) => (
  <>
    {text(room, 'RoomType') || 'Room'}
    {isEmpty(room.RoomDescription) ? null : <span class="note">{text(room, 'RoomDescription')}</span>}
  </>
);
