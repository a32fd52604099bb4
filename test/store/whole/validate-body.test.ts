/** Large bodies that were checked are recognized by every thread, by all of their bytes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { markOf } from '../../../src/compile/damaged-records.ts';
import { Damage, DamagedRecord } from '../../../src/records/damage.ts';
import { BodyValidator, mustBeText, ValidatedBodies } from '../../../src/store/whole/validate-body.ts';

const record = (key: string): string =>
  JSON.stringify({ ListingKey: key, PublicRemarks: 'x'.repeat(30_000) });
const body = (...keys: readonly string[]): Buffer => Buffer.from(keys.map(record).join(','));

test('a body is known after it was checked, and no other body is', () => {
  const known = new ValidatedBodies();
  const tag = known.tagOf(body('K1'));
  assert.equal(known.has(tag), false);
  known.add(tag);
  const thread = new ValidatedBodies(structuredClone(known.shared));
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

test('if there are more bodies than fit, recently used ones stay known', () => {
  const known = new ValidatedBodies();
  const often = 1n;
  known.add(often);
  // All of them belong to the same set.
  for (let each = 1n; each <= 100n; each++) {
    known.add(often + each * 32_768n);
    assert.equal(known.has(often), true);
  }
  assert.equal(known.has(often + 32_768n), false);
  assert.equal(known.has(often + 100n * 32_768n), true);
  assert.equal(known.use.entries, 8);
});

test('a body that is not valid JSON is rejected with the record, even after a valid body of the same length', () => {
  const bodies = new BodyValidator();
  const whole = body('K1', 'K2');
  assert.equal(bodies.mustBeValid(whole), whole);
  const broken = Buffer.from(whole.toString().replace('xx"}', 'xx}}'));
  for (let time = 0; time < 2; time++) {
    assert.throws(
      () => bodies.mustBeValid(broken),
      new Damage('one of its texts is not valid JSON, in or after the record whose ListingKey is K1'),
    );
  }
  assert.equal(mustBeText(broken), broken);
  for (const byte of [0, 0xff]) {
    broken[100] = byte;
    for (const check of [bodies.mustBeValid, mustBeText]) {
      assert.throws(() => check(broken), new Damage('one of its texts no longer matches what was written'));
    }
  }
});

/** Records of different lengths, and the places of the commas between them. */
const page = (from: number, count: number) => {
  const texts = Array.from({ length: count }, (_, index) =>
    JSON.stringify({
      ListingKey: `K${from + index}`,
      PublicRemarks: 'x'.repeat(500 + ((from + index) % 97)),
    }),
  );
  const commas = texts.slice(0, -1).map((_, index) => texts.slice(0, index + 1).join(',').length);
  return { body: Buffer.from(texts.join(',')), commas: () => commas };
};
const tagsOf = ({ shared }: BodyValidator): number => new ValidatedBodies(shared).use.entries;

test('a page that shares records with another one shares the known parts', () => {
  const bodies = new BodyValidator();
  const [one, next] = [page(0, 200), page(1, 200)];
  bodies.mustBeValid(one.body, one.commas);
  assert.equal(tagsOf(bodies), 14);
  // Only a first part and a last one are new.
  bodies.mustBeValid(next.body, next.commas);
  assert.equal(tagsOf(bodies), 16);
});

test('a wrong byte is found in any part, also between known parts', () => {
  const bodies = new BodyValidator();
  const { body: whole, commas } = page(0, 200);
  bodies.mustBeValid(whole, commas);
  for (const place of [whole.indexOf('"K0"'), whole.indexOf('"K100"'), whole.indexOf('"K199"')]) {
    for (const [byte, message] of [
      [0, 'one of its texts no longer matches what was written'],
      [0x0a, /^one of its texts is not valid JSON, in or after the record whose ListingKey is K\d+$/],
    ] as const) {
      const broken = Buffer.from(whole);
      broken[place + 10] = byte;
      assert.throws(() => bodies.mustBeValid(broken, commas), { name: Damage.name, message });
    }
  }
});

test('a body that is divided inside a record is valid, and the rest of a list alone is not', () => {
  const bodies = new BodyValidator();
  const { body: inner, commas } = page(0, 200);
  const nested = Buffer.from(`{"Listing":[${inner}]}`);
  const within = (): number[] => commas().map((at) => at + '{"Listing":['.length);
  assert.equal(bodies.mustBeValid(nested, within), nested);
  bodies.mustBeValid(inner, commas);
  const known = tagsOf(bodies);
  for (const from of commas()) {
    const rest = inner.subarray(from);
    if (rest.length > 20_000) assert.throws(() => bodies.mustBeValid(rest), Damage);
  }
  assert.equal(tagsOf(bodies), known);
});

test('a marked record is rejected by its name, in small bodies and large ones', () => {
  const bodies = new BodyValidator();
  const { before, behind } = markOf('Member');
  for (const text of ['{}', body('K1').toString()]) {
    const marked = Buffer.from(`${text},${before}M"1${behind}{}`);
    assert.throws(() => bodies.mustBeValid(marked), new DamagedRecord('Member M"1'));
  }
});
