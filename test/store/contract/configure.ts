/** A store is configured while it is used: consequences of the settings apply at once, and no data is lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CustomFieldDeclaration } from '../../../src/dictionary/index.ts';
import type { StoreSettings } from '../../../src/records/settings.ts';
import { findFaults } from '../../../src/store/check/check-store.ts';
import { listing, openHouse, photo } from '../../support/builders.ts';
import type { Engine } from '../../support/engine.ts';
import { IDX, PRIVATE, type Viewer } from '../../support/views.ts';
import { makeWorld, operations, pick, type World } from '../../support/world.ts';

const PLOW: CustomFieldDeclaration = {
  resource: 'Property',
  name: 'Winter_Plow',
  group: 'Winter',
  label: 'Plow',
  type: 'string(20)',
  class: 'idx',
};

const custom = (...fields: readonly CustomFieldDeclaration[]) => ({ declarations: { customFields: fields } });

const change = (world: World, settings: Partial<StoreSettings>) =>
  world.store.configure((current) => ({ ...current, ...settings }));

const customFields = async (world: World, viewer: Viewer = PRIVATE) =>
  (await world.listing('A', { viewer, select: ['ListingKey'], expansions: ['CustomFields'] }))?.CustomFields;

/** Whole records equal selections of all their fields. */
async function assertComplete(world: World): Promise<void> {
  for (const viewer of [PRIVATE, IDX]) {
    const { query } = await world.request('Property', '', { viewer });
    const names = query.view.fieldsOf(query.resource).map(({ name }) => name);
    const selected = await world.rows('Property', `$select=${names.join()}`, { viewer });
    assert.deepEqual(await world.rows('Property', '', { viewer }), selected);
  }
}

