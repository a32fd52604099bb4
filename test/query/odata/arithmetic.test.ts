import { test } from 'node:test';
import type { Expression, Literal, ValueType } from '../../../src/query/tree.ts';
import {
  beds,
  call,
  contracted,
  date,
  decimal,
  expectExpressions,
  field,
  integer,
  modified,
  NULL,
  price,
  seconds,
  time,
  timestamp,
} from './fixture.ts';

test('literals of time are canonical', () => {
  expectExpressions({
    '08:30': time('08:30:00'),
    '08:30:05.1204567': time('08:30:05.120456'),
    '23:59:60': time('23:59:59'),
    "duration'P1DT2H3M4.5S'": seconds(93784.5),
    "duration'-PT1S'": seconds(-1),
    "duration'-PT0S'": seconds(0),
    '2024-02-29': date('2024-02-29'),
    '1972-06-30T23:59:60Z': timestamp('1972-07-01T00:00:00Z'),
  });
});

const arithmetic = (
  operator: 'add' | 'sub' | 'mul' | 'div' | 'divby' | 'mod',
  type: ValueType,
  left: Expression,
  right: Expression,
): Expression => ({ kind: 'arithmetic', operator, type, left, right });

test('arithmetic of numbers: two integers give an integer, except by divby', () => {
  expectExpressions({
    'BedroomsTotal add 1': arithmetic('add', 'integer', beds, integer(1)),
    'BedroomsTotal sub 1.5': arithmetic('sub', 'decimal', beds, decimal(1.5)),
    'ListPrice mul 2': arithmetic('mul', 'decimal', price, integer(2)),
    'BedroomsTotal div 2': arithmetic('div', 'integer', beds, integer(2)),
    'BedroomsTotal divby 2': arithmetic('divby', 'decimal', beds, integer(2)),
    'BedroomsTotal mod 2': arithmetic('mod', 'integer', beds, integer(2)),
    'ListPrice add null': NULL,
    'null add null': NULL,
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
  expectExpressions({
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
    'ModificationTimestamp add null': NULL,
    "-duration'P1D'": seconds(-86_400),
    '-(ModificationTimestamp sub OriginalEntryTimestamp)': {
      kind: 'negate',
      type: 'duration',
      operand: arithmetic('sub', 'duration', modified, field('OriginalEntryTimestamp')),
    },
  });
});
