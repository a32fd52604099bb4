/** What masked fields reveal about the rights of the key. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contradictsMasks, mergeMasks, NO_MASKS } from '../../../src/replica/steps/witnesses.ts';

const page = (masked: readonly string[], open: readonly string[]) => ({ masked, open });

test('fields of a page are added in order; a page without new fields returns the same object', () => {
  const first = mergeMasks(NO_MASKS, page(['PrivateRemarks', 'CloseDate'], ['ListPrice']));
  assert.deepEqual(first, { masked: ['CloseDate', 'PrivateRemarks'], open: ['ListPrice'] });
  assert.equal(mergeMasks(first, page(['CloseDate'], [])), first);
});

const KNOWN = { masked: ['PrivateRemarks', 'City'], open: ['ListPrice', 'City'] };
const CASES: readonly [string, readonly string[], readonly string[], boolean][] = [
  ['the same as before', ['PrivateRemarks'], ['ListPrice'], false],
  ['a field that was always masked is open', [], ['PrivateRemarks'], true],
  ['a field that was always open is masked', ['ListPrice'], [], true],
  ['a field that is masked in some records proves nothing when masked', ['City'], [], false],
  ['a field that is masked in some records proves nothing when open', [], ['City'], false],
  ['a field that was never met', ['New'], ['Other'], false],
];
for (const [name, masked, open, expected] of CASES) {
  test(`${name}: ${expected ? 'a contradiction' : 'no contradiction'}`, () =>
    assert.equal(contradictsMasks(KNOWN, page(masked, open)), expected));
}
