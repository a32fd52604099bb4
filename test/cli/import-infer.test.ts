/** Fields that the dictionary does not have: drafted, kept, left out, and exported with their declarations. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CUSTOM_FIELDS, CUSTOM_LOOKUPS, marketRecords } from 'plat-demo';
import { declareAll, planDeclarations } from '../../src/cli/import/declare-extra.ts';
import { MOST_NAMES, Study } from '../../src/cli/import/infer-fields.ts';
import { standardDictionary } from '../../src/dictionary/index.ts';
import { openStore } from '../../src/open-store.ts';
import { parseRecord } from '../../src/records/parse-record.ts';
import { DEFAULT_SETTINGS } from '../../src/records/settings.ts';
import type { Json } from '../support/world.ts';
import { linesOf, type Place, place } from './run.ts';

const COLORS = ['Red', 'Green', 'Blue'];
/** Listings of an MLS with fields of its own, of every kind, at every depth. */
const LOCAL = Array.from({ length: 12 }, (_, index) => ({
  ListingKey: `L${index}`,
  City: 'Here',
  Local_Color: COLORS[index % 3],
  Local_Flags: index % 2 === 0 ? ['A', 'B'] : [],
  Local_YN: index % 2 === 0,
  Local_Count: index,
  Local_Amount: index + 0.5,
  Local_Day: '2024-05-01',
  Local_Moment: '2024-05-01T10:00:00Z',
  Local_Text: `text ${index}`,
  Local_Mixed: index === 3 ? 'many' : index,
  Local_Nothing: null,
  Media: [{ MediaKey: `M${index}`, Media_Score: 0.25, Nested_Deep: { a: 1 } }],
}));

const config = (at: Place): Json => JSON.parse(readFileSync(at.path('plat.config.json'), 'utf8'));
const declaredFields = (at: Place): Json[] => {
  const { dictionary }: { dictionary: { customFields: Json[] } } = JSON.parse(
    readFileSync(at.path('plat.config.json'), 'utf8'),
  );
  return dictionary.customFields;
};
const field = (name: string, type: string, more: object = {}, resource = 'Property') => ({
  resource,
  name,
  group: 'Local',
  label: name,
  type,
  ...more,
});
const DRAFTED = [
  field('Local_Color', 'string', { lookup: 'Local_Color' }),
  field('Local_Flags', 'string[]', { lookup: 'Local_Flags' }),
  field('Local_YN', 'boolean'),
  field('Local_Count', 'integer'),
  field('Local_Amount', 'decimal(14,2)'),
  field('Local_Day', 'date'),
  field('Local_Moment', 'timestamp'),
  field('Local_Text', 'string'),
  field('Local_Mixed', 'string'),
  field('Local_Nothing', 'string'),
  field('Media_Score', 'decimal(14,2)', {}, 'Media'),
];
const LOOKUPS = [
  { lookup: 'Local_Color', values: ['Blue', 'Green', 'Red'] },
  { lookup: 'Local_Flags', values: ['A', 'B'] },
];

test('--infer drafts the fields that the dictionary does not have into the configuration, shows and uses them', async (t) => {
  const at = place(t);
  at.file('a.ndjson', LOCAL);
  const { code, out, err } = await at.run([
    ...['import', '--store', 'm.db', '--infer', '--extra-fields', 'ignore', '--json', 'a.ndjson'],
  ]);
  const [{ inserted, children, declared, ignored, warnings }] = JSON.parse(out);
  assert.deepEqual([code, inserted, children], [0, 12, 12], err);
  assert.deepEqual(
    declared,
    DRAFTED.map(({ resource, name }) => `${resource}.${name}`),
  );
  assert.deepEqual(
    [ignored, warnings],
    [{ unknown: { Nested_Deep: 12 } }, { textAsNumber: { 'Property.Local_Mixed': 11 } }],
  );
  assert.deepEqual(config(at), { dictionary: { customFields: DRAFTED, lookups: LOOKUPS } });
  const shown = err.split('\n');
  assert.equal(shown[1], 'plat.config.json: 11 fields that the dictionary does not have are now declared:');
  assert.match(shown[2] ?? '', /^ {2}Property\.Local_Color {2,}string {2,}lookup: Blue, Green, Red$/);
  assert.equal(
    shown[13],
    'Media.Nested_Deep is not declared: its values are objects, or lists of something else than texts',
  );
  const stored = await at.exported('m.db', 'Property');
  for (const record of LOCAL) {
    const { Media: _, Local_Nothing: __, Local_Mixed, ...rest } = record;
    const found = stored.find(({ ListingKey }) => ListingKey === record.ListingKey);
    const expected = {
      ...rest,
      Local_Mixed: String(Local_Mixed),
      Local_Flags: rest.Local_Flags.length === 0 ? undefined : rest.Local_Flags,
    };
    for (const [name, value] of Object.entries(expected)) assert.deepEqual(found?.[name], value, name);
  }
  assert.deepEqual(
    (await at.exported('m.db', 'Media')).map(({ Media_Score }) => Media_Score),
    Array(12).fill(0.25),
  );
});