export function configureContract(engine: Engine): void {
  test('a custom field that is declared later is null in old records', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', listing('A'));
    await assert.rejects(world.rows('Property', '$select=Winter_Plow'), { code: 'fieldUnknown' });
    await change(world, custom(PLOW));
    assert.equal((await world.record('Property', 'A'))?.Winter_Plow, null);
    await world.write('Property', listing('B', { Winter_Plow: 'City' }));
    assert.deepEqual(await world.keys('Property', "$filter=Winter_Plow eq 'City'"), ['B']);
    assert.deepEqual(await customFields(world), [{ Main: [{ Winter: [{ Plow: null }] }], Details: [] }]);
    assert.deepEqual(await world.keys('Field', "$filter=FieldName eq 'Winter_Plow'"), [
      'Property.Winter_Plow',
    ]);
    await assertComplete(world);
  });

  test('settings that change nothing do not wait for a process that writes', async (t) => {
    const world = await makeWorld(engine, t, { settings: custom(PLOW) });
    await world.write('Property', listing('A', { Winter_Plow: 'City' }));
    const release = await world.hold();
    const other = await world.again();
    const { generation } = await other.model();
    await other.configure((current) => ({ ...current, ...custom(PLOW) }));
    assert.equal((await other.model()).generation, generation);
    await release();
  });

  test('a custom field that is renamed keeps its name in the API, and its data', async (t) => {
    const world = await makeWorld(engine, t, { settings: custom(PLOW) });
    await world.write('Property', listing('A', { Winter_Plow: 'City' }));
    const stamp = '$select=ModificationTimestamp';
    const before = await world.rows('Property', stamp);
    world.clock.advance(1000);
    await change(world, custom({ ...PLOW, section: 'Details', group: 'Snow', label: 'Removal' }));
    assert.equal((await world.record('Property', 'A'))?.Winter_Plow, 'City');
    assert.deepEqual(await customFields(world), [{ Main: [], Details: [{ Snow: [{ Removal: 'City' }] }] }]);
    assert.deepEqual(await world.rows('Property', stamp), before);
    const model = await world.store.model();
    const found = model.resource('Property').fields.get('Winter_Plow');
    assert.deepEqual(found?.custom, { section: 'Details', group: 'Snow', label: 'Removal' });
  });

  test('a custom field that moves to another class is visible to the roles of that class only', async (t) => {
    const world = await makeWorld(engine, t, { settings: custom(PLOW) });
    await world.write('Property', listing('A', { Winter_Plow: 'City' }));
    const seen = async () =>
      'Winter_Plow' in ((await world.record('Property', 'A', '', { viewer: IDX })) ?? {});
    assert.equal(await seen(), true);
    await change(world, custom({ ...PLOW, class: 'private' }));
    assert.equal(await seen(), false);
    assert.equal((await world.record('Property', 'A'))?.Winter_Plow, 'City');
    await assertComplete(world);
    await change(world, custom(PLOW));
    assert.equal(await seen(), true);
    assert.equal((await world.record('Property', 'A', '', { viewer: IDX }))?.Winter_Plow, 'City');
    await assertComplete(world);
  });

  test('a custom field that is no longer declared disappears, and returns with its data', async (t) => {
    const world = await makeWorld(engine, t, { settings: custom(PLOW) });
    await world.write('Property', listing('A', { Winter_Plow: 'City' }), listing('B'));
    await change(world, custom());
    assert.equal('Winter_Plow' in ((await world.record('Property', 'A')) ?? {}), false);
    await world.write('Property', listing('B', { City: 'Ely' }), listing('C'));
    await assertComplete(world);
    await change(world, custom(PLOW));
    await assertComplete(world);
    const rows = await world.rows('Property', '$select=ListingKey,Winter_Plow');
    assert.deepEqual(rows, [
      { ListingKey: 'A', Winter_Plow: 'City' },
      { ListingKey: 'B', Winter_Plow: null },
      { ListingKey: 'C', Winter_Plow: null },
    ]);
  });

  test('a value of an undeclared field moves with a photo to another listing', async (t) => {
    const note = { ...PLOW, resource: 'Media', name: 'Winter_Note', label: 'Note' };
    const world = await makeWorld(engine, t, { settings: custom(note) });
    const noted = photo('M1', { Winter_Note: 'Snow' });
    await world.write('Property', listing('A', { Media: [noted, photo('M2')] }), listing('B'));
    await change(world, custom());
    await world.write('Property', listing('B', { Media: [photo('M1', { Order: 2 })] }));
    await change(world, custom(note));
    assert.deepEqual(await world.rows('Media', '$select=MediaKey,ResourceRecordKey,Winter_Note'), [
      { MediaKey: 'M1', ResourceRecordKey: 'B', Winter_Note: 'Snow' },
      { MediaKey: 'M2', ResourceRecordKey: 'A', Winter_Note: null },
    ]);
  });

  test('a field that is declared again keeps values of records that were written meanwhile', async (t) => {
    const note = { ...PLOW, resource: 'Media', name: 'Winter_Note', label: 'Note' };
    const both = { declarations: { customFields: [PLOW, note] } };
    const world = await makeWorld(engine, t, { settings: both });
    const noted = photo('M1', { Winter_Note: 'Snow' });
    await world.write('Property', listing('A', { Winter_Plow: 'City', Media: [noted] }), listing('B'));
    await world.write('Media', photo('M2', { ResourceRecordKey: 'C', Winter_Note: 'Ice' }));
    await change(world, custom());
    await world.write('Property', listing('A', { City: 'Ely', Media: [photo('M1', { Order: 2 })] }));
    await world.write('Media', photo('M2', { ResourceRecordKey: 'C', Order: 2 }));
    await change(world, both);
    await assertComplete(world);
    assert.deepEqual(await Array.fromAsync(findFaults(world.store)), []);
    const again = await world.write('Property', listing('A', { City: 'Ely', Winter_Plow: 'City' }));
    assert.deepEqual([again.unchanged, again.changed], [1, 0]);
    const other = await world.write('Property', listing('A', { City: 'Ely' }));
    assert.deepEqual([other.unchanged, other.changed], [0, 1]);
    assert.equal((await world.record('Property', 'A'))?.Winter_Plow, null);
    await assertComplete(world);
  });

  test('a custom field with data cannot change its type, but its limits may grow', async (t) => {
    const world = await makeWorld(engine, t, { settings: custom(PLOW) });
    await world.write('Property', listing('A', { Winter_Plow: 'City' }));
    for (const type of ['integer', 'string(20)[]', 'boolean']) {
      await assert.rejects(change(world, custom({ ...PLOW, type })), {
        code: 'usage',
        message: `The custom field Property.Winter_Plow has values of another type than ${type}; declare a new one.`,
      });
    }
    await change(world, custom({ ...PLOW, type: 'string(30)' }));
    await world.write('Property', listing('A', { Winter_Plow: 'x'.repeat(30) }));
    assert.deepEqual(await world.reasons('Property', listing('A', { Winter_Plow: 'x'.repeat(31) })), [
      'Winter_Plow has 31 characters, but takes at most 30',
    ]);
  });

  test('lookups may grow, and are published with the fields that use them', async (t) => {
    const world = await makeWorld(engine, t);
    const field = { ...PLOW, lookup: 'Plows' };
    const lookups = (values: readonly string[]) => ({
      declarations: { customFields: [field], lookups: [{ lookup: 'Plows', values }] },
    });
    await change(world, lookups(['City', 'Owner']));
    const published = () => world.keys('Lookup', "$filter=LookupName eq 'Plows'");
    assert.deepEqual(await published(), ['Plows.City', 'Plows.Owner']);
    world.clock.advance(1000);
    await change(world, lookups(['Owner', 'Road Fund']));
    assert.deepEqual(await published(), ['Plows.Owner', 'Plows.Road Fund']);
    const later = "$filter=LookupName eq 'Plows' and ModificationTimestamp ge 2026-06-01T12:00:01Z";
    assert.deepEqual(await world.keys('Lookup', later), ['Plows.Road Fund']);
  });

  test('a new time zone changes the times of every open house', async (t) => {
    const world = await makeWorld(engine, t);
    const house = openHouse('O', { OpenHouseStartTime: '2026-06-06T18:00:00Z' });
    await world.write('Property', listing('A', { OpenHouses: [house] }));
    const time = async () => {
      const shown = await world.listing('A', { select: ['ListingKey'], expansions: ['OpenHouses'] });
      const [first] = Object(shown?.StandardFields).OpenHouses;
      return first.StartTime;
    };
    assert.equal(await time(), '06:00 PM');
    await change(world, { timeZone: 'America/Chicago' });
    assert.equal(await time(), '01:00 PM');
  });

  test('agent and office fields come from the payload if the settings say so', async (t) => {
    const settings = { owner: 'replica', agentsFrom: 'payload' } as const;
    const world = await makeWorld(engine, t, { settings });
    await world.write(
      'Property',
      listing('A', {
        ListAgentKey: '1',
        ListAgentFullName: 'Ann',
        ModificationTimestamp: '2020-01-01T00:00:00Z',
      }),
    );
    const names = ['ListAgentKey', 'ListAgentFullName', 'ModificationTimestamp'];
    const expected = {
      ListAgentKey: '1',
      ListAgentFullName: 'Ann',
      ModificationTimestamp: '2020-01-01T00:00:00Z',
    };
    assert.deepEqual(pick(await world.record('Property', 'A'), ...names), expected);
    assert.deepEqual(
      await world.rows('Property', `$select=${names.join()}&$filter=ListAgentFullName eq 'Ann'`),
      [expected],
    );
    const native = await world.listing('A');
    assert.deepEqual(pick(Object(native?.StandardFields), 'ListAgentId', 'ListAgentFullName'), {
      ListAgentId: '1',
      ListAgentFullName: 'Ann',
    });
  });

  test('the origin of agent and office fields cannot change once records are stored', async (t) => {
    const world = await makeWorld(engine, t, { settings: { owner: 'replica' } });
    await change(world, { agentsFrom: 'payload' });
    await world.write('Property', listing('A', { ListAgentFullName: 'Ann', Media: [photo('M')] }));
    assert.equal((await world.record('Property', 'A'))?.ListAgentFullName, 'Ann');
    const reason = 'Once listings are stored, their agent and office fields come from the payload for good.';
    await assert.rejects(change(world, { agentsFrom: 'records' }), { code: 'usage', message: reason });
    const owner = change(world, { owner: 'authority' });
    await assert.rejects(owner, { code: 'usage', message: 'A store that contains records stays a replica.' });
  });

  test('every process sees a changed setting; a configuration without changes has no effect', async (t) => {
    const world = await makeWorld(engine, t);
    const other = await world.again();
    const elsewhere = operations(other, world.clock);
    const { generation } = await other.model();
    await change(world, {});
    assert.equal((await other.model()).generation, generation);
    await change(world, custom(PLOW));
    assert.equal((await other.model()).generation, generation + 1);
    await elsewhere.write('Property', listing('A', { Winter_Plow: 'City', City: 'Ely' }));
    assert.deepEqual(await world.rows('Property', '$select=Winter_Plow,City'), [
      { Winter_Plow: 'City', City: 'Ely' },
    ]);
    assert.equal((await world.store.model()).generation, generation + 2);
  });

  test('two processes that bring fields into use at the same time both succeed', async (t) => {
    const world = await makeWorld(engine, t);
    const other = operations(await world.again(), world.clock);
    const [first, second] = [
      await world.parse('Property', listing('A', { City: 'Ely' })),
      await other.parse('Property', listing('B', { PostalCode: '55731' })),
    ];
    await Promise.all([
      world.store.write('Property', [first]),
      (await world.again()).write('Property', [second]),
    ]);
    await world.write('Property', listing('C', { City: 'Ely', PostalCode: '1' }));
    await assertComplete(world);
    assert.deepEqual(await world.keys('Property', "$filter=City eq 'Ely'"), ['A', 'C']);
  });

  test('invalid settings are rejected, and none of them is stored', async (t) => {
    const world = await makeWorld(engine, t);
    const { generation } = await world.store.model();
    await assert.rejects(change(world, custom({ ...PLOW, type: 'text' })), {
      message: 'The custom field Property.Winter_Plow: its type text is not known.',
    });
    await assert.rejects(change(world, { declarations: { fieldsInUse: ['Property.Nothing'] } }), {
      message: 'fieldsInUse: there is no field Property.Nothing.',
    });
    // The second is a text from which Temporal would take the time zone.
    for (const timeZone of ['Mars/Olympus', '2026-01-01T00:00[UTC]']) {
      const message = `There is no time zone ${timeZone}.`;
      await assert.rejects(change(world, { timeZone }), { code: 'usage', message });
    }
    assert.equal((await world.store.model()).generation, generation);
  });

  test('a time zone is a name of the IANA database, an alias of it or an offset', async (t) => {
    const world = await makeWorld(engine, t);
    for (const timeZone of ['America/Chicago', 'etc/utc', 'PST', '+0500']) {
      await change(world, { timeZone });
      assert.equal((await world.store.model()).settings.timeZone, timeZone);
    }
  });
}
