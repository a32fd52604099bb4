import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Expression } from '../../../src/query/tree.ts';
import {
  and,
  any,
  beds,
  boolean,
  city,
  compare,
  contracted,
  date,
  decimal,
  expectFilters,
  field,
  filter,
  integer,
  modified,
  NULL,
  navigationOf,
  not,
  oneOf,
  or,
  price,
  refusal,
  text,
  timestamp,
  values,
  variable,
} from './fixture.ts';

const status = field('StandardStatus');

test('comparisons keep their operator and their sides', () => {
  expectFilters({
    'ListPrice eq 5': compare('eq', price, integer(5)),
    'ListPrice ne 5.5': compare('ne', price, decimal(5.5)),
    'BedroomsTotal gt 2.5': compare('gt', beds, decimal(2.5)),
    '5 ge BedroomsTotal': compare('ge', integer(5), beds),
    "City lt 'Rome'": compare('lt', city, text('Rome')),
    'BedroomsTotal le ListPrice': compare('le', beds, price),
    'WaterfrontYN eq true': compare('eq', field('WaterfrontYN'), boolean(true)),
    'City eq null': compare('eq', city, NULL),
    'null ne City': compare('ne', NULL, city),
    'City gt null': compare('gt', city, NULL),
    WaterfrontYN: field('WaterfrontYN'),
    'WaterfrontYN and not NewConstructionYN': and(field('WaterfrontYN'), not(field('NewConstructionYN'))),
    true: boolean(true),
    'City eq null or null': or(compare('eq', city, NULL), NULL),
  });
});

test('a date that is compared with a timestamp means midnight in UTC', () => {
  const cast: Expression = { kind: 'cast', type: 'timestamp', operand: contracted };
  expectFilters({
    'ModificationTimestamp gt 2024-05-31': compare('gt', modified, timestamp('2024-05-31T00:00:00Z')),
    '2024-05-31 lt ModificationTimestamp': compare('lt', timestamp('2024-05-31T00:00:00Z'), modified),
    'ListingContractDate gt 2024-05-31T12:00:00Z': compare('gt', cast, timestamp('2024-05-31T12:00:00Z')),
    'ListingContractDate lt ModificationTimestamp': compare('lt', cast, modified),
    'ListingContractDate eq 2024-05-31': compare('eq', contracted, date('2024-05-31')),
    'ListingContractDate in (2024-05-31,2024-05-31T12:00:00Z)': oneOf(
      cast,
      timestamp('2024-05-31T00:00:00Z'),
      timestamp('2024-05-31T12:00:00Z'),
    ),
  });
});

test('timestamps are converted to UTC, and compared with all digits of a second', () => {
  const moments: Record<string, string> = {
    '2024-05-31T08:30:00Z': '2024-05-31T08:30:00Z',
    '2024-05-31T08:30Z': '2024-05-31T08:30:00Z',
    '2024-05-31T08:30:00.000Z': '2024-05-31T08:30:00Z',
    '2024-05-31T08:30:00.5Z': '2024-05-31T08:30:00.500Z',
    '2024-05-31T08:30:00.1239999Z': '2024-05-31T08:30:00.1239999Z',
    '2024-05-31T08:30:00-07:00': '2024-05-31T15:30:00Z',
    '2024-01-01T01:00:00+02:00': '2023-12-31T23:00:00Z',
    '2016-12-31T23:59:60Z': '2017-01-01T00:00:00Z',
    '2024-02-29t00:00:00z': '2024-02-29T00:00:00Z',
    '0000-01-01T00:00:00Z': '0000-01-01T00:00:00Z',
  };
  for (const [written, canonical] of Object.entries(moments)) {
    const tree = compare('gt', modified, timestamp(canonical));
    assert.deepEqual(filter(`ModificationTimestamp gt ${written}`), tree, written);
  }
});

test('days and times that do not exist are rejected', () => {
  for (const [written, what] of [
    ['2023-02-29', 'date'],
    ['2024-04-31', 'date'],
    ['-0001-01-01', 'date'],
    ['10000-01-01', 'date'],
    ['2023-02-29T00:00:00Z', 'timestamp'],
    ['0000-01-01T00:00:00+01:00', 'timestamp'],
    ['9999-12-31T23:59:60Z', 'timestamp'],
  ]) {
    const message = `$filter: ${written} is not a ${what} of the years 0 to 9999 at position 26.`;
    const source = `ModificationTimestamp gt ${written}`;
    assert.deepEqual(
      refusal(() => filter(source)),
      ['typeMismatch', message],
      source,
    );
  }
});

