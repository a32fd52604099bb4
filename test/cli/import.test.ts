/** The input that `plat import` accepts. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { linesOf, place } from './run.ts';

const CONTEXT = 'urn:reso:metadata:2.0:resource:member';

test('NDJSON, a JSON array, RESO Common Format, gzip and stdin give the same records', async (t) => {
  const at = place(t);
  const records = [
    { MemberKey: 'A1', MemberFullName: 'Ann "The" O’Neil {x}' },
    { MemberKey: 'A2', MemberFullName: 'Bo ] , [' },
  ];
  at.file('lines.ndjson', linesOf(records));
  at.file('list.json', JSON.stringify(records, undefined, 2));
  at.file('common.json', JSON.stringify({ '@reso.context': CONTEXT, value: records }));
  at.file('lines.ndjson.gz', gzipSync(linesOf(records)));
  const summary = (file: string, counts: string): string =>
    `${file}: Member ${counts}, 0 children stored, 0 rejected\n`;
  const same = '0 new, 0 changed, 2 unchanged';
  const files = ['lines.ndjson', 'list.json', 'lines.ndjson.gz', 'common.json'];
  assert.equal(
    await at.done(['import', '--store', 'm.db', '--resource', 'Member', ...files]),
    files.map((file, index) => summary(file, index === 0 ? '2 new, 0 changed, 0 unchanged' : same)).join(''),
  );
  assert.equal(await at.done(['import', '--store', 'm.db', 'common.json']), summary('common.json', same));
  assert.equal(
    await at.done(['import', '--store', 'm.db', '--resource', 'Member', '-'], { input: linesOf(records) }),
    summary('stdin', same),
  );
});

test('every record of a file counts once, also if it moves the timestamps of its parent', async (t) => {
  const at = place(t);
  at.file('l.ndjson', [{ ListingKey: '1' }]);
  await at.done(['import', '--store', 'm.db', 'l.ndjson']);
  const summary = async (media: readonly object[]): Promise<string> => {
    at.file('m.ndjson', media);
    return at.done(['import', '--store', 'm.db', '--resource', 'Media', 'm.ndjson']);
  };
  const [one, other, none] = ['1', '1', '2'].map((listing, index) => ({
    MediaKey: `M${index}`,
    ResourceName: 'Property',
    ResourceRecordKey: listing,
  }));
  const counts = (text: string): string => `m.ndjson: Media ${text}, 0 children stored, 0 rejected\n`;
  assert.equal(await summary([one ?? {}]), counts('1 new, 0 changed, 0 unchanged'));
  const second = [one ?? {}, { ...other, Order: 2 }, none ?? {}];
  assert.equal(await summary(second), counts('2 new, 0 changed, 1 unchanged'));
  const third = [{ ...one, Order: 1 }, { ...other, Order: 2 }, none ?? {}];
  assert.equal(await summary(third), counts('0 new, 1 changed, 2 unchanged'));
});

test('a record replaces the stored one completely; a collection that is present replaces all of its kind', async (t) => {
  const at = place(t);
  const photo = (key: string) => ({
    MediaKey: key,
    MediaCategory: 'Photo',
    MediaURL: `https://i.example/${key}`,
  });
  const put = async (record: object): Promise<void> => {
    at.file('r.ndjson', [record]);
    await at.done(['import', '--store', 'm.db', 'r.ndjson']);
  };
  await put({
    ListingKey: '1',
    City: 'A',
    ListPrice: 1,
    Media: [photo('M1'), photo('M2')],
    Rooms: [{ RoomKey: 'R1' }],
  });
  await put({ ListingKey: '1', ListPrice: 2, Media: [photo('M2')] });
  const [listing] = await at.exported('m.db', 'Property');
  assert.deepEqual([listing?.City, listing?.ListPrice], [undefined, 2]);
  const keys = async (resource: string, key: string): Promise<unknown[]> =>
    (await at.exported('m.db', resource)).map((record) => record[key]);
  assert.deepEqual(
    [await keys('Media', 'MediaKey'), await keys('PropertyRooms', 'RoomKey')],
    [['M2'], ['R1']],
  );
  await put({ ListingKey: '1', ListPrice: 2, Rooms: [] });
  assert.deepEqual([await keys('Media', 'MediaKey'), await keys('PropertyRooms', 'RoomKey')], [['M2'], []]);
});

const FILLED =
  'The store fills EntityEvent itself, from its sequence of changes. Its records cannot be imported, copied or deleted.';

const DERIVED = (name: string): string =>
  `The store fills ${name} itself, from its records and the dictionary. Its records cannot be imported, copied or deleted.`;

test('wrong usage is reported before anything is stored: exit code 2', async (t) => {
  const at = place(t);
  at.file('good.ndjson', [{ ListingKey: '1' }]);
  at.file('common.json', JSON.stringify({ '@reso.context': CONTEXT, value: [{ MemberKey: '1' }] }));
  const event = { EntityEventSequence: 1, ResourceName: 'Property', ResourceRecordKey: '1' };
  at.file(
    'events.json',
    JSON.stringify({ '@reso.context': CONTEXT.replace('member', 'entityevent'), value: [event] }),
  );
  at.file('other.json', JSON.stringify({ '@reso.context': CONTEXT.replace('member', 'pets'), value: [] }));
  const cases: readonly (readonly [args: readonly string[], message: string])[] = [
    [['import', '--store', 'm.db', 'good.ndjson', 'missing.ndjson'], 'There is no file missing.ndjson.'],
    [['import', '--store', 'm.db', '.'], '. is a folder, not a file: name the files in it, such as *.json.'],
    [['import', '--store', 'no/m.db', 'good.ndjson'], 'There is no folder no to write no/m.db to.'],
    [
      ['import', 'good.ndjson'],
      '--store <store> is missing; PLAT_STORE in the environment and "store" in plat.config.json also set it.',
    ],
  ];
  const answers = await Promise.all(cases.map(([args]) => at.run(args)));
  assert.deepEqual(
    answers,
    cases.map(([, message]) => ({ code: 2, out: '', err: `plat: ${message}\n` })),
  );
  assert.equal(existsSync(at.path('m.db')), false, 'no store was made');
  const store = ['--store', 'k.db'];
  const late: typeof cases = [
    [
      ['import', ...store, '--resource', 'Propery', 'good.ndjson'],
      'There is no resource Propery. Did you mean Property?',
    ],
    [
      ['import', ...store, '--resource', 'Office', 'common.json'],
      'The file says that its records are of member, not Office.',
    ],
    [['import', ...store, 'other.json'], 'There is no resource pets.'],
    [['import', ...store, '--resource', 'EntityEvent', 'good.ndjson'], FILLED],
    [['import', ...store, 'events.json'], FILLED],
    [['delete', ...store, '--resource', 'EntityEvent', '1'], FILLED],
    [['export', ...store, '--resource', 'EntityEvent'], FILLED],
    [['import', ...store, '--resource', 'Lookup', 'good.ndjson'], DERIVED('Lookup')],
    [['delete', ...store, '--resource', 'Lookup', 'StandardStatus.Active'], DERIVED('Lookup')],
    [['delete', ...store, '--resource', 'Field', 'Property.ListingKey'], DERIVED('Field')],
  ];
  assert.equal((await at.run(['key', 'create', '--name', 'n', ...store])).code, 0);
  for (const [args, message] of late)
    assert.deepEqual(await at.run(args), { code: 2, out: '', err: `plat: ${message}\n` });
  assert.match(
    await at.done(['export', ...store, '--resource', 'Field']),
    /"FieldKey":"Property.ListingKey"/,
  );
});

test('a file of which nothing could be stored ends an import before another one is stored, and before a store is created', async (t) => {
  const at = place(t);
  at.file('good.ndjson', [{ ListingKey: '1' }]);
  at.file('bad.csv', '1,A,5\n');
  at.file('other.json', JSON.stringify({ '@reso.context': CONTEXT.replace('member', 'pets'), value: [{}] }));
  const noKey =
    'bad.csv: no column is ListingKey, the key of Property; name its column with --map "COLUMN=ListingKey" (columns: 1, A, 5).';
  for (const [file, message] of [
    ['bad.csv', noKey],
    ['other.json', 'There is no resource pets.'],
  ] as const) {
    const ended = await at.run(['import', '--store', 'm.db', 'good.ndjson', file]);
    assert.deepEqual(ended, { code: 2, out: '', err: `plat: ${message}\n` });
  }
  assert.equal(existsSync(at.path('m.db')), false);
  const { code, out, err } = await at.run(
    ['import', '--store', 'm.db', '--format', 'json', 'good.ndjson', '-'],
    { input: '<html>' },
  );
  assert.equal(code, 1, 'a pipe is read once, so a record was stored before');
  assert.equal(out, 'good.ndjson: Property 1 new, 0 changed, 0 unchanged, 0 children stored, 0 rejected\n');
  assert.match(err, /plat: stdin is a web page/);
});

test('records of a later document whose resource does not exist are rejected under its name, and the rest is stored', async (t) => {
  const at = place(t);
  const page = (resource: string, key: string) =>
    JSON.stringify({ '@reso.context': CONTEXT.replace('member', resource), value: [{ ListingKey: key }] });
  at.file('a.json', [page('property', '1'), page('pets', '2'), page('property', '3')].join('\n'));
  const { code, err } = await at.run(['import', '--store', 'm.db', 'a.json']);
  assert.equal(code, 1);
  assert.match(err, /^a\.json:2: There is no resource pets\.$/m);
  assert.deepEqual((await at.exported('m.db', 'Property')).map(({ ListingKey }) => ListingKey).sort(), [
    '1',
    '3',
  ]);
  const again = await at.run(['import', '--store', 'm.db', 'a.json.rejected.ndjson']);
  assert.deepEqual(again, { code: 2, out: '', err: 'plat: There is no resource pets.\n' });
});

test('an address that is not a store is named as what it is, with the right form, and no file is created', async (t) => {
  const at = place(t);
  at.file('a.ndjson', [{ ListingKey: '1' }]);
  const engines =
    'plat keeps records in SQLite (a path, or sqlite:PATH) or in PostgreSQL (postgres://USER@HOST/DATABASE)';
  const cases: readonly (readonly [store: string, message: string])[] = [
    ['mysql://u:secret@h/market', `mysql://u@h/market is not a store: ${engines}.`],
    ['mssql:market', `mssql:market is not a store: ${engines}.`],
    ['mongodb+srv://h/m', `mongodb+srv://h/m is not a store: ${engines}.`],
    [
      'postgres:/h/m',
      'postgres:/h/m is not a store: the address of a store on a server is postgres://USER@HOST/DATABASE.',
    ],
    [
      'sqlite://m.db',
      'sqlite://m.db is not a store: the address of a store in a file is sqlite:PATH, or just the path.',
    ],
    ['file:m.db', 'file:m.db is not a store: the address of a store in a file is just its path.'],
    [
      'https://h/v1',
      'https://h/v1 is not a store: it is the address of a service, from which "plat replicate --from" copies into a store.',
    ],
  ];
  const before = readdirSync(at.folder);
  for (const [store, message] of cases) {
    const ended = await at.run(['import', '--store', store, 'a.ndjson']);
    assert.deepEqual(ended, { code: 2, out: '', err: `plat: ${message}\n` });
  }
  assert.deepEqual(readdirSync(at.folder), before);
  for (const store of ['sqlite:one.db', `sqlite://${at.path('two.db')}`, 'C:.db']) {
    await at.done(['import', '--store', store, 'a.ndjson']);
  }
  assert.ok(['one.db', 'two.db', 'C:.db'].every((file) => existsSync(at.path(file))));
});
