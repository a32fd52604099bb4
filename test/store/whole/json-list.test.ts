/** findSyntaxError() agrees with a JSON parser, for valid lists and for lists with changed bytes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { findSyntaxError } from '../../../src/store/whole/json-list.ts';

const RUNS = process.env.PLAT_FULL === '1' ? 200_000 : 5000;

/** Whether a JSON parser accepts the text as a list of values. Only characters of one byte. */
function isList(text: string): boolean {
  try {
    JSON.parse(`[${text}]`);
    return true;
  } catch {
    return false;
  }
}

const fault = (text: string, follows = false): number | undefined =>
  findSyntaxError(Buffer.from(text, 'latin1'), follows);

test('a list of values has no fault, however it is written', () => {
  const values = fc.array(fc.jsonValue({ maxDepth: 4 }), { minLength: 1, maxLength: 5 });
  const spaces = fc.constantFrom(undefined, 1, '\t', ' \n');
  fc.assert(
    fc.property(values, spaces, (list, space) => {
      const text = list.map((each) => JSON.stringify(each, null, space)).join(',');
      assert.equal(findSyntaxError(Buffer.from(text)), undefined);
      assert.equal(findSyntaxError(Buffer.from(`,${text}`), true), undefined);
      assert.equal(findSyntaxError(Buffer.from(`,${text}`)), 0);
      assert.equal(findSyntaxError(Buffer.from(text), true), 0);
      for (const cut of [1, 3]) {
        const shorter = text.slice(0, -cut);
        const isEmpty = shorter.trim() === '';
        if (!isEmpty)
          assert.equal(findSyntaxError(Buffer.from(shorter)) === undefined, isList(shorter), shorter);
      }
    }),
    { numRuns: RUNS / 10, seed: 20_261_122 },
  );
});

test('a text with changed bytes has a fault exactly if a JSON parser rejects it', () => {
  const record = JSON.stringify({
    ListingKey: 'K1',
    ListPrice: -12.5e3,
    Levels: ['One', 'Two\\"\u00e9\t'],
    Rooms: [{ Area: 0 }, {}],
    Nothing: null,
    Yes: true,
    No: false,
    Empty: [],
  });
  const text = `${record},${record}`;
  const byte = fc.oneof(
    fc.integer({ min: 0, max: 255 }),
    fc.constantFrom(...Buffer.from('"\\{}[],:-+.eE019 \nunt')),
  );
  const changes = fc.array(fc.tuple(fc.nat(text.length - 1), byte), { minLength: 1, maxLength: 3 });
  let broken = 0;
  fc.assert(
    fc.property(changes, (flips) => {
      const bytes = Buffer.from(text, 'latin1');
      for (const [at, value] of flips) bytes[at] = value;
      const changed = bytes.toString('latin1');
      const isWhole = isList(changed);
      if (!isWhole) broken++;
      assert.equal(findSyntaxError(bytes) === undefined, isWhole, JSON.stringify(changed));
    }),
    { numRuns: RUNS, seed: 20_261_122 },
  );
  assert.ok(broken > RUNS / 4 && broken < RUNS, `${broken} of ${RUNS} are none`);
});

test('the place of a fault is where a parser would fail', () => {
  assert.equal(fault(''), undefined);
  assert.equal(fault('{"a":1}'), undefined);
  assert.equal(fault('{"a":"x}'), 5);
  assert.equal(fault('{"a":1}}'), 7);
  assert.equal(fault('{"a":1'), 6);
  assert.equal(fault('{"a":1},'), 8);
  assert.equal(fault('{"a":1},{"b":01}'), 14);
  assert.equal(fault('1],[2'), 1);
});
