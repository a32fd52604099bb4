import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Expression, FunctionName, ValueType } from '../../../src/query/tree.ts';
import { bound, compare, date, decimal, errorOf, NULL, ref, text, whole } from './fixture.ts';

const call = (fn: FunctionName, type: ValueType, ...args: Expression[]): Expression => ({
  kind: 'call',
  type,
  function: fn,
  arguments: args,
});
const cast = (type: ValueType, operand: Expression): Expression => ({ kind: 'cast', type, operand });
const city = ref('City');
const price = ref('ListPrice');
const modified = ref('ModificationTimestamp');
const closed = ref('CloseDate');
const time = (value: string): Expression => ({ kind: 'literal', type: 'time', value });

describe('functions of fields', () => {
  const cases: readonly (readonly [string, Expression, Expression])[] = [
    ["tolower(City) Eq 'a'", call('tolower', 'string', city), text('a')],
    ["toupper(City) Eq 'A'", call('toupper', 'string', city), text('A')],
    ["trim(City) Eq 'A'", call('trim', 'string', city), text('A')],
    ['length(City) Eq 3', call('length', 'integer', city), whole(3)],
    ["substring(City,1) Eq 'x'", call('substring', 'string', city, whole(1)), text('x')],
    ["substring(City,1,2) Eq 'x'", call('substring', 'string', city, whole(1), whole(2)), text('x')],
    ["indexof(City,'x') Eq 2", call('indexof', 'integer', city, text('x')), whole(2)],
    ["concat(City,'x') Eq 'ax'", call('concat', 'string', city, text('x')), text('ax')],
    ["cast(ListPrice,'character') Eq '1'", cast('string', price), text('1')],
    ["cast(City,'integer') Eq 1", cast('integer', city), whole(1)],
    ["cast(City,'decimal') Eq 1", cast('decimal', city), whole(1)],
    ['round(ListPrice) Eq 1', call('round', 'integer', price), whole(1)],
    ['ceiling(ListPrice) Eq 1.5', call('ceiling', 'integer', price), decimal(1.5)],
    ['floor(BedroomsTotal) Eq 1', call('floor', 'integer', ref('BedroomsTotal')), whole(1)],
    ['date(ModificationTimestamp) Eq 2026-01-31', call('date', 'date', modified), date('2026-01-31')],
    ['date(CloseDate) Eq 2026-01-31', call('date', 'date', closed), date('2026-01-31')],
    ['time(ModificationTimestamp) Eq 10:22', call('time', 'time', modified), time('10:22:00')],
    ['time(ModificationTimestamp) Eq 10:22:05.250', call('time', 'time', modified), time('10:22:05.250')],
    ['year(CloseDate) Eq 2026', call('year', 'integer', closed), whole(2026)],
    ['month(ModificationTimestamp) Eq 1', call('month', 'integer', modified), whole(1)],
    ['day(CloseDate) Eq 1', call('day', 'integer', closed), whole(1)],
    ['hour(ModificationTimestamp) Eq 1', call('hour', 'integer', modified), whole(1)],
    ['minute(ModificationTimestamp) Eq 1', call('minute', 'integer', modified), whole(1)],
    ['second(ModificationTimestamp) Eq 1', call('second', 'integer', modified), whole(1)],
    [
      'fractionalseconds(ModificationTimestamp) Eq 1',
      call('fractionalseconds', 'decimal', modified),
      whole(1),
    ],
    ['dayofyear(CloseDate) Eq 1', call('dayofyear', 'integer', closed), whole(1)],
    ['dayofweek(ModificationTimestamp) Eq 1', call('dayofweek', 'integer', modified), whole(1)],
    ["tolower(trim(City)) Eq 'a'", call('tolower', 'string', call('trim', 'string', city)), text('a')],
    ['length(City) Eq NULL', call('length', 'integer', city), NULL],
  ];
  for (const [filter, left, right] of cases) {
    it(filter, () => assert.deepEqual(bound(filter), compare('eq', left, right)));
  }
});

