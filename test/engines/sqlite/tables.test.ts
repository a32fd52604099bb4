/** Tables that get columns: tables without records are recreated with all that belongs to them, others are altered. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { openSqliteStore } from '../../../src/engines/sqlite/store.ts';
import { DEFAULT_SETTINGS } from '../../../src/records/settings.ts';
import { listing, photo } from '../../support/builders.ts';
import { testClock } from '../../support/clock.ts';
import { faultsIn } from '../../support/faults.ts';
import { emptyStoreFile } from '../../support/sqlite-engine.ts';
import { operations, TIME } from '../../support/world.ts';

/** An index covers two of them, and therefore has another name. */
const COVERED = ['Property.BedroomsTotal', 'Property.LivingArea'];
const FIELDS = [
  ...['Property.Basement', 'Property.PublicRemarks', 'Property.TaxYear', 'Media.ImageHeight'],
  ...COVERED,
];

/** Everything in a file by its name, tables with their columns. */
function schemaOf(file: string): string[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const entries = database
      .prepare("SELECT type, name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'")
      .all();
    const columns = database.prepare(
      'SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_info(?)',
    );
    return entries
      .map(({ type, name }) => {
        const own =
          type === 'table' ? columns.all(String(name)).map((row) => Object.values(row).join(' ')) : [];
        return [type, name, ...own.toSorted()].join('|');
      })
      .toSorted();
  } finally {
    database.close();
  }
}

test('a store that gets fields before its first record has the same tables as one that gets them afterwards', async (t) => {
  const clock = testClock();
  const grown = async (records: boolean) => {
    const path = await emptyStoreFile(DEFAULT_SETTINGS);
    const store = await openSqliteStore({ path, clock });
    t.after(() => store.close());
    const world = operations(store, clock);
    const record = listing('A', { City: 'Ely', ListPrice: 1, Media: [photo('M')] });
    if (records) await world.write('Property', record);
    await store.configure((settings) => ({
      ...settings,
      declarations: { ...settings.declarations, fieldsInUse: FIELDS },
    }));
    if (!records) await world.write('Property', record);
    return { path, store, ...world };
  };
  const [first, second] = [await grown(false), await grown(true)];
  assert.deepEqual(schemaOf(first.path), schemaOf(second.path));
  assert.deepEqual(
    schemaOf(second.path).filter((entry) => /^index.*_by_.*list_price/.test(entry)),
    [
      'index|property_search_by_city_list_price_with_ss_bt_la',
      'index|property_search_by_list_price_with_ss_bt_la',
    ],
  );
  for (const { write, keys, rows, request, store } of [first, second]) {
    const found = async (text: string): Promise<number> => {
      const { query } = await request('Property');
      return store.count({ ...query, search: { kind: 'word', text } }, TIME);
    };
    assert.deepEqual(await rows('Property', '$select=City,PublicRemarks'), [
      { City: 'Ely', PublicRemarks: null },
    ]);
    await write('Property', listing('B', { PublicRemarks: 'A quince tree', TaxYear: 2026 }));
    assert.deepEqual([await found('ely'), await found('quince')], [1, 1]);
    await store.remove('Property', ['B']);
    assert.deepEqual([await found('ely'), await found('quince')], [1, 0]);
    assert.deepEqual(await keys('Media'), ['M']);
    assert.deepEqual(await faultsIn(store), []);
  }
});

/** Puts the entries of Lookup in the order of their keys, as an older plat has stored them. */
function orderByKey(file: string): void {
  const database = new DatabaseSync(file);
  try {
    const entries = database
      .prepare("SELECT sql FROM sqlite_schema WHERE tbl_name = 'lookup_records' AND sql IS NOT NULL")
      .all();
    const [table = '', ...indexes] = entries.map(({ sql }) => String(sql));
    const older = `${table.replace('lookup_records', 'entries')} WITHOUT ROWID`;
    database.exec(`PRAGMA legacy_alter_table = ON; BEGIN; ${older};
      INSERT INTO entries SELECT * FROM lookup_records; DROP TABLE lookup_records;
      ALTER TABLE entries RENAME TO lookup_records; ${indexes.join(';')}; COMMIT;`);
  } finally {
    database.close();
  }
}

test('entries of Lookup are in the order in which they came into use; an older store keeps them in the order of keys', async (t) => {
  const clock = testClock();
  const path = await emptyStoreFile(DEFAULT_SETTINGS);
  const open = async () => {
    const store = await openSqliteStore({ path, clock });
    t.after(() => store.close());
    return { store, ...operations(store, clock) };
  };
  const published = (world: Awaited<ReturnType<typeof open>>): Promise<string[]> =>
    world.keys('Lookup', "$filter=LookupName eq 'Appliances' and StandardLookupValue eq null");
  const written = async (
    world: Awaited<ReturnType<typeof open>>,
    ...values: readonly string[]
  ): Promise<void> => void (await world.write('Property', listing(values.join(), { Appliances: values })));
  const first = await open();
  await written(first, 'Mill', 'Zither');
  await written(first, 'Anvil', 'Mill', 'Oboe');
  const all = ['Anvil', 'Mill', 'Oboe', 'Zither'].map((value) => `Appliances.${value}`);
  assert.deepEqual(await published(first), all);
  const plan = new DatabaseSync(path, { readOnly: true });
  const found = plan
    .prepare(
      "SELECT _key FROM lookup_records WHERE LookupValue IN ('Mill', 'Zither', 'Anvil', 'Oboe') ORDER BY rowid",
    )
    .all();
  const walked = plan
    .prepare("SELECT sum(ncell) AS entries FROM dbstat WHERE name = 'lookup_records_walk'")
    .get();
  plan.close();
  assert.deepEqual(
    found.map(({ _key }) => _key),
    ['Mill', 'Zither', 'Anvil', 'Oboe'].map((value) => `Appliances.${value}`),
  );
  assert.equal(walked?.entries, 0);
  assert.deepEqual(await faultsIn(first.store), []);
  await first.store.close();
  // An older plat calls a store damaged, and does not back it up, that lacks one of the indexes it knows.
  const indexes = ['by_lookup_name', 'id', 'source', 'walk'];
  assert.deepEqual(
    schemaOf(path).filter((entry) => entry.startsWith('index|lookup_records_')),
    indexes.map((name) => `index|lookup_records_${name}`),
  );
  orderByKey(path);
  const second = await open();
  assert.deepEqual(await faultsIn(second.store), []);
  await written(second, 'Kiln', 'Oboe');
  await second.store.remove('Property', ['Mill,Zither']);
  assert.deepEqual(
    await published(second),
    ['Anvil', 'Kiln', 'Mill', 'Oboe'].map((value) => `Appliances.${value}`),
  );
  assert.deepEqual(await second.store.fileFaults(), []);
  await second.store.configure((settings) => ({ ...settings, declarations: { fieldsInUse: FIELDS } }));
  assert.deepEqual(await faultsIn(second.store), []);
});
