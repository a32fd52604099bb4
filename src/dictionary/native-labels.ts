/**
 * How the native interface names the fields of rooms and units in its lists of one-member objects (reference:
 * native-v1, sub-resources).
 */
export const ROOM_LABELS: ReadonlyMap<string, string> = new Map([
  ['RoomType', 'Room Name'],
  ['RoomLevel', 'Room Level'],
  ['RoomDimensions', 'Room Dimensions'],
  ['RoomLength', 'Room Length'],
  ['RoomWidth', 'Room Width'],
  ['RoomLengthWidthUnits', 'Room Length Width Units'],
  ['RoomArea', 'Room Area'],
  ['RoomAreaUnits', 'Room Area Units'],
  ['RoomFeatures', 'Room Features'],
  ['RoomDescription', 'Room Remarks'],
]);

export const UNIT_LABELS: ReadonlyMap<string, string> = new Map([
  ['UnitTypeType', 'Unit Name'],
  ['UnitTypeBedsTotal', 'Unit Bedrooms'],
  ['UnitTypeBathsTotal', 'Unit Bathrooms'],
  ['UnitTypeUnitsTotal', 'Number Of Units'],
  ['UnitTypeFurnished', 'Unit Furnished'],
  ['UnitTypeGarageSpaces', 'Unit Garage Spaces'],
  ['UnitTypeGarageAttachedYN', 'Unit Garage Attached'],
  ['UnitTypeActualRent', 'Unit Actual Rent'],
  ['UnitTypeProForma', 'Unit Pro Forma Rent'],
  ['UnitTypeTotalRent', 'Unit Total Rent'],
  ['UnitTypeDescription', 'Unit Remarks'],
]);
