/** A large import reads its records on another thread, with the same result. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type ReadRecords, readRecordTexts } from '../../src/cli/import/read-records.ts';
import { ReadingThread } from '../../src/cli/import/reading-thread.ts';
import type { RawRecord } from '../../src/cli/import/record-json.ts';
import { readRecords } from '../../src/cli/import/record-reader.ts';
import { makeModel } from '../../src/compile/model.ts';
import { fixedTexts } from '../../src/compile/text/text-columns.ts';
import { PlatError } from '../../src/errors/index.ts';
import type { ParsedRecord } from '../../src/records/parsed-record.ts';
import { EMPTY_PROFILE, extendProfile, fieldsOfEveryStore } from '../../src/records/profile.ts';
import { DEFAULT_SETTINGS, type StoreSettings } from '../../src/records/settings.ts';
import { prepareRecord } from '../../src/store/write/prepare.ts';
import { linesOf, place } from './run.ts';

const SHAPE = { resource: 'Property', name: 'LotShape', label: 'Lot Shape', type: 'string', group: 'Local' };
const settings: StoreSettings = { ...DEFAULT_SETTINGS, declarations: { customFields: [SHAPE] } };
const source = { epoch: 'e', settings, day: '2026-01-01' };
const { dictionary } = makeModel({ ...source, generation: 1, profile: EMPTY_PROFILE });
const USED = ['City', 'Appliances', 'ListPrice', 'PriceChangeTimestamp', 'MajorChangeTimestamp'];
const used = USED.flatMap((name) => dictionary.resources.get('Property')?.fields.get(name) ?? []);
const profile = extendProfile(EMPTY_PROFILE, [...fieldsOfEveryStore(dictionary), ...used]);
const model = makeModel({ ...source, generation: 2, profile });

const OPTIONS = {
  reading: { isLenient: true, dropsUnknown: false },
  map: new Map([['Town', 'City']]),
  remedy: ' (declare it)',
};

/** A thread reads everything but the first records. */
const NOW = { characters: 0, each: 0 };

const photo = { MediaKey: 'M1', MediaCategory: 'Photo', Order: 1 };

/** A line, and the hash that it is sent with, if it is stored. */
const LINES: readonly (readonly [line: string, isKnown?: boolean])[] = [
  ['{"ListingKey":"1","City":"Ütrecht \u2028","ListPrice":450000.5,"Appliances":["Oven","Hob"]}', true],
  ['{"ListingKey":"2","Town":"A","ListPrice":null,"Appliances":[]}', true],
  ['{"ListingKey":"3","City":"A","BedroomsTotal":2}', false],
  ['{"ListingKey":"4","Lot Shape":"round"}', false],
  [JSON.stringify({ ListingKey: '5', City: 'A', Media: [photo, { MediaKey: 'M2' }], Rooms: [] }), false],
  [
    '{"ListingKey":"6","ListPrice":"7","City":8,"PhotosCount":3,"ModificationTimestamp":"2024-01-01T00:00:00Z"}',
    false,
  ],
  ['{"ListingKey":"7","City":123456789012345678901234567890,"YearBuilt":1e400}'],
  ['{"ListingKey":"8","City":1234567890123456789012345678901234567890}', true],
  ['{"ListingKey":"9","City":"A","City":"B"}'],
  ['{"ListingKey":"10","Cty":"A"}'],
  ['{"ListingKey":"11","City":{}}'],
  ['{"City":"A"}'],
  ['rubbish'],
  ['{"ListingKey":"12","__proto__":1}'],
];

async function raws(): Promise<RawRecord[]> {
  async function* chunks(): AsyncIterable<Buffer> {
    yield Buffer.from(LINES.map(([line]) => `${line}\n`).join(''));
  }
  return Array.fromAsync(readRecords(chunks()));
}

/** What a store takes from what was read. */
function content({ results, ignored, warnings }: ReadRecords): object {
  const of = ({ resource, key, values, children }: ParsedRecord): object => ({
    resource: resource.name,
    key,
    values: { ...values },
    children: [...children].map(([name, records]) => [name, records.map(of)]),
  });
  return { results: results.map((each) => (typeof each === 'string' ? each : of(each))), ignored, warnings };
}

test('another thread reads the same from the texts of records, with their hashes and ready texts', async () => {
  const all = await raws();
  assert.equal(all.length, LINES.length);
  const expected = readRecordTexts(all, 'Property', model, OPTIONS);
  await using thread = new ReadingThread(OPTIONS, { worth: NOW });
  assert.deepEqual(content(await thread.read(model, 'Property', all)()), content(expected));
  const [first, second] = [thread.read(model, 'Property', all), thread.read(model, 'Member', all.slice(11))];
  const { results, ...rest } = await first();
  assert.deepEqual(content({ results, ...rest }), content(expected));
  assert.deepEqual(
    content(await second()),
    content(readRecordTexts(all.slice(11), 'Member', model, OPTIONS)),
  );
  const textsOf = fixedTexts(model.layout('Property'));
  assert.ok(
    results.some((each) => typeof each === 'object' && textsOf(each).join('').includes('Ütrecht \u2028')),
  );
  const hashes = expected.results.map((each) =>
    typeof each === 'string' ? '' : prepareRecord(each, model).hash,
  );
  for (const [index, result] of results.entries()) {
    const [line = '', isKnown] = LINES[index] ?? [];
    assert.equal(typeof result === 'string', isKnown === undefined, line);
    if (typeof result === 'string') continue;
    const { hash, generation, fixedTexts: texts } = result.prepared ?? {};
    const known = isKnown
      ? [hashes[index], model.generation, textsOf(result)]
      : [undefined, undefined, undefined];
    assert.deepEqual([hash, generation, texts?.()], known, line);
    assert.equal(prepareRecord(result, model).hash, hashes[index]);
  }
});