test('values of different types are not comparable', () => {
  const wrong: Record<string, string> = {
    'City eq 5': "City (a string) and an integer cannot be compared (write '5' for a string) at position 9",
    '5 eq City': "an integer and City (a string) cannot be compared (write '5' for a string) at position 1",
    "ListPrice gt '5'":
      "ListPrice (a decimal) and '5' (a string) cannot be compared (a decimal must be without quotes) at position 14",
    "ModificationTimestamp gt '2024-01-01'":
      "ModificationTimestamp (a timestamp) and '2024-01-01' (a string) cannot be compared (a timestamp must be without quotes) at position 26",
    'WaterfrontYN eq 1': 'WaterfrontYN (a boolean) and an integer cannot be compared at position 17',
    'City eq ListPrice': 'City (a string) and ListPrice (a decimal) cannot be compared at position 9',
    'ListAgent/MemberCity eq 1':
      "ListAgent/MemberCity (a string) and an integer cannot be compared (write '1' for a string) at position 25",
    "ListPrice in (1,'2')":
      "ListPrice (a decimal) and '2' (a string) cannot be compared (a decimal must be without quotes) at position 14",
    "City in (duration'P1D')": 'City (a string) and a duration cannot be compared at position 9',
    "(now() sub ModificationTimestamp) in ('PT1H','x')":
      "a duration and 'x' (a string) cannot be compared (a duration must be without quotes) at position 38",
    'City in (1)': "City (a string) and an integer cannot be compared (write '1' for a string) at position 9",
    "City eq geography'POINT(1 2)'": 'City (a string) and a point cannot be compared at position 9',
    "geography'POINT(1 2)' eq geography'POINT(1 2)'": 'a point and a point cannot be compared at position 26',
    'ListAgent eq 1': 'ListAgent is a record; name one of its fields after a slash at position 1',
    'Appliances eq null':
      'Appliances is a list; use Appliances/any(x: …), Appliances/all(x: …) or Appliances/$count at position 1',
    "City eq ['a']": 'a list is allowed only after in at position 9',
    'Coordinates eq null':
      'the point of a record is allowed only in geo.distance and geo.intersects at position 1',
    'City in ListPrice': 'in takes a list in parentheses or a multi-valued field at position 9',
    'ListPrice eq 1e400': '1e400 is too large a number at position 14',
    'ListPrice eq 01234567-89ab-cdef-0123-456789abcdef':
      "no field here is a guid; write '01234567-89ab-cdef-0123-456789abcdef' for a string at position 14",
  };
  for (const [source, reason] of Object.entries(wrong)) {
    assert.deepEqual(
      refusal(() => filter(source)),
      ['typeMismatch', `$filter: ${reason}.`],
      source,
    );
  }
});

test('an expression other than a condition is rejected where a condition is required', () => {
  const wrong: Record<string, string> = {
    ListPrice: '$filter takes a condition, not ListPrice (a decimal) at position 1',
    "WaterfrontYN and 'x'": "and takes a condition, not 'x' (a string) at position 18",
    'not ListPrice gt 5': 'not (…) takes a condition, not ListPrice (a decimal) at position 5',
    'Media/any(m:m/Order)': 'any takes a condition, not Order (an integer) at position 13',
    'Media/$count($filter=Order) eq 1': '$count takes a condition, not Order (an integer) at position 22',
    'case(1:2) eq 2': 'case takes a condition, not an integer at position 6',
  };
  for (const [source, reason] of Object.entries(wrong)) {
    assert.deepEqual(
      refusal(() => filter(source)),
      ['typeMismatch', `$filter: ${reason}.`],
      source,
    );
  }
});

test('in accepts lists of literals, of expressions, and multi-valued fields', () => {
  expectFilters({
    "City in ('a','b')": oneOf(city, text('a'), text('b')),
    'City in ["a",\'b\']': oneOf(city, text('a'), text('b')),
    "City in ('a',null)": oneOf(city, text('a'), NULL),
    'City in ()': oneOf(city),
    'BedroomsTotal in (-1, 2.5)': oneOf(beds, integer(-1), decimal(2.5)),
    "City in ['a',PostalCity]": or(compare('eq', city, text('a')), compare('eq', city, field('PostalCity'))),
    "'Pool' in Appliances": any(values('Appliances'), 1, compare('eq', variable(1), text('Pool'))),
    'City in (Appliances)': any(values('Appliances'), 1, compare('eq', variable(1), city)),
  });
  assert.deepEqual(
    refusal(() => filter('City in [["a"]]')),
    ['notImplemented', '$filter: a list inside a list at position 10 is not provided by this service.'],
  );
  assert.deepEqual(
    refusal(() => filter("'a' in Media")),
    ['typeMismatch', '$filter: Media is a list of records, not of values at position 8.'],
  );
});