test('a second run adds to the existing configuration, which otherwise stays the same; without a file nothing is written', async (t) => {
  const at = place(t);
  const before = {
    host: '0.0.0.0',
    dictionary: {
      fieldsInUse: ['Property.City'],
      lookups: [{ lookup: 'Local_Flags', values: ['Z'] }],
      customFields: [field('Local_Count', 'decimal(10,1)', { class: 'idx' })],
    },
    roles: [],
  };
  at.file('own.json', `\uFEFF${JSON.stringify(before, undefined, '\t')}`);
  at.file(
    'a.ndjson',
    LOCAL.map(({ ListingKey, Local_Count, Local_Flags }) => ({ ListingKey, Local_Count, Local_Flags })),
  );
  at.file('b.ndjson', linesOf(LOCAL).replaceAll(/,"Nested_Deep":\{"a":1\}/g, ''));
  const args = ['import', '--store', 'm.db', '--config', 'own.json', '--infer'];
  await at.done([...args, 'a.ndjson']);
  const first: Json = JSON.parse(readFileSync(at.path('own.json'), 'utf8'));
  const [counted] = before.dictionary.customFields;
  const flags = field('Local_Flags', 'string[]', { lookup: 'PropertyLocal_Flags' });
  const made = { lookup: 'PropertyLocal_Flags', values: ['A', 'B'] };
  assert.deepEqual(first, {
    ...before,
    dictionary: {
      ...before.dictionary,
      customFields: [counted, flags],
      lookups: [...before.dictionary.lookups, made],
    },
  });
  assert.ok(readFileSync(at.path('own.json'), 'utf8').startsWith('{\n\t"host"'));
  // From stdin, which can be read only once.
  const out = await at.done([...args, '-'], { input: readFileSync(at.path('b.ndjson'), 'utf8') });
  assert.match(out, /^stdin: Property 0 new, 12 changed, .* 0 rejected$/m);
  const { dictionary }: { dictionary: { customFields: Json[] } } = JSON.parse(
    readFileSync(at.path('own.json'), 'utf8'),
  );
  assert.deepEqual(dictionary.customFields.slice(0, 2), [counted, flags]);
  assert.deepEqual(
    dictionary.customFields.map(({ name }) => name).toSorted(),
    DRAFTED.map(({ name }) => name).toSorted(),
  );
  const text = readFileSync(at.path('own.json'), 'utf8');
  const again = await at.run([...args, 'b.ndjson']);
  assert.doesNotMatch(again.err, /declared/);
  assert.equal(readFileSync(at.path('own.json'), 'utf8'), text);
});