describe('arithmetic with fields', () => {
  const bedrooms = ref('BedroomsTotal');
  const arithmetic = (
    operator: 'add' | 'sub' | 'mul' | 'div' | 'mod',
    type: ValueType,
    left: Expression,
    right: Expression,
  ): Expression => ({ kind: 'arithmetic', type, operator, left, right });
  const cases: readonly (readonly [string, Expression, Expression])[] = [
    ['BedroomsTotal Add 2 Gt 3', arithmetic('add', 'integer', bedrooms, whole(2)), whole(3)],
    ['BedroomsTotal Div 2 Gt 1.5', arithmetic('div', 'integer', bedrooms, whole(2)), decimal(1.5)],
    ['ListPrice Div 2 Gt 3', arithmetic('div', 'decimal', price, whole(2)), whole(3)],
    ['BedroomsTotal Mul 2.5 Gt 3', arithmetic('mul', 'decimal', bedrooms, decimal(2.5)), whole(3)],
    ['ListPrice Sub ListPrice Gt 0', arithmetic('sub', 'decimal', price, price), whole(0)],
    ['10 Mod BedroomsTotal Gt 0', arithmetic('mod', 'integer', whole(10), bedrooms), whole(0)],
    ['-ListPrice Gt -5', { kind: 'negate', type: 'decimal', operand: price }, whole(-5)],
    [
      'year(CloseDate) Add 1 Gt 2026',
      arithmetic('add', 'integer', call('year', 'integer', closed), whole(1)),
      whole(2026),
    ],
  ];
  for (const [filter, left, right] of cases) {
    it(filter, () => assert.deepEqual(bound(filter), compare('gt', left, right)));
  }
});

describe('left sides with wrong types', () => {
  const cases: readonly (readonly [string, string])[] = [
    ["City Add 3.0 Eq 'Fargo'", 'Add takes numbers, but City is a text at position 6'],
    ['length(ListPrice) Eq 1', 'length() takes a text, but ListPrice is a decimal number at position 1'],
    ['round(City) Eq 1', 'round() takes a number, but City is a text at position 1'],
    ['year(City) Eq 1', 'year() takes a date or a timestamp, but City is a text at position 1'],
    ['hour(CloseDate) Eq 1', 'hour() takes a timestamp, but CloseDate is a date at position 1'],
    ['-City Eq 1', 'City is a text and cannot be negative at position 1'],
    ['Location Add 1 Eq 1', 'Location can only be compared with a shape at position 1'],
    ['length(Location) Eq 1', 'Location can only be compared with a shape at position 8'],
    ['-all(ListPrice) Eq 1', 'all() cannot be negative at position 1'],
    ['all(City) Gt 1', 'all() takes Eq or Ne at position 11'],
    ['Location Gt 1', 'Location takes Eq or Ne at position 10'],
    [
      'BedroomsTotal Eq 1.5',
      'BedroomsTotal is a whole number and cannot be compared with a decimal number at position 18',
    ],
    [
      'City Eq 1',
      "City is a text and cannot be compared with a whole number (write '1' for a text) at position 9",
    ],
    [
      'City Eq 01002',
      "City is a text and cannot be compared with a whole number (write '01002' for a text) at position 9",
    ],
    [
      'City Eq -01002',
      "City is a text and cannot be compared with a whole number (write '-01002' for a text) at position 9",
    ],
    ["ListPrice Eq '1'", 'ListPrice is a decimal number and cannot be compared with a text at position 14'],
    [
      "ListPrice Eq contains('1')",
      'ListPrice is a decimal number and cannot be compared with a text at position 14',
    ],
    ["City Eq radius('1 2',3)", 'City is a text and cannot be compared with a shape at position 9'],
    ['City Eq now()', 'City is a text and cannot be compared with a timestamp at position 9'],
    [
      'PoolPrivateYN Eq 1',
      'PoolPrivateYN is true or false and cannot be compared with a whole number at position 18',
    ],
    ['CloseDate Gt 10:22', 'CloseDate is a date and cannot be compared with a time of day at position 14'],
    ["length(City) Eq 'x'", 'length(City) is a number and cannot be compared with a text at position 17'],
    ['CloseDate Gt 2026-02-30', 'there is no day 2026-02-30 at position 14'],
    ['CloseDate Gt 2026-02-03T25:00', 'there is no day 2026-02-03T25:00 at position 14'],
    ['ModificationTimestamp Gt 2026-02-30', 'there is no time 2026-02-30 at position 26'],
    ['ModificationTimestamp Gt 2026-02-03T10:60', 'there is no time 2026-02-03T10:60 at position 26'],
    ['time(ModificationTimestamp) Gt 24:00', 'there is no time 24:00 at position 32'],
    ['CloseDate Gt years(9000)', 'years() leaves the years 1 to 9999 at position 14'],
    [`ListPrice Gt ${'9'.repeat(400)}`, 'a number of this size cannot be compared at position 14'],
  ];
  for (const [filter, reason] of cases) {
    it(filter.slice(0, 60), () => {
      const error = errorOf(filter);
      assert.equal(error.code, 'typeMismatch');
      assert.equal(error.native, 1040);
      assert.equal(error.message, `_filter: ${reason}.`);
    });
  }
});
