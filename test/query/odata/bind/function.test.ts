import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Expression, Literal, ValueType } from '../../../../src/query/tree.ts';
import {
  boolean,
  call,
  collection,
  compare,
  date,
  decimal,
  field,
  filter,
  integer,
  LOCATION,
  NULL,
  navigationOf,
  refusal,
  seconds,
  text,
  time,
  timestamp,
} from '../fixture.ts';

/** What an expression of any type is bound to. */
function expression(source: string): Expression | undefined {
  return collection(`$compute=${encodeURIComponent(source)} as Result`).computed[0]?.expression;
}

const expectAll = (expected: Record<string, Expression>): void => {
  for (const [source, tree] of Object.entries(expected)) assert.deepEqual(expression(source), tree, source);
};

const [city, price, beds] = [field('City'), field('ListPrice'), field('BedroomsTotal')];
const [contracted, modified] = [field('ListingContractDate'), field('ModificationTimestamp')];

test('text functions', () => {
  expectAll({
    "contains(City,'a')": call('contains', 'boolean', city, text('a')),
    "startswith(City,'a')": call('startswith', 'boolean', city, text('a')),
    "endswith('abc',City)": call('endswith', 'boolean', text('abc'), city),
    'length(City)': call('length', 'integer', city),
    "indexof(City,'a')": call('indexof', 'integer', city, text('a')),
    'substring(City,1)': call('substring', 'string', city, integer(1)),
    'substring(City, 1, BedroomsTotal)': call('substring', 'string', city, integer(1), beds),
    'tolower(City)': call('tolower', 'string', city),
    'toupper(City)': call('toupper', 'string', city),
    'trim(City)': call('trim', 'string', city),
    "concat(concat(City,', '),StateOrProvince)": call(
      'concat',
      'string',
      call('concat', 'string', city, text(', ')),
      field('StateOrProvince'),
    ),
    'length(null)': call('length', 'integer', NULL),
  });
});

test('patterns are literals, checked when they are read', () => {
  expectAll({
    "matchespattern(City,'^R.*e$')": {
      kind: 'matches',
      operand: city,
      pattern: '^R.*e$',
      ignoreCase: false,
    },
    "matchesPattern(City,'^r','i')": { kind: 'matches', operand: city, pattern: '^r', ignoreCase: true },
  });
  const wrong: Record<string, [string, string]> = {
    "matchespattern(City,'(')": ['typeMismatch', "$compute: '(' is not a regular expression at position 21."],
    'matchespattern(City,1)': [
      'typeMismatch',
      '$compute: the pattern of matchespattern must be a string, not an integer at position 21.',
    ],
    'matchespattern(City,City)': [
      'notImplemented',
      '$compute: a value that is no literal as the pattern of matchespattern at position 21 is not provided by this service.',
    ],
    "matchespattern(City,'a','x')": [
      'notImplemented',
      '$compute: the flags "x" of matchespattern at position 25 is not provided by this service.',
    ],
    "matchespattern(ListPrice,'a')": [
      'typeMismatch',
      '$compute: matchespattern takes a string here, not ListPrice (a decimal) at position 16.',
    ],
  };
  for (const [source, error] of Object.entries(wrong)) {
    assert.deepEqual(
      refusal(() => expression(source)),
      error,
      source,
    );
  }
});

test('date and time functions', () => {
  expectAll({
    'year(ListingContractDate)': call('year', 'integer', contracted),
    'month(2024-05-31)': call('month', 'integer', date('2024-05-31')),
    'day(ModificationTimestamp)': call('day', 'integer', modified),
    'hour(ModificationTimestamp)': call('hour', 'integer', modified),
    'minute(08:30:00)': call('minute', 'integer', time('08:30:00')),
    'second(ModificationTimestamp)': call('second', 'integer', modified),
    'fractionalseconds(ModificationTimestamp)': call('fractionalseconds', 'decimal', modified),
    'date(ModificationTimestamp)': call('date', 'date', modified),
    'time(ModificationTimestamp)': call('time', 'time', modified),
    'totaloffsetminutes(ModificationTimestamp)': call('totaloffsetminutes', 'integer', modified),
    "totalseconds(duration'PT90M')": call('totalseconds', 'decimal', seconds(5400)),
    "totalseconds('PT90M')": call('totalseconds', 'decimal', seconds(5400)),
    'now()': call('now', 'timestamp'),
    'mindatetime( )': call('mindatetime', 'timestamp'),
    'maxdatetime()': call('maxdatetime', 'timestamp'),
  });
});

