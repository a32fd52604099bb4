import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeLookup, spellingsOf, standardDictionary } from '../../src/dictionary/index.ts';

test('records may contain a value in any of its spellings; the requested one comes first', () => {
  const status = standardDictionary().lookups.get('StandardStatus');
  assert.deepEqual(spellingsOf(status, 'Active Under Contract'), [
    'Active Under Contract',
    'ActiveUnderContract',
  ]);
  assert.deepEqual(spellingsOf(status, 'ActiveUnderContract'), [
    'ActiveUnderContract',
    'Active Under Contract',
  ]);
  assert.deepEqual(spellingsOf(status, 'Active'), ['Active']);
});

test('a text that is not a value of a lookup has only itself as spelling', () => {
  assert.deepEqual(spellingsOf(standardDictionary().lookups.get('StandardStatus'), 'Sold'), ['Sold']);
  assert.deepEqual(spellingsOf(undefined, 'Rome'), ['Rome']);
});

test('an older name that is itself another value means only that value', () => {
  const lookup = makeLookup('Heat', false, [{ value: 'Hot Air', legacy: 'Air' }, { value: 'Air' }]);
  assert.deepEqual(spellingsOf(lookup, 'Hot Air'), ['Hot Air']);
  assert.deepEqual(spellingsOf(lookup, 'Air'), ['Air']);
});