test('--extra-fields keep declares fields in the store only; names that mean another field are resolved before anything is written', async (t) => {
  const at = place(t);
  at.file('a.ndjson', [
    { ListingKey: '1', Local: 'x' },
    { ListingKey: '2', 'MLS #': 7, city: 'a', 'List Price': 5, '#': 1 },
  ]);
  const args = ['import', '--store', 'm.db', '--extra-fields', 'keep', 'a.ndjson'];
  const refused = await at.run(args);
  assert.deepEqual(
    [refused.code, refused.out, refused.err.split('\n').slice(1)],
    [
      2,
      '',
      [
        'Property.city: there is City; --map "city=City" maps it to that field, --map "city=AName" gives it another name',
        'Property.List Price: there is ListPrice; --map "List Price=ListPrice" maps it to that field, --map "List Price=AName" gives it another name',
        'Property.#: no field can have this name; --map "#=AName" gives it another one',
        'plat: Property.city, Property.List Price, Property.# cannot be declared, so nothing is declared or stored: use --map to name the field for each, or --extra-fields ignore to omit them.',
        '',
      ],
    ],
  );
  assert.deepEqual(JSON.parse(await at.done(['export', '--store', 'm.db', '--declarations'])), {
    dictionary: {},
  });
  const maps = ['city=City', 'List Price=ListPrice', '#='].flatMap((each) => ['--map', each]);
  const { code, err } = await at.run([...args, ...maps]);
  assert.deepEqual(
    [code, err.split('\n')],
    [
      0,
      [
        'm.db: 2 fields that the dictionary does not have are now declared:',
        '  Property.Local  string',
        '  Property.MLS    integer, "MLS #" in the files',
        '',
      ],
    ],
  );
  assert.deepEqual(
    (await at.exported('m.db', 'Property')).map(({ Local, MLS, City, ListPrice }) => [
      ...[Local, MLS, City, ListPrice],
    ]),
    [
      ['x', undefined, undefined, undefined],
      [undefined, 7, 'a', 5],
    ],
  );
  at.file('plat.config.json', JSON.stringify({ dictionary: { customFields: [] } }));
  const kept = await at.run([...args, ...maps]);
  assert.match(
    kept.err,
    /^plat\.config\.json lists customFields, so the next command that reads it leaves these out: --infer writes them there$/m,
  );
});

test('a name that is not valid for a field becomes the label of a drafted field, in tables and JSON, at every depth', async (t) => {
  const at = place(t);
  at.file('a.csv', 'ListingKey,Lot Size,2nd Bath\n1,3,yes\n');
  at.file('a.ndjson', [{ ListingKey: '2', 'Lot Size': 4, Media: [{ MediaKey: 'M', 'Shot by': 'Ann' }] }]);
  await at.done(['import', '--store', 'm.db', '--infer', 'a.csv', 'a.ndjson']);
  assert.deepEqual(declaredFields(at), [
    field('LotSize', 'integer', { label: 'Lot Size' }),
    field('Local2ndBath', 'boolean', { label: '2nd Bath' }),
    field('ShotBy', 'string', { label: 'Shot by' }, 'Media'),
  ]);
  // From now on they are known.
  at.file('b.csv', 'ListingKey,Lot Size\n3,5\n');
  await at.done(['import', '--store', 'm.db', 'b.csv']);
  const stored = await at.exported('m.db', 'Property');
  assert.deepEqual(
    stored.map(({ LotSize, Local2ndBath }) => [LotSize, Local2ndBath]),
    [
      [3, true],
      [4, undefined],
      [5, undefined],
    ],
  );
  assert.deepEqual(
    (await at.exported('m.db', 'Media')).map(({ ShotBy }) => ShotBy),
    ['Ann'],
  );
});

test('if --infer is interrupted between configuration and store, running it again completes it', async (t) => {
  const at = place(t);
  at.file('a.ndjson', [{ ListingKey: '1', Local: true }]);
  const store = await openStore(at.path('m.db'), { create: 'authority' });
  const dies = async (): Promise<never> => {
    throw new Error('killed');
  };
  try {
    const study = new Study(standardDictionary());
    const property = standardDictionary().resources.get('Property');
    assert.ok(property !== undefined);
    study.examine(property, { ListingKey: '1', Local: true }, false);
    const plan = await planDeclarations(store, study.drafts());
    await assert.rejects(declareAll({ configure: dies }, plan, at.path('plat.config.json')), /killed/);
    assert.equal((await store.model()).settings.declarations.customFields, undefined);
  } finally {
    await store.close();
  }
  at.file('plat.config.json.partial', '{"dictionary": {'); // of one that was killed before that
  await at.done(['import', '--store', 'm.db', '--infer', 'a.ndjson']);
  assert.deepEqual(config(at), { dictionary: { customFields: [field('Local', 'boolean')] } });
  assert.deepEqual(
    (await at.exported('m.db', 'Property')).map(({ Local }) => Local),
    [true],
  );
});