test('literals of time are canonical', () => {
  expectAll({
    '08:30': time('08:30:00'),
    '08:30:05.120456': time('08:30:05.120'),
    '23:59:60': time('23:59:59'),
    "duration'P1DT2H3M4.5S'": seconds(93784.5),
    "duration'-PT1S'": seconds(-1),
    "duration'-PT0S'": seconds(0),
    '2024-02-29': date('2024-02-29'),
    '1972-06-30T23:59:60Z': timestamp('1972-07-01T00:00:00Z'),
  });
});

test('rounding keeps the type of number', () => {
  expectAll({
    'round(ListPrice)': call('round', 'decimal', price),
    'floor(BedroomsTotal)': call('floor', 'integer', beds),
    'ceiling(2.5)': call('ceiling', 'decimal', decimal(2.5)),
  });
});

const arithmetic = (
  operator: 'add' | 'sub' | 'mul' | 'div' | 'divby' | 'mod',
  type: ValueType,
  left: Expression,
  right: Expression,
): Expression => ({ kind: 'arithmetic', operator, type, left, right });

test('arithmetic of numbers: two integers give an integer, except by divby', () => {
  expectAll({
    'BedroomsTotal add 1': arithmetic('add', 'integer', beds, integer(1)),
    'BedroomsTotal sub 1.5': arithmetic('sub', 'decimal', beds, decimal(1.5)),
    'ListPrice mul 2': arithmetic('mul', 'decimal', price, integer(2)),
    'BedroomsTotal div 2': arithmetic('div', 'integer', beds, integer(2)),
    'BedroomsTotal divby 2': arithmetic('divby', 'decimal', beds, integer(2)),
    'BedroomsTotal mod 2': arithmetic('mod', 'integer', beds, integer(2)),
    'ListPrice add null': arithmetic('add', 'decimal', price, NULL),
    'null add null': arithmetic('add', 'null', NULL, NULL),
    '-ListPrice': { kind: 'negate', type: 'decimal', operand: price },
    '-5': integer(-5),
    '- 5': integer(-5),
    '-(5)': integer(-5),
    '-0': integer(0),
    '-null': NULL,
  });
});

test('arithmetic of dates and durations', () => {
  const day: Literal = seconds(86_400);
  const midnight: Expression = { kind: 'cast', type: 'timestamp', operand: contracted };
  expectAll({
    "now() sub duration'P1D'": arithmetic('sub', 'timestamp', call('now', 'timestamp'), day),
    "now() sub 'P1D'": arithmetic('sub', 'timestamp', call('now', 'timestamp'), day),
    "'P1D' add ListingContractDate": arithmetic('add', 'date', day, contracted),
    "ListingContractDate sub 'P1D'": arithmetic('sub', 'date', contracted, day),
    'ModificationTimestamp sub OriginalEntryTimestamp': arithmetic(
      'sub',
      'duration',
      modified,
      field('OriginalEntryTimestamp'),
    ),
    'ModificationTimestamp sub ListingContractDate': arithmetic('sub', 'duration', modified, midnight),
    'ListingContractDate sub 2024-01-01': arithmetic('sub', 'duration', contracted, date('2024-01-01')),
    "duration'P1D' add duration'P1D'": arithmetic('add', 'duration', day, day),
    "duration'P1D' mul BedroomsTotal": arithmetic('mul', 'duration', day, beds),
    "2 mul duration'P1D'": arithmetic('mul', 'duration', integer(2), day),
    "duration'P1D' divby 2": arithmetic('divby', 'duration', day, integer(2)),
    'ModificationTimestamp add null': arithmetic('add', 'timestamp', modified, NULL),
    "-duration'P1D'": seconds(-86_400),
    '-(ModificationTimestamp sub OriginalEntryTimestamp)': {
      kind: 'negate',
      type: 'duration',
      operand: arithmetic('sub', 'duration', modified, field('OriginalEntryTimestamp')),
    },
  });
});

