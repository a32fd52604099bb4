import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Search } from '../../../src/query/tree.ts';
import { collection, refusal } from './fixture.ts';

const search = (text: string): Search | undefined => collection(`$search=${encodeURIComponent(text)}`).search;
const word = (text: string): Search => ({ kind: 'word', text });
const phrase = (text: string): Search => ({ kind: 'phrase', text });
const both = (...terms: readonly Search[]): Search => ({ kind: 'search-and', terms });
const either = (...terms: readonly Search[]): Search => ({ kind: 'search-or', terms });
const without = (operand: Search): Search => ({ kind: 'search-not', operand });
const [a, b, c, d] = [word('a'), word('b'), word('c'), word('d')];

test('words, phrases and operators', () => {
  const expected: Record<string, Search> = {
    pool: word('pool'),
    '  pool ': word('pool'),
    '"sea side"': phrase('sea side'),
    'a b': both(a, b),
    'a AND b': both(a, b),
    'a b AND c': both(a, b, c),
    'a OR b c OR d': either(a, both(b, c), d),
    'a AND (b OR c)': both(a, either(b, c)),
    '(a AND b) OR c': either(both(a, b), c),
    'NOT a b': both(without(a), b),
    'NOT (a b)': without(both(a, b)),
    'NOT NOT a': without(without(a)),
    'a NOT b': both(a, without(b)),
    'a OR NOT b': either(a, without(b)),
    "O'Neil": word("O'Neil"),
    'brand-new 08/15 $5 3,5': both(word('brand-new'), word('08/15'), word('$5'), word('3,5')),
    'a;b': word('a;b'),
  };
  for (const [text, tree] of Object.entries(expected)) assert.deepEqual(search(text), tree, text);
});

test('a keyword where no operator is allowed is a word', () => {
  assert.deepEqual(search('AND'), word('AND'));
  assert.deepEqual(search('NOT'), word('NOT'));
  assert.deepEqual(search('NOT NOT'), without(word('NOT')));
  assert.deepEqual(search('AND OR'), both(word('AND'), word('OR')));
  assert.deepEqual(search('AND OR NOT'), either(word('AND'), word('NOT')));
  assert.deepEqual(search('a and b'), both(a, word('and'), b));
});

test('an unfinished expression in single quotes is one phrase', () => {
  assert.deepEqual(search(`'"pool'`), phrase('"pool'));
  assert.deepEqual(search("'it''s ('"), phrase("it's ("));
});

test('inside an expansion a semicolon and a parenthesis end the search', () => {
  const { expansions } = collection('$expand=Media($search=(a OR b) c;$top=2)');
  assert.deepEqual(expansions[0]?.query.search, both(either(a, b), c));
  assert.equal(expansions[0]?.query.top, 2);
});

test('an invalid search expression is rejected', () => {
  const wrong: Record<string, string> = {
    '': '$search: found the end at position 1, expected a word or a phrase in double quotes.',
    '"a': '$search: found " at position 1, expected a word or a phrase in double quotes.',
    '""': '$search: found " at position 1, expected a word or a phrase in double quotes.',
    '(a': '$search: found the end at position 3, expected ")" or a word.',
    'a)': '$search: found ) at position 2, expected "," or the end.',
    '"a"b': '$search: found b at position 4, expected "," or the end.',
    "'a": "$search: found a string that is not closed at position 1, expected a closing ' (a quote inside a string is written '').",
  };
  for (const [text, message] of Object.entries(wrong)) {
    assert.deepEqual(
      refusal(() => search(text)),
      ['syntax', message],
      text,
    );
  }
});