test('numbers of any size are drafted with a type that stores them, rounded only in a fraction', async (t) => {
  const at = place(t);
  const numbers = {
    Huge: ['1e300', '1'],
    Long: ['12345678901234567890', '2'],
    Tiny: ['1e-7', '3'],
    Fine: ['0.1234567890123', '1234567890123456'],
    Finest: ['1e-300', '0.5'],
    Beyond: ['1e-400', '1e999'],
    Precise: ['41.8781136000000012345', '7.00000000000000000001'],
  };
  const record = (at: number) => Object.entries(numbers).map(([name, values]) => `"${name}":${values[at]}`);
  at.file('a.ndjson', `{"ListingKey":"1",${record(0)}}\n{"ListingKey":"2",${record(1)}}\n`);
  const table = [
    'ListingKey,Place,Phone,Wide,Zip,Double,More',
    '3,-97.12345678,+15551234567,123456789012345678,01002,0.30000000000000004,1.2345678901234567891',
    '4,3,1,1e300,7,0.5,2',
  ];
  at.file('a.csv', table.join('\n'));
  const both = ['import', '--store', 'm.db', '--infer', '--json'];
  const [{ rejected, warnings }] = JSON.parse(await at.done([...both, 'a.ndjson']));
  const names = ['Huge', 'Long', 'Finest', 'Beyond'];
  assert.deepEqual(
    [rejected, warnings],
    [
      0,
      {
        textAsNumber: {
          'Property.Huge': 2,
          'Property.Finest': 2,
          'Property.Long': 2,
          'Property.Beyond': 2,
        },
        rounded: { 'Property.Precise': 2 },
      },
    ],
  );
  const [ofTable] = JSON.parse(await at.done([...both, 'a.csv']));
  assert.deepEqual([ofTable.rejected, ofTable.warnings], [0, {}]);
  assert.deepEqual(
    declaredFields(at).map(({ name, type }) => [name, type]),
    [
      ...[
        ['Huge', 'string'],
        ['Long', 'string'],
        ['Tiny', 'decimal(19,7)'],
        ['Fine', 'decimal(29,13)'],
        ['Finest', 'string'],
        ['Beyond', 'string'],
        ['Precise', 'decimal(19,7)'],
      ],
      ...[
        ['Place', 'decimal(20,8)'],
        ['Phone', 'string'],
        ['Wide', 'string'],
        ['Zip', 'string'],
        ['Double', 'decimal(29,17)'],
        ['More', 'string'],
      ],
    ],
  );
  const stored = await at.exported('m.db', 'Property');
  const held = (at: number, ...fields: string[]) => fields.map((name) => stored[at]?.[name]);
  const inJson = [...names, 'Tiny', 'Fine', 'Precise'];
  const inTable = ['Place', 'Phone', 'Wide', 'Zip'];
  assert.deepEqual(
    [held(0, ...inJson), held(1, ...inJson), held(2, ...inTable), held(3, ...inTable)],
    [
      ['1e300', '12345678901234567890', '1e-300', '1e-400', 1e-7, 0.1234567890123, 41.8781136],
      ['1', '2', '0.5', '1e999', 3, 1234567890123456, 7],
      [-97.12345678, '+15551234567', '123456789012345678', '01002'],
      [3, '1', '1e300', '7'],
    ],
  );
  // A numeric field rejects numbers that it would change.
  at.file('b.ndjson', '{"ListingKey":"5","Tiny":1e-400}\n{"ListingKey":"6","Tiny":12345678901234567890}\n');
  const { err } = await at.run(['import', '--store', 'm.db', 'b.ndjson']);
  assert.deepEqual(err.split('\n').slice(0, 2), [
    'b.ndjson:1: Tiny is 1e-400, which is beyond the precision of a number',
    'b.ndjson:2: Tiny is 12345678901234567890, which is beyond the precision of a number',
  ]);
});

