import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Expression, ValueType } from '../../../src/query/tree.ts';
import {
  beds,
  boolean,
  city,
  compare,
  contracted,
  decimal,
  expectExpressions,
  filter,
  integer,
  modified,
  NULL,
  price,
  refusal,
  seconds,
  text,
  timestamp,
} from './fixture.ts';

test('cast and isof', () => {
  const cast = (type: ValueType, operand: Expression): Expression => ({ kind: 'cast', type, operand });
  const ranged = (...range: [number, number]): Expression => ({
    kind: 'cast',
    type: 'integer',
    range,
    operand: city,
  });
  expectExpressions({
    'cast(ListPrice,Edm.String)': cast('string', price),
    'cast(City,Edm.Int64)': ranged(1024 - 2 ** 63, 2 ** 63 - 1024),
    'cast(City,Edm.Int32)': ranged(-2_147_483_648, 2_147_483_647),
    'cast(City,Edm.Int16)': ranged(-32_768, 32_767),
    'cast(City,Edm.SByte)': ranged(-128, 127),
    'cast(City,Edm.Byte)': ranged(0, 255),
    'cast(City,Edm.Decimal)': cast('decimal', city),
    'cast(City,Edm.Boolean)': cast('boolean', city),
    'cast(City,Edm.Date)': cast('date', city),
    'cast(City,Edm.DateTimeOffset)': cast('timestamp', city),
    'cast(City,Edm.TimeOfDay)': cast('time', city),
    'cast(ListingContractDate,Edm.DateTimeOffset)': cast('timestamp', contracted),
    'cast(ModificationTimestamp,Edm.Date)': cast('date', modified),
    'cast(null,Edm.String)': cast('string', NULL),
    "cast(duration'PT1S',Edm.Duration)": cast('duration', seconds(1)),
    'isof(ListPrice,Edm.Decimal)': compare('ne', price, NULL),
    'isof(BedroomsTotal,Edm.Double)': compare('ne', beds, NULL),
    'isof(ListPrice,Edm.String)': boolean(false),
  });
});

test('durations cannot be cast to another type', () => {
  assert.deepEqual(
    refusal(() => filter("cast(City,Edm.Duration) gt duration'PT1S'")),
    ['typeMismatch', '$filter: City (a string) cannot be cast to a duration at position 1.'],
  );
  assert.deepEqual(
    refusal(() => filter("cast(duration'PT1S',Edm.String) eq 'PT1S'")),
    ['typeMismatch', '$filter: a duration cannot be cast to a string at position 1.'],
  );
});

test('all branches of case have one type', () => {
  const when = compare('gt', price, integer(1));
  // biome-ignore-start lint/suspicious/noThenProperty: the tree has that name.
  expectExpressions({
    "case(ListPrice gt 1:'a',true:null)": {
      kind: 'case',
      type: 'string',
      branches: [
        { when, then: text('a') },
        { when: boolean(true), then: NULL },
      ],
    },
    'case(ListPrice gt 1:null,true:null)': NULL,
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
