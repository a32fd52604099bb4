import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collection, expanded, fieldOf, refusal, restricted, selected } from './fixture.ts';

test('a selection keeps its order and separates hidden fields', () => {
  assert.deepEqual(collection('$select=City,AccessCode,ListPrice,City', 'Property', restricted).selection, {
    all: false,
    fields: [fieldOf('City'), fieldOf('ListPrice')],
    hidden: [fieldOf('AccessCode')],
  });
  assert.equal(selected(collection('$select=*,City')), '*');
  // A navigation by itself selects its link; operations of a schema do not exist.
  assert.equal(selected(collection('$select=City,Media,Ns.*,Ns.Act,Ns.Fn(a,b)')), 'City');
});

test('an invalid selection is rejected', () => {
  const wrong: Record<string, [string, string]> = {
    '$select=Foo': ['fieldUnknown', '$select: Property has no field Foo at position 1.'],
    '$select=City,Lisprice': [
      'fieldUnknown',
      '$select: Property has no field Lisprice at position 6. Did you mean ListPrice?',
    ],
    '$select=City/Name': ['typeMismatch', '$select: City is a single value and has no Name at position 1.'],
    '$select=AccessCode/Name': ['fieldUnknown', '$select: Property has no field AccessCode at position 1.'],
    '$select=Media/MediaKey': [
      'optionsConflict',
      '$select and $expand cannot be combined: fields of Media are selected, but it is not expanded.',
    ],
    '$select=Media/Foo&$expand=Media': ['fieldUnknown', '$select: Media has no field Foo at position 7.'],
    '$select=Ns.Type/City': [
      'notImplemented',
      '$select: the type cast Ns.Type at position 1 is not provided by this service.',
    ],
    '$select=@Core.Messages': [
      'notImplemented',
      '$select: the annotation @Core.Messages at position 1 is not provided by this service.',
    ],
    '$select=Appliances($top=1)': [
      'notImplemented',
      '$select: options of an item at position 1 is not provided by this service.',
    ],
    '$select=': ['syntax', '$select: found the end at position 1, expected a field or *.'],
    '$select=City,,Media': ['syntax', '$select: found , at position 6, expected a field or *.'],
    '$select=City Media': ['syntax', '$select: found Media at position 6, expected "," or the end.'],
  };
  for (const [query, error] of Object.entries(wrong)) {
    assert.deepEqual(
      refusal(() => collection(query, 'Property', restricted)),
      error,
      query,
    );
  }
});

test('a selection may contain paths into expansions', () => {
  assert.equal(
    expanded(collection('$select=City,Media/MediaURL,Media/Order&$expand=Media,ListAgent')),
    'Media:records[MediaURL,Order] ListAgent:records[*]',
  );
  assert.equal(
    expanded(collection('$select=Media/MediaURL&$expand=Media($select=Order)')),
    'Media:records[Order,MediaURL]',
  );
  assert.equal(
    expanded(collection('$select=ListAgent/Office/OfficeName&$expand=ListAgent($expand=Office)')),
    'ListAgent:records[](Office:records[OfficeName])',
  );
  assert.equal(expanded(collection('$select=Rooms/RoomKey&$expand=Room')), 'Room:records[RoomKey]');
});
