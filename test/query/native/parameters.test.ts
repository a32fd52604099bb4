import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseParameters } from '../../../src/query/native/parameters.ts';
import { anyCharacter } from '../any-character.ts';
import { errorFrom } from './fixture.ts';

const given = (query: string) => Object.fromEntries(parseParameters(query).given);

describe('a query string', () => {
  const cases: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['', {}],
    ['&&', {}],
    ['_limit=1000&_skiptoken=', { _limit: '1000', _skiptoken: '' }],
    ['_skiptoken', { _skiptoken: '' }],
    ['_filter=City+Eq+%27Fargo%27', { _filter: "City Eq 'Fargo'" }],
    ['_filter=A%20Eq%201%2B2', { _filter: 'A Eq 1+2' }],
    ['_filter=A=B', { _filter: 'A=B' }],
    ['_orderby=-ListPrice,+City', { _orderby: '-ListPrice, City' }],
    ['%5Flimit=5', { _limit: '5' }],
    ['_$skip=5', { _skip: '5' }],
    ['_%24skip=5', { _skip: '5' }],
    ['_select=%F0%9F%8F%A1', { _select: '🏡' }],
  ];
  for (const [query, expected] of cases) {
    it(query === '' ? 'that is empty' : query, () => assert.deepEqual(given(query), expected));
  }

  it('keeps parameters of other interfaces separate', () => {
    const { given: known, others } = parseParameters('a=1&_limit=2&b=%20&a=3&Limit');
    assert.deepEqual([...known], [['_limit', '2']]);
    assert.deepEqual(others, [
      { name: 'a', value: '1' },
      { name: 'b', value: ' ' },
      { name: 'a', value: '3' },
      { name: 'Limit', value: '' },
    ]);
  });

  const refused: readonly (readonly [string, string, string])[] = [
    ['_skiptokn=1', 'optionUnknown', 'The query option _skiptokn is not known. Did you mean _skiptoken?'],
    ['_offset=1', 'optionUnknown', 'The query option _offset is not known.'],
    ['_Limit=1', 'optionUnknown', 'The query option _Limit is not known. Did you mean _limit?'],
    ['_limit=1&_limit=1', 'optionRepeated', 'The query option _limit is given more than once.'],
    ['_skip=1&_$skip=1', 'optionRepeated', 'The query option _skip is given more than once.'],
    [
      '_filter=%',
      'requestMalformed',
      'The request is malformed: the percent-encoding of _filter is not valid UTF-8.',
    ],
    [
      '_filter=%zz',
      'requestMalformed',
      'The request is malformed: the percent-encoding of _filter is not valid UTF-8.',
    ],
    [
      '_filter=%ff',
      'requestMalformed',
      'The request is malformed: the percent-encoding of _filter is not valid UTF-8.',
    ],
    [
      'a=1&%e0=2',
      'requestMalformed',
      'The request is malformed: the percent-encoding of a parameter name is not valid UTF-8.',
    ],
    [
      '_skiptoken=a%00b',
      'requestMalformed',
      'The request is malformed: _skiptoken contains a NUL character.',
    ],
  ];
  for (const [query, code, message] of refused) {
    it(`rejects ${query}`, () => {
      const error = errorFrom(() => parseParameters(query));
      assert.deepEqual([error.code, error.status, error.native, error.message], [code, 400, 1053, message]);
    });
  }

  it('decodes what was encoded', () => {
    const value = fc.string({ unit: anyCharacter, maxLength: 40 }).filter((text) => !text.includes('\u0000'));
    fc.assert(
      fc.property(value, value, (filter, other) => {
        const query = `_filter=${encodeURIComponent(filter)}&other=${encodeURIComponent(other)}`;
        const { given: known, others } = parseParameters(query);
        assert.equal(known.get('_filter'), filter);
        assert.deepEqual(others, [{ name: 'other', value: other }]);
      }),
      { seed: 1, numRuns: 500 },
    );
  });
});