test('has means equality, for each named member, and is null without a value', () => {
  const present = (then: Expression): Expression => ({
    kind: 'case',
    type: 'boolean',
    branches: [{ when: compare('ne', status, NULL), then }],
  });
  const dishwasher = any(values('Appliances'), 1, compare('eq', variable(1), text('Dishwasher')));
  const cooktop = any(values('Appliances'), 1, compare('eq', variable(1), text('Cooktop')));
  expectFilters({
    "StandardStatus has 'Active'": present(compare('eq', status, text('Active'))),
    "StandardStatus has org.reso.metadata.enums.StandardStatus'Active'": present(
      compare('eq', status, text('Active')),
    ),
    "StandardStatus has 'ActiveUnderContract'": present(
      oneOf(status, text('ActiveUnderContract'), text('Active Under Contract')),
    ),
    "'Active' has 'Active'": compare('eq', text('Active'), text('Active')),
    "Appliances has 'Dishwasher'": dishwasher,
    "Appliances has Enums.Appliances'Dishwasher,Cooktop'": and(dishwasher, cooktop),
    "Appliances has 'Dishwasher, Cooktop'": and(dishwasher, cooktop),
  });
});

test('either spelling of a lookup value matches both', () => {
  const both = [text('ActiveUnderContract'), text('Active Under Contract')] as const;
  const barFridge = [text('BarFridge'), text('Bar Fridge')] as const;
  expectFilters({
    "StandardStatus eq 'ActiveUnderContract'": oneOf(status, ...both),
    "'ActiveUnderContract' eq StandardStatus": oneOf(status, ...both),
    "StandardStatus eq Enums.StandardStatus'ActiveUnderContract'": oneOf(status, ...both),
    "StandardStatus ne 'ActiveUnderContract'": not(oneOf(status, ...both)),
    "StandardStatus in ('Active','ActiveUnderContract')": oneOf(status, text('Active'), ...both),
    "StandardStatus eq 'Active Under Contract'": oneOf(status, ...both.toReversed()),
    "StandardStatus eq 'Unheard'": compare('eq', status, text('Unheard')),
    "StandardStatus gt 'ActiveUnderContract'": compare('gt', status, text('ActiveUnderContract')),
    "Appliances/any(a:a eq 'BarFridge')": any(values('Appliances'), 1, oneOf(variable(1), ...barFridge)),
    "'BarFridge' in Appliances": any(values('Appliances'), 1, oneOf(variable(1), ...barFridge)),
    "Appliances has X.Y'BarFridge'": any(values('Appliances'), 1, oneOf(variable(1), ...barFridge)),
    "City eq 'ActiveUnderContract'": compare('eq', city, text('ActiveUnderContract')),
  });
});

test('a related record is compared with null by its key', () => {
  const via = [navigationOf('ListAgent')];
  const key = field('MemberKey', { resource: 'Member', via });
  expectFilters({
    'ListAgent eq null': compare('eq', key, NULL),
    'null ne ListAgent': compare('ne', key, NULL),
  });
});

test('errors quote what cannot be compared as it is in the request', () => {
  const wrong: Record<string, string> = {
    'PostalCode eq 01002':
      "PostalCode (a string) and an integer cannot be compared (write '01002' for a string) at position 15",
    '01002 eq PostalCode':
      "an integer and PostalCode (a string) cannot be compared (write '01002' for a string) at position 1",
    "PostalCode in ('01001',01002)":
      "PostalCode (a string) and an integer cannot be compared (write '01002' for a string) at position 15",
    'PostalCode eq 1.50':
      "PostalCode (a string) and a decimal cannot be compared (write '1.50' for a string) at position 15",
    'PostalCode eq 2024-05-31T08:30Z':
      "PostalCode (a string) and a timestamp cannot be compared (write '2024-05-31T08:30Z' for a string) at position 15",
    'PostalCode eq -1002':
      "PostalCode (a string) and an integer cannot be compared (write '-1002' for a string) at position 15",
    "ListPrice eq 'O''Neil'":
      "ListPrice (a decimal) and 'O''Neil' (a string) cannot be compared (a decimal must be without quotes) at position 14",
  };
  for (const [source, message] of Object.entries(wrong)) {
    assert.deepEqual(
      refusal(() => filter(source)),
      ['typeMismatch', `$filter: ${message}.`],
      source,
    );
  }
});
