import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expression, refusal } from './fixture.ts';

test('wrong functions and arguments are rejected with their position', () => {
  const provided = 'is not provided by this service.';
  const wrong: Record<string, [string, string]> = {
    'lenght(City)': ['syntax', 'found the function lenght at position 1, expected length.'],
    'frobnicate(City)': [
      'syntax',
      'found the function frobnicate at position 1, expected a function of OData, such as contains.',
    ],
    'length()': ['syntax', 'found 0 arguments at position 1, expected 1 for length.'],
    'length(City,City)': ['syntax', 'found 2 arguments at position 1, expected 1 for length.'],
    'substring(City)': ['syntax', 'found 1 argument at position 1, expected 2 or 3 for substring.'],
    'length(x=City)': [
      'syntax',
      'found an argument named x at position 10, expected arguments without names.',
    ],
    'length(ListPrice)': [
      'typeMismatch',
      'length takes a string here, not ListPrice (a decimal) at position 8.',
    ],
    'contains(City,1)': ['typeMismatch', 'contains takes a string here, not an integer at position 15.'],
    'substring(City,1.5)': ['typeMismatch', 'substring takes an integer here, not a decimal at position 16.'],
    'substring(City,1,-1)': ['typeMismatch', 'the length of a substring cannot be negative at position 18.'],
    'year(City)': [
      'typeMismatch',
      'year takes a date or a timestamp here, not City (a string) at position 6.',
    ],
    'hour(ListingContractDate)': [
      'typeMismatch',
      'hour takes a timestamp or a time of day here, not ListingContractDate (a date) at position 6.',
    ],
    "totalseconds('x')": [
      'typeMismatch',
      "totalseconds takes a duration here, not 'x' (a string) at position 14.",
    ],
    'round(City)': [
      'typeMismatch',
      'round takes an integer or a decimal here, not City (a string) at position 7.',
    ],
    'contains(Appliances,City)': [
      'typeMismatch',
      'Appliances is a list; use Appliances/any(x: …), Appliances/all(x: …) or Appliances/$count at position 10.',
    ],
    'City add 1': ['typeMismatch', 'add does not work on City (a string) and an integer at position 1.'],
    'ModificationTimestamp mul 2': [
      'typeMismatch',
      'mul does not work on ModificationTimestamp (a timestamp) and an integer at position 1.',
    ],
    '-City': ['typeMismatch', 'City (a string) has no negative at position 1.'],
    'cast(ListPrice,Edm.Date)': [
      'typeMismatch',
      'ListPrice (a decimal) cannot be cast to a date at position 1.',
    ],
    "case(true:1,false:'x')": [
      'typeMismatch',
      "case cannot return both an integer and 'x' (a string) at position 19.",
    ],
    "case(true:duration'P1D',false:'x')": [
      'typeMismatch',
      "case cannot return both a duration and 'x' (a string) at position 31.",
    ],
    'cast(City,Edm.Guid)': ['notImplemented', `cast to the type Edm.Guid at position 1 ${provided}`],
    'isof(Ns.Type)': ['notImplemented', `isof to the type Ns.Type at position 1 ${provided}`],
    'cast(Edm.String)': ['notImplemented', `cast of the record itself at position 1 ${provided}`],
    'Ns.Function(x=1)': ['notImplemented', `the function Ns.Function at position 1 ${provided}`],
    "hassubset(Appliances,['a'])": ['notImplemented', `the function hassubset at position 1 ${provided}`],
    'geo.length(Coordinates)': ['notImplemented', `the function geo.length at position 1 ${provided}`],
    'ListPrice add INF': ['notImplemented', `the number INF at position 15 ${provided}`],
    "binary'Zg'": ['notImplemented', `binary data at position 1 ${provided}`],
    '{"a":1}': ['notImplemented', `a record as a value at position 1 ${provided}`],
    'geo.distance(Coordinates,Coordinates)': [
      'notImplemented',
      `geo.distance of two records at position 1 ${provided}`,
    ],
    "geo.distance(Coordinates,geography'POLYGON((0 0,1 0,1 1,0 0))')": [
      'typeMismatch',
      'geo.distance takes a point, not a polygon at position 1.',
    ],
    "geo.intersects(Coordinates,geography'POINT(0 0)')": [
      'typeMismatch',
      'geo.intersects takes a polygon, not a point at position 1.',
    ],
    'geo.distance(Coordinates,City)': [
      'typeMismatch',
      'geo.distance takes Coordinates and a geography literal at position 26.',
    ],
    "geo.distance(Coordinates,geometry'POINT(0 0)')": [
      'notImplemented',
      `a geometry (write geography) at position 26 ${provided}`,
    ],
    "geo.distance(Coordinates,geography'SRID=0;POINT(0 0)')": [
      'notImplemented',
      `the reference system SRID=0 (write SRID=4326) at position 26 ${provided}`,
    ],
    "geo.distance(Coordinates,geography'POINT(37.7 -122.4)')": [
      'typeMismatch',
      'the point 37.7 -122.4 is not on the globe: longitude comes first at position 26.',
    ],
    "geo.intersects(Coordinates,geography'POLYGON((0 0,1 0,1 1))')": [
      'typeMismatch',
      'a polygon has at least four points, and the last equals the first at position 28.',
    ],
    "geo.intersects(Coordinates,geography'POLYGON((0 0,1 0,1 1,0 0),(0 0))')": [
      'notImplemented',
      `a polygon with holes at position 28 ${provided}`,
    ],
    "geo.intersects(Coordinates,geography'LINESTRING(0 0,1 1)')": [
      'notImplemented',
      `a linestring at position 28 ${provided}`,
    ],
  };
  for (const [source, [code, message]] of Object.entries(wrong)) {
    assert.deepEqual(
      refusal(() => expression(source)),
      [code, `$compute: ${message}`],
      source,
    );
  }
});
