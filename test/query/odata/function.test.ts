import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  beds,
  call,
  city,
  contracted,
  date,
  decimal,
  expectExpressions,
  expression,
  field,
  integer,
  modified,
  NULL,
  price,
  refusal,
  seconds,
  text,
  time,
  timestamp,
} from './fixture.ts';

test('text functions', () => {
  expectExpressions({
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

test('patterns are literals, and are validated when they are parsed', () => {
  expectExpressions({
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
    "matchespattern(City,'a(?=b)')": [
      'notImplemented',
      "$compute: 'a(?=b)' as a regular expression (invalid or unsupported Perl syntax: `(?=…) at position 21 is not provided by this service.",
    ],
    "matchespattern(City,'a{600}') or matchespattern(City,'b{600}')": [
      'filterTooLarge',
      '$compute: more than 1000 steps in its regular expressions at position 54.',
    ],
    "substringof('a',City)": [
      'syntax',
      '$compute: found the function substringof at position 1, expected contains.',
    ],
    'matchespattern(City,1)': [
      'typeMismatch',
      '$compute: the pattern of matchespattern must be a string, not an integer at position 21.',
    ],
    'matchespattern(City,City)': [
      'notImplemented',
      '$compute: a value that is not a literal as the pattern of matchespattern at position 21 is not provided by this service.',
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
  expectExpressions({
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

test('the parts of a timestamp are those in the zone in which it is written', () => {
  const written = '2024-01-01T01:30:59.5+02:00';
  const own = timestamp('2024-01-01T01:30:59.500Z');
  expectExpressions({
    [`date(${written})`]: call('date', 'date', own),
    [`day(${written})`]: call('day', 'integer', own),
    [`fractionalseconds(${written})`]: call('fractionalseconds', 'decimal', own),
    [`hour(${written})`]: call('hour', 'integer', own),
    [`minute(${written})`]: call('minute', 'integer', own),
    [`month(${written})`]: call('month', 'integer', own),
    [`second(${written})`]: call('second', 'integer', own),
    [`time(${written})`]: call('time', 'time', own),
    [`year(${written})`]: call('year', 'integer', own),
    [`totaloffsetminutes(${written})`]: integer(120),
    'totaloffsetminutes(2024-01-01T01:30:00-00:30)': integer(-30),
    'totaloffsetminutes(2024-01-01T01:30:00-00:00)': call(
      'totaloffsetminutes',
      'integer',
      timestamp('2024-01-01T01:30:00Z'),
    ),
    "year(2024-01-01T01:30:59+02:00 add duration'PT0S')": call('year', 'integer', {
      kind: 'arithmetic',
      type: 'timestamp',
      operator: 'add',
      left: timestamp('2023-12-31T23:30:59Z'),
      right: seconds(0),
    }),
  });
});

test('rounding keeps the type of the number', () => {
  expectExpressions({
    'round(ListPrice)': call('round', 'decimal', price),
    'floor(BedroomsTotal)': call('floor', 'integer', beds),
    'ceiling(2.5)': call('ceiling', 'decimal', decimal(2.5)),
  });
});

test('function names are accepted in any case', () => {
  expectExpressions({
    "CONTAINS(ToLower(City),'a')": call('contains', 'boolean', call('tolower', 'string', city), text('a')),
  });
});
