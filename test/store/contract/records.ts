/** One record and its own fields: inserted, changed, unchanged, replaced completely. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listing, member } from '../../support/builders.ts';
import { SECOND } from '../../support/clock.ts';
import type { Engine } from '../../support/engine.ts';
import { nonZero } from '../../support/reports.ts';
import { type Json, makeWorld, pick } from '../../support/world.ts';

export function recordContract(engine: Engine): void {
  test('a record is inserted, then changed, and unchanged if its content is the same', async (t) => {
    const world = await makeWorld(engine, t);
    const first = { ListingKey: 'A', StandardStatus: 'Active', ListPrice: 450000 };
    assert.deepEqual(nonZero(await world.write('Property', first)), { inserted: 1 });

    world.clock.advance(60 * SECOND);
    const same = { ListPrice: 450000, ListingKey: 'A', StandardStatus: 'Active', City: null, Heating: [] };
    assert.deepEqual(nonZero(await world.write('Property', same)), { unchanged: 1 });
    const stamps = 'ModificationTimestamp,StatusChangeTimestamp,PriceChangeTimestamp,MajorChangeTimestamp';
    assert.deepEqual(await world.rows('Property', `$select=ListPrice,${stamps}`), [
      {
        ListPrice: 450000,
        ModificationTimestamp: '2026-06-01T12:00:00.500Z',
        StatusChangeTimestamp: '2026-06-01T12:00:00.500Z',
        PriceChangeTimestamp: '2026-06-01T12:00:00.500Z',
        MajorChangeTimestamp: '2026-06-01T12:00:00.500Z',
      },
    ]);

    const changed = { ...first, ListPrice: 440000 };
    assert.deepEqual(nonZero(await world.write('Property', changed)), { changed: 1 });
    assert.deepEqual(await world.rows('Property', `$select=ListPrice,${stamps}`), [
      {
        ListPrice: 440000,
        ModificationTimestamp: '2026-06-01T12:01:00.500Z',
        StatusChangeTimestamp: '2026-06-01T12:00:00.500Z',
        PriceChangeTimestamp: '2026-06-01T12:01:00.500Z',
        MajorChangeTimestamp: '2026-06-01T12:01:00.500Z',
      },
    ]);
  });

  test('the status of an organization has a timestamp of its own', async (t) => {
    const world = await makeWorld(engine, t);
    const stamps = '$select=ModificationTimestamp,OrganizationStatusChangeTimestamp';
    const [first, second, third] = ['00', '01', '02'].map((at) => `2026-06-01T12:${at}:00.500Z`);
    const timestamps = async (fields: Json): Promise<unknown> => {
      await world.write('OUID', { OrganizationUniqueIdKey: 'O', ...fields });
      world.clock.advance(60 * SECOND);
      return (await world.rows('OUID', stamps)).map(Object.values);
    };
    assert.deepEqual(await timestamps({ OrganizationStatus: true }), [[first, first]]);
    assert.deepEqual(await timestamps({ OrganizationStatus: true, OrganizationName: 'A' }), [
      [second, first],
    ]);
    assert.deepEqual(await timestamps({ OrganizationStatus: false, OrganizationName: 'A' }), [
      [third, third],
    ]);
  });

  test('a record replaces the stored one completely: absent fields become null', async (t) => {
    const world = await makeWorld(engine, t);
    const full = { ListingKey: 'A', City: 'Duluth', ListPrice: 1, Heating: ['Forced Air'], GarageYN: true };
    await world.write('Property', full);
    assert.deepEqual(nonZero(await world.write('Property', { ListingKey: 'A', City: 'Ely' })), {
      changed: 1,
    });
    const select = '$select=City,ListPrice,Heating,GarageYN';
    const expected = { City: 'Ely', ListPrice: null, Heating: [], GarageYN: null };
    assert.deepEqual(await world.rows('Property', select), [expected]);
    const whole = await world.record('Property', 'A');
    assert.deepEqual(pick(whole, 'City', 'ListPrice', 'Heating', 'GarageYN'), expected);
    assert.deepEqual(await world.keys('Property', '$filter=GarageYN eq null and not Heating/any()'), ['A']);
  });

  test('values of every type are returned as they were written', async (t) => {
    const world = await makeWorld(engine, t);
    const values = {
      PublicRemarks:
        'Quotes "double", \'single\', back\\slash, new\nline, tab\t, ü, 漢字, 🏡, \u2028 and \u007f',
      BedroomsTotal: -3,
      ListPrice: 450000,
      TaxAnnualAmount: 1234.56,
      LotSizeAcres: 0.0001,
      Latitude: 46.78667123,
      Longitude: -92.10048999,
      PoolPrivateYN: false,
      WaterfrontYN: true,
      CloseDate: '2024-02-29',
      OffMarketTimestamp: '2024-05-01T12:00:00.120Z',
      Heating: ['Forced Air', 'Ça, "va"'],
    };
    await world.write('Property', { ListingKey: 'A', ...values });
    const names = Object.keys(values);
    assert.deepEqual(pick(await world.record('Property', 'A'), ...names), values);
    assert.deepEqual(await world.rows('Property', `$select=${names.join()}`), [values]);
    const [exported] = await world.exported('Property');
    assert.deepEqual(pick(exported, ...names), values);
  });

  test('a number keeps the text that it has in JSON', async (t) => {
    const world = await makeWorld(engine, t);
    const numbers = [0, 1, 450000, 1e11, 0.1, 123456789.13, 999999999999.99];
    await world.write(
      'Property',
      ...numbers.map((ListPrice, index) => ({ ListingKey: `N${index}`, ListPrice })),
    );
    const { query, position, limit, shape, files } = await world.request('Property', '$select=ListPrice');
    const page = await world.store.page({ query, position, limit, shape, files }, { milliseconds: 1000 });
    const expected = numbers.map((ListPrice) => JSON.stringify({ ListPrice })).join();
    assert.equal(new TextDecoder().decode(page.body), expected);
  });

  test('timestamps and joined fields in the input are ignored, unknown fields are rejected', async (t) => {
    const world = await makeWorld(engine, t);
    const record = {
      ListingKey: 'A',
      ModificationTimestamp: '1999-01-01T00:00:00Z',
      PhotosChangeTimestamp: '1999-01-01T00:00:00Z',
      ListAgentFullName: 'Somebody Else',
    };
    const { dropped } = await world.parse('Property', record);
    assert.deepEqual(
      dropped.map(({ name, why }) => ({ name, why })),
      [
        { name: 'ModificationTimestamp', why: 'stamp' },
        { name: 'PhotosChangeTimestamp', why: 'stamp' },
        { name: 'ListAgentFullName', why: 'joined' },
      ],
    );
    await world.write('Property', record);
    assert.deepEqual(
      await world.rows('Property', '$select=ModificationTimestamp,PhotosChangeTimestamp,ListAgentFullName'),
      [{ ModificationTimestamp: world.clock.text(), PhotosChangeTimestamp: null, ListAgentFullName: null }],
    );
    assert.deepEqual(await world.reasons('Property', { ListingKey: 'A', Citty: 'X' }), [
      'Property has no field Citty (did you mean City?)',
    ]);
  });

  test('all records of a batch of several thousand are stored once', async (t) => {
    const world = await makeWorld(engine, t);
    const keys = Array.from({ length: 2500 }, (_, index) => `K${String(index).padStart(5, '0')}`);
    const report = await world.write('Property', ...keys.map((ListingKey) => ({ ListingKey })));
    assert.deepEqual(nonZero(report), { inserted: 2500 });
    assert.deepEqual(await world.keys('Property'), keys);
    assert.equal(await world.count('Property'), 2500);
  });

  test('a write of no records does nothing', async (t) => {
    const world = await makeWorld(engine, t);
    assert.deepEqual(nonZero(await world.store.write('Property', [])), {});
    assert.deepEqual(nonZero(await world.store.remove('Property', [])), {});
    assert.deepEqual(nonZero(await world.store.remove('Property', ['never', 'stored'])), {});
  });

  test('a record from which nulls are omitted is complete, however many fields are selected', async (t) => {
    const names = Array.from({ length: 260 }, (_, at) => `Note_${at + 100}`);
    const customFields = names.map((name) => ({
      resource: 'Property',
      name,
      group: 'Notes',
      label: name,
      type: 'string(20)',
    }));
    const world = await makeWorld(engine, t, { settings: { declarations: { customFields } } });
    const agents = ['ListAgentFullName', 'ListAgentEmail'];
    await world.write('Member', member('M', { MemberEmail: 'm@agents.example' }));
    const notes = Object.fromEntries(names.map((name) => [name, `of ${name}`]));
    await world.write('Property', listing('A', { ...notes, ListAgentKey: 'M' }));
    for (const length of [50, 140, 230, 260]) {
      const selected = ['ListingKey', ...names.slice(0, length), ...agents];
      const record = await world.record('Property', 'A', `$select=${selected.join()}`, { omitNulls: true });
      assert.deepEqual(Object.keys(record ?? {}).toSorted(), selected.toSorted());
    }
  });
}
