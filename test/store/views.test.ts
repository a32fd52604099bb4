/** The views for queries by SQL, on both engines (docs/sql-views.md). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { Client } from 'pg';
import { openStore } from '../../src/open-store.ts';
import { DEFAULT_SETTINGS } from '../../src/records/settings.ts';
import { listing, member, openHouse, photo, photoOf, room } from '../support/builders.ts';
import { testClock } from '../support/clock.ts';
import { emptyDatabase } from '../support/postgres-engine.ts';
import { emptyStoreFile } from '../support/sqlite-engine.ts';
import { operations } from '../support/world.ts';

type Rows = readonly Readonly<Record<string, unknown>>[];

/** A store, and a connection to its database as another program has it. */
interface Opened {
  readonly address: string;
  ask(text: string): Promise<Rows>;
}

const ENGINES = {
  sqlite: async (t: TestContext): Promise<Opened> => {
    const address = await emptyStoreFile(DEFAULT_SETTINGS);
    const database = new DatabaseSync(address, { readOnly: true });
    t.after(() => database.close());
    return {
      address,
      ask: async (text) =>
        database
          .prepare(text)
          .all()
          .map((row) => ({ ...row })),
    };
  },
  postgres: async (t: TestContext): Promise<Opened> => {
    const { address, drop } = await emptyDatabase(DEFAULT_SETTINGS);
    const client = new Client({ connectionString: address, options: '-c search_path=plat' });
    await client.connect();
    t.after(async () => {
      await client.end();
      await drop();
    });
    return { address, ask: async (text) => (await client.query(text)).rows };
  },
} as const;

for (const engine of ['sqlite', 'postgres'] as const) {
  test(`${engine}: views have the fields in use, keys of parents, and current agents`, async (t) => {
    const { address, ask } = await ENGINES[engine](t);
    const store = await openStore(address);
    const { write } = operations(store, testClock());
    await write('Member', member('1'));
    const children = { Media: [photo('M')], Rooms: [room('R')], OpenHouses: [openHouse('O')] };
    await write(
      'Property',
      listing('A', { ListAgentKey: '1', ListPrice: 450_000, Appliances: ['Oven'], ...children }),
    );
    await write('Media', photoOf('gone', 'N'));
    assert.deepEqual(
      await ask('SELECT "ListingKey", "ListPrice", "ListAgentFullName", "Appliances" FROM property'),
      [{ ListingKey: 'A', ListPrice: 450_000, ListAgentFullName: 'Agent 1', Appliances: '["Oven"]' }],
    );
    assert.deepEqual(
      await ask('SELECT "MediaKey", "ResourceRecordKey", "ResourceName" FROM media ORDER BY "MediaKey"'),
      [
        { MediaKey: 'M', ResourceRecordKey: 'A', ResourceName: 'Property' },
        { MediaKey: 'N', ResourceRecordKey: 'gone', ResourceName: 'Property' },
      ],
    );
    assert.deepEqual(await ask('SELECT "ListingKey", "RoomKey" FROM rooms'), [
      { ListingKey: 'A', RoomKey: 'R' },
    ]);
    assert.deepEqual(await ask('SELECT "ListingKey", "OpenHouseKey" FROM open_houses'), [
      { ListingKey: 'A', OpenHouseKey: 'O' },
    ]);
    await write('Member', member('1', { MemberFullName: 'Ann' }));
    await write('Property', listing('B', { ListAgentKey: '1', City: 'Ely' }));
    assert.deepEqual(await ask('SELECT "City", "ListAgentFullName" FROM property ORDER BY "ListingKey"'), [
      { City: null, ListAgentFullName: 'Ann' },
      { City: 'Ely', ListAgentFullName: 'Ann' },
    ]);
    await store.close();
  });
}

const DOCUMENT = readFileSync(new URL('../../docs/sql-views.md', import.meta.url), 'utf8');

/** The statements in the document, for one engine. */
function examples(engine: keyof typeof ENGINES): string[] {
  const blocks = [...DOCUMENT.matchAll(/```sql\n(.*?)```/gs)].map(([, block = '']) => block);
  const own = blocks.filter((block) => block.includes('plat.') === (engine === 'postgres'));
  return own.flatMap((block) => block.split(';')).filter((text) => text.trim() !== '');
}

for (const engine of ['sqlite', 'postgres'] as const) {
  test(`${engine}: the statements in the document return rows`, async (t) => {
    const { address, ask } = await ENGINES[engine](t);
    const store = await openStore(address);
    const { write } = operations(store, testClock());
    const media = [photo('M', { PreferredPhotoYN: true })];
    const house = { UnparsedAddress: '1 Elm St', Appliances: ['Oven', 'Range'], ListAgentKey: '1' };
    await write('Member', member('1'));
    await write('Property', listing('A', { ...house, Media: media }));
    const texts = examples(engine);
    assert.equal(texts.length, engine === 'sqlite' ? 1 : 3);
    for (const text of texts) assert.equal((await ask(text)).length, 1, text);
    await store.close();
  });
}

test('postgres: dependent views stay when columns are added', async (t) => {
  const { address, ask } = await ENGINES.postgres(t);
  const store = await openStore(address);
  const { write } = operations(store, testClock());
  await write('Property', listing('A', { City: 'Ely' }));
  await ask('CREATE VIEW public.mine AS SELECT "ListingKey", "City" FROM plat.property');
  await write('Property', listing('B', { PostalCode: '1', City: 'Ely' }));
  assert.deepEqual(await ask('SELECT count(*)::integer AS n FROM public.mine'), [{ n: 2 }]);
  assert.deepEqual(await ask('SELECT "PostalCode" FROM property ORDER BY 1'), [
    { PostalCode: '1' },
    { PostalCode: null },
  ]);
  await store.close();
});