test('names of properties of every JavaScript object are counted like others; a reason that many fields share is reported once', async (t) => {
  const at = place(t);
  const objects = Array.from({ length: 30 }, (_, index) => `"Obj${index}":{}`).join(',');
  at.file('a.ndjson', `{"ListingKey":"1","__proto__":"a","constructor":"b","toString":1,${objects}}\n`);
  const { code, out, err } = await at.run([
    ...['import', '--store', 'm.db', '--infer', '--extra-fields', 'ignore', '--json', 'a.ndjson'],
  ]);
  assert.equal(code, 0, err);
  const [{ ignored }]: [{ ignored: { unknown: Json } }] = JSON.parse(out);
  assert.deepEqual(Object.entries(ignored.unknown).slice(0, 4), [
    ['__proto__', 1],
    ['constructor', 1],
    ['toString', 1],
    ['Obj0', 1],
  ]);
  assert.match(
    err,
    /^a\.ndjson: ignored, .*: __proto__ \(1\), constructor \(1\), toString \(1\), Obj0 \(1\)/m,
  );
  assert.deepEqual(
    err.split('\n').filter((line) => line.includes('Obj') && line.startsWith('Property.')),
    [
      'Property.Obj0 and 29 more are not declared: its values are objects, or lists of something else than texts',
    ],
  );
});

test('a column that cannot be declared, and two of the same name, are reported with a remedy', async (t) => {
  const at = place(t);
  at.file('a.csv', 'ListingKey,List Price\n1,3\n');
  at.file('b.csv', 'ListingKey,City,City\n1,a,b\n');
  at.file('c.csv', 'ListingKey,City,Town\n1,a,b\n');
  const errors = [['--infer', 'a.csv'], ['a.csv'], ['b.csv'], ['--map', 'Town=City', 'c.csv']].map(
    async (args) => {
      const { code, err } = await at.run(['import', '--store', 'm.db', ...args]);
      return [code, err.trimEnd().split('\n').at(-1)];
    },
  );
  assert.deepEqual(await Promise.all(errors), [
    [
      2,
      'plat: Property.List Price cannot be declared, so nothing is declared or stored: use --map to name the field for each, or --extra-fields ignore to omit them.',
    ],
    [
      2,
      'plat: a.csv: List Price is not a field of Property: --map "List Price=ListPrice" gives a column its field, --infer declares new fields, --extra-fields ignore leaves them out.',
    ],
    [2, 'plat: b.csv: two columns are City; give one of them another name in the header.'],
    [2, 'plat: c.csv: two columns are City; --map "COLUMN=" leaves one of them out.'],
  ]);
});

test('a study says whether there may be more fields than it read', () => {
  const dictionary = standardDictionary();
  const study = new Study(dictionary);
  const property = dictionary.resources.get('Property');
  assert.ok(property !== undefined);
  const names = Array.from({ length: MOST_NAMES + 1 }, (_, index) => [`F${index}`, index] as const);
  study.examine(property, Object.fromEntries(names.slice(0, MOST_NAMES - 1)), false);
  assert.equal(study.isFull, false);
  study.examine(property, Object.fromEntries(names), false);
  assert.deepEqual([study.isFull, study.drafts().length], [true, MOST_NAMES]);
});

test('--infer creates the configuration that --config names; if it cannot be written, nothing is declared or stored', async (t) => {
  const at = place(t);
  at.file('a.ndjson', [{ ListingKey: '1', Local: true }]);
  const args = ['import', '--store', 'm.db', '--infer', 'a.ndjson', '--config'];
  const refused = await at.run([...args, 'none/own.json']);
  assert.equal(refused.code, 2);
  assert.match(refused.err, /^plat: The configuration none\/own\.json cannot be written: ENOENT: .*\.$/m);
  assert.deepEqual(JSON.parse(await at.done(['export', '--store', 'm.db', '--declarations'])), {
    dictionary: {},
  });
  assert.deepEqual(await at.exported('m.db', 'Property'), []);
  await at.done([...args, 'own.json']);
  assert.deepEqual(JSON.parse(readFileSync(at.path('own.json'), 'utf8')), {
    dictionary: { customFields: [field('Local', 'boolean')] },
  });
  const lacking = await at.run(['import', '--store', 'm.db', 'a.ndjson', '--config', 'no.json']);
  assert.deepEqual(
    [lacking.code, lacking.err],
    [
      2,
      "plat: The configuration no.json cannot be read: ENOENT: no such file or directory, open 'no.json'.\n",
    ],
    'without --infer',
  );
});

