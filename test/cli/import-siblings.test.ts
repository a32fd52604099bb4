/** Parts of other records, such as media, are stored together with their siblings, wherever they are in a file. */
import assert from 'node:assert/strict';
import { statSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { importFile } from '../../src/cli/import/importer.ts';
import type { RawRecord } from '../../src/cli/import/record-json.ts';
import { Siblings, siblingsOf } from '../../src/cli/import/siblings.ts';
import { standardDictionary } from '../../src/dictionary/index.ts';
import { listing } from '../support/builders.ts';
import { sqliteEngine } from '../support/sqlite-engine.ts';
import { temporaryFile } from '../support/temporary.ts';
import { makeWorld } from '../support/world.ts';
import { place } from './run.ts';

const MEDIA = standardDictionary().resources.get('Media') ?? assert.fail();

const medium = (key: string, parent: string): RawRecord => ({
  line: Number(key.slice(1)),
  text: `{"MediaKey":"${key}", "ResourceName":"Property","ResourceRecordKey" : "${parent}","LongDescription":"\\"MediaKey\\":\\"X\\" é"}`,
});

const OPTIONS = {
  ...{ resource: 'Media', map: new Map(), takesUnknown: false, remedy: '' },
  reading: { isLenient: false, dropsUnknown: false },
};

/** The keys of records in the order in which they are stored. */
function ordered(records: readonly RawRecord[], fewest = 2): string[] {
  const siblings = new Siblings(MEDIA, { bytes: 4096, fewest });
  for (const each of records) assert.ok(siblings.add(each));
  const taken = [...siblings.take()];
  assert.deepEqual(
    taken.toSorted((one, other) => one.line - other.line),
    records,
  );
  assert.deepEqual([...siblings.take()], []);
  return taken.map(({ line, fault }) => `${fault ?? 'M'}${line}`);
}

const scattered = [medium('M1', 'B'), medium('M2', 'A'), medium('M3', 'B'), medium('M4', 'A')];

test('parts are stored in the order of their parents, and those of one parent in the order of the file', () => {
  assert.deepEqual(ordered(scattered), ['M2', 'M4', 'M1', 'M3']);
  const [first = assert.fail(), ...others] = scattered;
  const faults = [5, 6].map((line): RawRecord => ({ line, text: '', fault: 'F' }));
  assert.deepEqual(ordered([first, ...others, ...faults]), ['F5', 'F6', 'M2', 'M4', 'M1', 'M3']);
});

test('the order of the file stays where it decides which record is kept, and for few records', () => {
  const inFile = ['M1', 'M2', 'M3', 'M4', 'M5'];
  const again = { ...medium('M3', 'A'), line: 5 };
  assert.deepEqual(ordered([...scattered, again]), inFile);
  const escaped = { line: 5, text: '{"MediaKey":"M5","ResourceRecordKey":"\\u0041"}' };
  assert.deepEqual(ordered([...scattered, escaped]), inFile);
  const orphan = { line: 5, text: '{"MediaKey":"M5"}' };
  assert.deepEqual(ordered([...scattered, orphan]), inFile);
  assert.deepEqual(ordered(scattered, 5), inFile.slice(0, 4));
});

test('the order of the file stays if a map gives the name of a key to another field', () => {
  assert.notEqual(siblingsOf(MEDIA, new Map([['Id', 'MediaKey']])), undefined);
  for (const name of ['MediaKey', 'ResourceRecordKey']) {
    assert.equal(siblingsOf(MEDIA, new Map([[name, 'MediaObjectID']])), undefined, name);
  }
});

test('a record waits for its siblings only if there is room for its bytes, and its text has bytes', () => {
  const { length } = Buffer.from(medium('M1', 'A').text); // its parent's key takes one byte
  const siblings = new Siblings(MEDIA, { bytes: 2 * (length + 1), fewest: 1 });
  assert.ok(!siblings.add({ line: 1, text: '{"MediaKey":"\ud800","ResourceRecordKey":"A"}' }));
  assert.ok(siblings.add(medium('M1', 'B')) && siblings.add(medium('M2', 'A')));
  assert.ok(!siblings.add(medium('M3', 'A')));
  assert.deepEqual(
    [...siblings.take()].map(({ line }) => line),
    [2, 1],
  );
  assert.ok(siblings.add(medium('M3', 'A')));
});

test('the media of a listing that are scattered over a file move its timestamps once', async (t) => {
  const { file, path, done, exported } = place(t);
  const keys = Array.from({ length: 1300 }, (_, at) => `L${String(at).padStart(4, '0')}`);
  const media = [1, 2, 3, 4].flatMap((order) =>
    keys.map((ResourceRecordKey) => ({
      ...{ MediaKey: `${ResourceRecordKey}-${order}`, ResourceName: 'Property', ResourceRecordKey },
      ...{ MediaCategory: 'Photo', Order: order },
    })),
  );
  const listings = keys.map((key) => listing(key, { City: 'Ely' }));
  await done(['import', file('Property.ndjson', listings), '--store', 's.db']);
  const imported = await done([
    ...['import', file('Media.ndjson', media), '--resource', 'Media', '--store', 's.db', '--json'],
  ]);
  assert.match(imported, /"inserted":\s*5200/);
  const database = new DatabaseSync(path('s.db'), { readOnly: true });
  const moved = database
    .prepare("SELECT count(*) AS n FROM plat_changes WHERE resource = 'Property' AND kind = 'changed'")
    .get();
  database.close();
  assert.ok(Number(moved?.n) < 1310, `${moved?.n}`);
  const counts = (await exported('s.db', 'Property')).map(({ PhotosCount }) => PhotosCount);
  assert.deepEqual(new Set(counts), new Set([4]));
});

test('an import of parts that wait for their siblings ends between two batches if it is interrupted', async (t) => {
  const { store } = await makeWorld(sqliteEngine(), t);
  const path = temporaryFile('.ndjson');
  const media = Array.from({ length: 8000 }, (_, at) => medium(`M${at}`, `L${at % 100}`).text);
  writeFileSync(path, media.join('\n'));
  const interruption = new AbortController();
  const interrupted: typeof store = {
    ...store,
    write: (...given) => {
      setImmediate(() => interruption.abort()); // as a signal arrives
      return store.write(...given);
    },
  };
  const [report] = await importFile(
    interrupted,
    { path, name: path, form: 'json' },
    OPTIONS,
    { update: () => undefined, reportLine: () => undefined },
    interruption.signal,
  );
  const { inserted = 0 } = report ?? {};
  assert.ok(inserted >= 1000 && inserted <= 3000, `${inserted}`);
});

test('the progress of an import counts a record once it no longer waits for its siblings', async (t) => {
  const { store } = await makeWorld(sqliteEngine(), t);
  const path = temporaryFile('.ndjson');
  const media = Array.from({ length: 8000 }, (_, at) => medium(`M${at}`, `L${at % 100}`).text);
  writeFileSync(path, media.join('\n'));
  const shown: [number, number | undefined][] = [];
  const progress = {
    update: (done: number, _: string, counted?: number) => void shown.push([done, counted]),
    reportLine: () => undefined,
  };
  await importFile(
    store,
    { path, name: path, form: 'json' },
    OPTIONS,
    progress,
    new AbortController().signal,
  );
  const { size } = statSync(path);
  assert.deepEqual(shown.slice(0, 8000), Array(8000).fill([0, 0]));
  assert.deepEqual(
    shown.slice(8000).map(([, counted]) => counted),
    [...Array.from({ length: 8000 }, (_, at) => at + 1), 8000],
  );
  assert.deepEqual(shown[11_999], [Math.round(size / 2), 4000]);
  assert.deepEqual(shown.at(-1), [size, 8000]);
});
