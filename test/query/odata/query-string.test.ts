import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePart } from '../../../src/query/odata/option-text.ts';
import { parseQueryOptions } from '../../../src/query/odata/query.ts';
import { collection, refusal } from './fixture.ts';

test('options are split before they are decoded', () => {
  const options = parseQueryOptions(
    '$filter=City%20eq+%27a%2Bb%26c%3Dd%27&$top=5&@p=%27x%27&utm_source=mail&debug&&%24skip=1',
  );
  assert.deepEqual(
    [...options.system],
    [
      ['filter', "City eq 'a+b&c=d'"],
      ['top', '5'],
      ['skip', '1'],
    ],
  );
  assert.deepEqual([...options.aliases], [['p', "'x'"]]);
  assert.deepEqual(options.custom, ['utm_source', 'debug']);
});

test('system options are case-insensitive, with and without a dollar sign', () => {
  const { system, custom } = parseQueryOptions('FILTER=a&$Select=b&orderBy=c&$COUNT=d&skiptoken');
  assert.deepEqual(Object.fromEntries(system), {
    filter: 'a',
    select: 'b',
    orderby: 'c',
    count: 'd',
    skiptoken: '',
  });
  assert.deepEqual(custom, []);
});

test('an empty query has no options', () => {
  assert.deepEqual(parseQueryOptions(''), { system: new Map(), aliases: new Map(), custom: [] });
});

test('unknown, repeated and malformed options are rejected', () => {
  const wrong: Record<string, [string, string]> = {
    '$fliter=x': ['optionUnknown', 'The query option $fliter is not known. Did you mean $filter?'],
    $nothing: ['optionUnknown', 'The query option $nothing is not known.'],
    '$levels=2': ['optionUnknown', 'The query option $levels is not known.'],
    '$top=1&$top=1': ['optionRepeated', 'The query option $top is given more than once.'],
    '$top=1&Top=2': ['optionRepeated', 'The query option $top is given more than once.'],
    '@p=1&@p=2': ['optionRepeated', 'The query option @p is given more than once.'],
    "$filter=City eq 'a%00'": [
      'requestMalformed',
      'The request is malformed: $filter contains a NUL character.',
    ],
    '$filter=%2': ['requestMalformed', 'The request is malformed: the percent-encoding of "%2" is broken.'],
    '$filter=%zz': ['requestMalformed', 'The request is malformed: the percent-encoding of "%zz" is broken.'],
    '$filter=%ff': ['requestMalformed', 'The request is malformed: the percent-encoding of "%ff" is broken.'],
    '$search=#1': [
      'requestMalformed',
      'The request is malformed: the query contains "#", which must be written %23.',
    ],
  };
  for (const [query, error] of Object.entries(wrong)) {
    assert.deepEqual(
      refusal(() => parseQueryOptions(query)),
      error,
      query,
    );
  }
});

test('a plus sign in a path is kept', () => {
  assert.equal(decodePart('a+b%2Fc%20d'), 'a+b/c d');
});

test('numbers and booleans are validated', () => {
  const whole = 'a whole number, 0 or more';
  const wrong: Record<string, string> = {
    '$top=-1': `$top is "-1", but takes ${whole}.`,
    '$top=abc': `$top is "abc", but takes ${whole}.`,
    '$top=1.5': `$top is "1.5", but takes ${whole}.`,
    $top: `$top is "", but takes ${whole}.`,
    '$skip=1e3': `$skip is "1e3", but takes ${whole}.`,
    '$count=1': '$count is "1", but takes true or false.',
    $count: '$count is "", but takes true or false.',
    '$expand=Media($levels=0)': '$levels is "0", but takes a whole number, 1 or more, or max.',
    '$expand=Media($top=x;$skip=1)': `$top is "x", but takes ${whole}.`,
  };
  for (const [query, message] of Object.entries(wrong)) {
    assert.deepEqual(
      refusal(() => collection(query)),
      ['optionInvalid', message],
      query,
    );
  }
});

test('the error quotes only the beginning of a long value', () => {
  const [, message] = refusal(() => collection(`$top=${'x'.repeat(5000)}`));
  assert.equal(message, `$top is "${'x'.repeat(40)}…", but takes a whole number, 0 or more.`);
});
