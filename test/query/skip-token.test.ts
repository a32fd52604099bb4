import assert from 'node:assert/strict';
import { test } from 'node:test';
import { standardDictionary } from '../../src/dictionary/index.ts';
import { bindOptions, parseQueryOptions } from '../../src/query/odata/query.ts';
import { makeSchema } from '../../src/query/schema.ts';
import { readSkipToken, tokenAfter } from '../../src/query/skip-token.ts';

function orderBy(text: string) {
  const schema = makeSchema(standardDictionary());
  const options = parseQueryOptions(`$orderby=${text}`);
  return bindOptions('collection', options, schema.of('Property'), schema).order;
}

const ORDER = orderBy('ListPrice,City,InternetEntireListingDisplayYN,ModificationTimestamp');

test('a token of an order must have a value for each term, of a type that an engine returns', () => {
  const moment = '2026-06-01T12:00:00';
  for (const values of [
    [1.5, 'Ely', true, moment],
    [7, 'Ely', 1, moment],
    ['12.50', 'Ely', false, moment],
    [null, null, null, null],
  ]) {
    const read = readSkipToken(tokenAfter(ORDER, { key: 'A', values }), ORDER);
    assert.deepEqual(read, { kind: 'after-row', key: 'A', values });
  }
  for (const values of [
    ['Ely', 'Ely', true, moment],
    [true, 'Ely', true, moment],
    [1, 2, true, moment],
    [1, 'Ely', 'true', moment],
    [1, 'Ely', 7, moment],
    [1, 'Ely', true, 0],
    [1, 'Ely', true],
  ]) {
    const forged = Buffer.from(JSON.stringify(['A', values])).toString('base64url');
    assert.throws(() => readSkipToken(forged, ORDER), { code: 'skipTokenInvalid' }, JSON.stringify(values));
  }
});