/** A store like that of `plat demo`, with a small market. */
async function demo(path: string): Promise<void> {
  const store = await openStore(path, {
    create: { ...DEFAULT_SETTINGS, declarations: { customFields: CUSTOM_FIELDS, lookups: CUSTOM_LOOKUPS } },
  });
  try {
    for (const [resource, list] of Map.groupBy(
      marketRecords({ seed: 7, listings: 25 }),
      (each) => each.resource,
    )) {
      const model = await store.model();
      const records = list.map(({ record }) => {
        const parsed = parseRecord(model.resource(resource), record, model);
        assert.ok(parsed.ok);
        return parsed.record;
      });
      await store.write(resource, records);
    }
  } finally {
    await store.close();
  }
}

const STAMP = /^(?:ModificationTimestamp|.*ChangeTimestamp)$/;
const plain = (records: readonly Json[]): Json[] =>
  records.map((record) => Object.fromEntries(Object.entries(record).filter(([name]) => !STAMP.test(name))));

test('an export with its declarations makes the same store: every record of every resource, children and custom fields', async (t) => {
  const at = place(t);
  await demo(at.path('demo.db'));
  const status = JSON.parse(await at.done(['status', '--store', 'demo.db', '--json']));
  const resources = status.resources
    .filter(({ rows }: { rows: number }) => rows > 0)
    .map(({ resource }: { resource: string }) => resource)
    .filter((name: string) => name !== 'Lookup' && name !== 'Field');
  assert.ok(resources.length >= 7, resources.join());
  await at.done(['export', '--store', 'demo.db', '--declarations', '--out', 'plat.config.json']);
  assert.deepEqual(config(at), { dictionary: { customFields: CUSTOM_FIELDS, lookups: CUSTOM_LOOKUPS } });
  for (const resource of resources) {
    const file = `${resource}.ndjson`;
    await at.done(['export', '--store', 'demo.db', '--resource', resource, '--out', file]);
    const args = ['import', '--store', 'new.db', '--strict', '--json', '--resource', resource, file];
    const [{ rejected, orphans, warnings }] = JSON.parse(await at.done(args));
    assert.deepEqual([rejected, orphans, warnings], [0, 0, {}], resource);
  }
  for (const resource of resources) {
    const [before, after] = [await at.exported('demo.db', resource), await at.exported('new.db', resource)];
    assert.ok(before.length > 0);
    assert.deepEqual(plain(after), plain(before), resource);
  }
  // One resource to stdout; without the declarations the same file is inferred.
  const media = JSON.parse(
    await at.done(['export', '--store', 'demo.db', '--declarations', '--resource', 'Media']),
  );
  assert.ok(CUSTOM_FIELDS.every(({ resource }) => resource === 'Property'));
  assert.deepEqual(media, {
    dictionary: { lookups: CUSTOM_LOOKUPS.filter(({ lookup }) => lookup === 'MediaType') },
  });
  const args = ['import', '--store', 'own.db', '--config', 'own.json', '--infer', 'Property.ndjson'];
  at.file('own.json', '{}');
  assert.match(await at.done(args), / 0 rejected$/m);
  // A store without the media counts none.
  const uncounted = (records: readonly Record<string, unknown>[]): unknown[] =>
    plain(records).map(({ PhotosCount: _, VideosCount: __, DocumentsCount: ___, ...record }) => record);
  assert.deepEqual(
    uncounted(await at.exported('own.db', 'Property')),
    uncounted(await at.exported('demo.db', 'Property')),
  );
  const none = await at.run(['export', '--store', 'demo.db']);
  assert.match(none.err, /^plat: --resource <name> is missing, or --declarations;/);
});
