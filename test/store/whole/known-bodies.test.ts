/** Large bodies that were read through are known again by every thread, and by nothing but all of their bytes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { markOf } from '../../../src/compile/damaged-records.ts';
import { Damage, DamagedRecord } from '../../../src/records/damage.ts';
import { KnownBodies } from '../../../src/store/whole/known-bodies.ts';
import { mustBeText, WholeBodies } from '../../../src/store/whole/whole-bodies.ts';

const record = (key: string): string =>
  JSON.stringify({ ListingKey: key, PublicRemarks: 'x'.repeat(30_000) });
const body = (...keys: readonly string[]): Buffer => Buffer.from(keys.map(record).join(','));

test('a body is known once it was read through, and no other is', () => {
  const known = new KnownBodies();
  const tag = known.tagOf(body('K1'));
  assert.equal(known.has(tag), false);
  known.add(tag);
  const thread = new KnownBodies(structuredClone(known.shared));
  assert.equal(thread.has(thread.tagOf(body('K1'))), true);
  for (const place of [0, 15_000, 30_020]) {
    for (let bit = 0; bit < 8; bit++) {
      const flipped = body('K1');
      flipped[place] = (flipped[place] ?? 0) ^ (1 << bit);
      assert.equal(known.has(known.tagOf(flipped)), false);
    }
  }
  assert.deepEqual(known.use, { entries: 1, bytes: 1024 * 1024 });
});

test('of more bodies than there is room for, those stay that are used', () => {
  const known = new KnownBodies();
  const often = 1n;
  known.add(often);
  // All of them are of one set.
  for (let each = 1n; each <= 100n; each++) {
    known.add(often + each * 32_768n);
    assert.equal(known.has(often), true);
  }
  assert.equal(known.has(often + 32_768n), false);
  assert.equal(known.has(often + 100n * 32_768n), true);
  assert.equal(known.use.entries, 8);
});

test('what is no JSON is refused with the record that it is in, also after the same body was whole', () => {
  const bodies = new WholeBodies();
  const whole = body('K1', 'K2');
  assert.equal(bodies.mustBeWhole(whole), whole);
  const broken = Buffer.from(whole.toString().replace('xx"}', 'xx}}'));
  for (let time = 0; time < 2; time++) {
    assert.throws(
      () => bodies.mustBeWhole(broken),
      new Damage('a text of it is no JSON any more, in or after the record whose ListingKey is K1'),
    );
  }
  assert.equal(mustBeText(broken), broken);
  for (const byte of [0, 0xff]) {
    broken[100] = byte;
    for (const check of [bodies.mustBeWhole, mustBeText]) {
      assert.throws(() => check(broken), new Damage('a text of it is not as it was written'));
    }
  }
});

test('a part that goes on is no beginning, and the other way round', () => {
  const bodies = new WholeBodies();
  const next = Buffer.concat([Buffer.from(','), body('K1')]);
  assert.equal(bodies.mustBeWhole(next, true), next);
  assert.throws(() => bodies.mustBeWhole(next), Damage);
  assert.throws(() => bodies.mustBeWhole(body('K1'), true), Damage);
  assert.ok(bodies.mustBeWhole(body('K1')));
  assert.throws(() => bodies.mustBeWhole(body('K1'), true), Damage);
});

test('a record that is marked is refused by its name, in small bodies and large ones', () => {
  const bodies = new WholeBodies();
  const { before, behind } = markOf('Member');
  for (const text of ['{}', body('K1').toString()]) {
    const marked = Buffer.from(`${text},${before}M"1${behind}{}`);
    assert.throws(() => bodies.mustBeWhole(marked), new DamagedRecord('Member M"1'));
  }
});
