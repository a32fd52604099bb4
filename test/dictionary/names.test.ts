import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findNavigation, type Resource, standardDictionary } from '../../src/dictionary/index.ts';

function resource(name: string): Resource {
  const found = standardDictionary().resources.get(name);
  assert.ok(found);
  return found;
}

test('collections of listings also have a singular and a short name', () => {
  const found = (name: string): string | undefined => findNavigation(resource('Property'), name)?.name;
  assert.equal(found('Rooms'), 'Rooms');
  assert.equal(found('Room'), 'Rooms');
  assert.equal(found('Unit'), 'UnitTypes');
  assert.equal(found('OpenHouse'), 'OpenHouses');
  assert.equal(found('GreenBuildingVerification'), 'GreenBuildingVerifications');
  assert.equal(found('Medias'), undefined);
  assert.equal(found('room'), undefined);
});

test('other resources have one name', () => {
  assert.equal(findNavigation(resource('Member'), 'Room'), undefined);
  assert.equal(findNavigation(resource('PropertyRooms'), 'Listing')?.target, 'Property');
});