test('a thread reads by the latest model', async () => {
  const all = await raws();
  await using thread = new ReadingThread(OPTIONS, { worth: NOW });
  await thread.read(model, 'Property', all.slice(0, 1))();
  const withoutShape = { ...settings, declarations: {} };
  const other = makeModel({ ...source, settings: withoutShape, generation: 3, profile });
  const [changed, back] = [thread.read(other, 'Property', all), thread.read(model, 'Property', all)];
  assert.deepEqual(content(await changed()), content(readRecordTexts(all, 'Property', other, OPTIONS)));
  assert.deepEqual(content(await back()), content(readRecordTexts(all, 'Property', model, OPTIONS)));
});

test('small records and children are read on the calling thread, until large ones prevail', async () => {
  const [large, , , , nested] = await raws();
  assert.ok(large !== undefined && nested !== undefined);
  // The nested record has two photos, so that the mean is reached with the second large record.
  const each = (nested.text.length + 2 * large.text.length) / 5 - 0.1;
  await using thread = new ReadingThread(OPTIONS, { worth: { characters: 0, each } });
  const ahead: boolean[] = [];
  for (const raw of [nested, large, large, large]) {
    await thread.read(model, 'Property', [raw])();
    ahead.push(thread.groupsAhead > 0);
  }
  assert.deepEqual(ahead, [false, false, true, true]);
});

test('a thread that ends fails what it was asked to read, and everything after it', async () => {
  const module = new URL('./ending-thread.ts', import.meta.url);
  await using thread = new ReadingThread(OPTIONS, { worth: NOW, module });
  const all = await raws();
  await thread.read(model, 'Property', all)();
  const reading = [thread.read(model, 'Property', all), thread.read(model, 'Property', all)];
  const isReported = (error: unknown): boolean =>
    error instanceof PlatError &&
    error.code === 'failed' &&
    error.message === 'The thread that reads records ended with code 7.';
  for (const read of reading) await assert.rejects(read, isReported);
  await assert.rejects(thread.read(model, 'Property', all), isReported);
});

test('a file that two threads import is stored like one that a single thread imports', async (t) => {
  const at = place(t);
  const remarks = 'Spacious rooms, quiet street. '.repeat(130);
  const listing = (number: number): object => ({
    ListingKey: `K${number}`,
    City: number % 3 === 0 ? 'A' : `City ${number}`,
    ListPrice: 1000 + number,
    PublicRemarks: remarks,
    ...(number % 50 === 0 ? { Media: [{ MediaKey: `M${number}`, MediaCategory: 'Photo' }] } : {}),
    // Two fields come into use late.
    ...(number > 2200 ? { BedroomsTotal: number % 5, Cooling: ['Central Air'] } : {}),
  });
  const lines = Array.from({ length: 2400 }, (_, number) => JSON.stringify(listing(number)));
  lines[100] = '{"ListingKey":"K100"';
  lines[2300] = '{"ListingKey":"K2300","City":{}}';
  lines[2350] = lines[2340] ?? '';
  at.file('large.ndjson', `${lines.join('\n')}\n`);
  at.file('late.ndjson', `${lines.slice(2100).join('\n')}\n`);
  const { code, out } = await at.run(['import', '--store', 'm.db', 'large.ndjson']);
  assert.equal(
    out,
    'large.ndjson: Property 2397 new, 0 changed, 0 unchanged, 45 children stored, 2 rejected\n',
  );
  assert.equal(code, 1);
  const rejected = readFileSync(at.path('large.ndjson.rejected.ndjson'), 'utf8').match(/"line":\d+/g);
  assert.deepEqual(rejected, ['"line":101', '"line":2301']);
  const again = await at.run(['import', '--store', 'm.db', 'late.ndjson']);
  assert.equal(
    again.out,
    'late.ndjson: Property 0 new, 0 changed, 298 unchanged, 0 children stored, 1 rejected\n',
  );
  await at.done(['check', '--store', 'm.db']);
  const stored = await at.exported('m.db', 'Property');
  const last = stored.find(({ ListingKey }) => ListingKey === 'K2399');
  assert.deepEqual(
    [last?.City, last?.ListPrice, last?.BedroomsTotal, last?.Cooling, last?.PublicRemarks === remarks],
    ['City 2399', 3399, 4, ['Central Air'], true],
  );
  at.file('small.ndjson', linesOf([listing(2399)]));
  assert.match(await at.done(['import', '--store', 'm.db', 'small.ndjson']), /0 changed, 1 unchanged/);
});