test('cast and isof', () => {
  const cast = (type: ValueType, operand: Expression): Expression => ({ kind: 'cast', type, operand });
  expectAll({
    'cast(ListPrice,Edm.String)': cast('string', price),
    'cast(City,Edm.Int32)': cast('integer', city),
    'cast(City,Edm.Decimal)': cast('decimal', city),
    'cast(City,Edm.Boolean)': cast('boolean', city),
    'cast(City,Edm.Date)': cast('date', city),
    'cast(City,Edm.DateTimeOffset)': cast('timestamp', city),
    'cast(City,Edm.TimeOfDay)': cast('time', city),
    'cast(City,Edm.Duration)': cast('duration', city),
    'cast(ListPrice,Edm.Int64)': cast('integer', price),
    'cast(ListingContractDate,Edm.DateTimeOffset)': cast('timestamp', contracted),
    'cast(ModificationTimestamp,Edm.Date)': cast('date', modified),
    'cast(null,Edm.String)': cast('string', NULL),
    'isof(ListPrice,Edm.Decimal)': compare('ne', price, NULL),
    'isof(BedroomsTotal,Edm.Double)': compare('ne', beds, NULL),
    'isof(ListPrice,Edm.String)': boolean(false),
  });
});

test('case gives one type', () => {
  const when = compare('gt', price, integer(1));
  // biome-ignore-start lint/suspicious/noThenProperty: the tree has that name.
  expectAll({
    "case(ListPrice gt 1:'a',true:null)": {
      kind: 'case',
      type: 'string',
      branches: [
        { when, then: text('a') },
        { when: boolean(true), then: NULL },
      ],
    },
    'case(ListPrice gt 1:1,true:2.5)': {
      kind: 'case',
      type: 'decimal',
      branches: [
        { when, then: integer(1) },
        { when: boolean(true), then: decimal(2.5) },
      ],
    },
    'case(true:2024-01-01,ListPrice gt 1:ModificationTimestamp)': {
      kind: 'case',
      type: 'timestamp',
      branches: [
        { when: boolean(true), then: timestamp('2024-01-01T00:00:00Z') },
        { when, then: modified },
      ],
    },
  });
  // biome-ignore-end lint/suspicious/noThenProperty: the tree has that name.
});

test('geography over the point of a record', () => {
  const to = { longitude: -122.4, latitude: 37.7 };
  const near: Expression = { kind: 'distance', location: LOCATION, to };
  const corners = [
    { longitude: 0, latitude: 0 },
    { longitude: 1, latitude: 0 },
    { longitude: 1, latitude: 1 },
    { longitude: 0, latitude: 0 },
  ];
  expectAll({
    "geo.distance(Coordinates,geography'SRID=4326;POINT(-122.4 37.7)')": near,
    "GEO.Distance(geography'Point(-122.4 37.7)', Coordinates)": near,
    "geo.intersects(Coordinates,geography'SRID=4326;POLYGON((0 0,1 0,1 1,0 0))')": {
      kind: 'within',
      location: LOCATION,
      polygon: corners,
    },
  });
  const office = filter("OpenHouses/any(o:geo.distance(o/Listing/Coordinates,geography'POINT(0 0)') lt 5)");
  assert.ok(office.kind === 'any' && office.predicate?.kind === 'compare');
  assert.deepEqual(office.predicate.left, {
    kind: 'distance',
    location: { ...LOCATION, scope: 1, via: [navigationOf('Listing', 'OpenHouse')] },
    to: { longitude: 0, latitude: 0 },
  });
});

test('function names are understood in any case', () => {
  expectAll({
    "CONTAINS(ToLower(City),'a')": call('contains', 'boolean', call('tolower', 'string', city), text('a')),
  });
});

test('wrong functions and arguments are refused where they stand', () => {
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
      "case cannot give both an integer and 'x' (a string) at position 19.",
    ],
    "case(true:duration'P1D',false:'x')": [
      'typeMismatch',
      "case cannot give both a duration and 'x' (a string) at position 31.",
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
