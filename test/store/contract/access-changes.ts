/** What a role sees changes at once with the record, the day and the definition of roles. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUILT_IN_ACCESS, type RoleDefinition } from '../../../src/access/index.ts';
import { listing, openHouse, photo, room } from '../../support/builders.ts';
import type { Engine } from '../../support/engine.ts';
import { faultsIn } from '../../support/faults.ts';
import { IDX } from '../../support/views.ts';
import { type Json, makeWorld, operations, TIME, type World } from '../../support/world.ts';

const CHILDREN = {
  Media: [photo('M')],
  Rooms: [room('R')],
  OpenHouses: [openHouse('O', { Media: [photo('OM')] })],
};

const RESOURCES = ['Property', 'PropertyRooms', 'OpenHouse', 'Media'];

async function seen(world: Pick<World, 'keys' | 'count'>, role: string): Promise<string> {
  const viewer = { role };
  const found: string[] = [];
  for (const resource of RESOURCES) {
    const keys = await world.keys(resource, '', { viewer });
    assert.equal(await world.count(resource, '', viewer), keys.length);
    found.push(...keys);
  }
  return found.join(' ');
}

const roles = (...definitions: readonly RoleDefinition[]) => ({
  access: { ...BUILT_IN_ACCESS, roles: [...BUILT_IN_ACCESS.roles, ...definitions] },
});

const partner = (
  listings: string,
  others: Readonly<Record<string, string>>,
  classes = ['idx'],
): RoleDefinition => ({
  name: 'partner',
  classes,
  resources: { Property: listings, ...others },
});

export function accessChangeContract(engine: Engine): void {
  test('a role whose rule compares a count sees a listing once it has enough media', async (t) => {
    const world = await makeWorld(engine, t);
    const rules = roles(partner('PhotosCount ge 2', { Media: '' }));
    await world.store.configure((settings) => ({ ...settings, ...rules }));
    await world.write('Property', listing('A', { Media: [photo('M')] }), listing('B'));
    assert.equal(await seen(world, 'partner'), '');
    await world.write('Media', photo('N', { ResourceRecordKey: 'A' }));
    assert.equal(await seen(world, 'partner'), 'A M N');
    await world.store.remove('Media', ['M']);
    assert.equal(await seen(world, 'partner'), '');
    assert.deepEqual(await faultsIn(world.store), []);
  });

  test('rules with has are evaluated again in a store of an older plat, to which has was never null', async (t) => {
    const world = await makeWorld(engine, t);
    const asBefore = "StandardStatus eq null or not (StandardStatus has 'Active')";
    const rules = roles(partner(asBefore, { Media: '' }));
    await world.store.configure((settings) => ({ ...settings, ...rules }));
    const unknown = listing('B', { StandardStatus: null, Media: [photo('M')] });
    await world.write('Property', listing('A', { StandardStatus: 'Closed' }), unknown);
    assert.equal(await seen(world, 'partner'), 'A B M');
    await world.damage(
      "UPDATE plat_meta SET value = replace(value, 'StandardStatus eq null or not', 'not') WHERE name = 'settings'",
      "UPDATE plat_meta SET value = 'of an older plat' WHERE name = 'counting_rules'",
    );
    const [store, other] = await Promise.all([world.again(), world.again()]);
    assert.equal(await seen({ ...world, ...operations(store, world.clock) }, 'partner'), 'A');
    for (const opened of [store, other]) assert.deepEqual(await faultsIn(opened), []);
  });

  test('a change of status changes who sees the listing, its children and theirs', async (t) => {
    const world = await makeWorld(engine, t);
    const write = (status: string, children: Json = {}) =>
      world.write('Property', listing('A', { StandardStatus: status, ...children }));
    await write('Active', CHILDREN);
    assert.equal(await seen(world, 'idx'), 'A R O M OM');
    await write('Withdrawn');
    assert.equal(await seen(world, 'idx'), '');
    assert.equal(await seen(world, 'vow'), 'A R O M OM');
    assert.equal(await seen(world, 'private'), 'A R O M OM');
    await write('Active');
    assert.equal(await seen(world, 'idx'), 'A R O M OM');
    // Together with a change of the children themselves.
    await write('Incomplete', { Media: [photo('M', { ShortDescription: 'x' }), photo('N')], Rooms: [] });
    assert.equal(await seen(world, 'idx'), '');
    assert.equal(await seen(world, 'private'), 'A O M N OM');
    await write('Active', { Media: [photo('N')] });
    assert.equal(await seen(world, 'idx'), 'A O N OM');
  });

  test('a listing sold three years ago leaves the view at midnight, not before', async (t) => {
    const world = await makeWorld(engine, t);
    const sold = { StandardStatus: 'Closed', CloseDate: '2023-06-01' };
    await world.write('Property', listing('A', { ...sold, ...CHILDREN }));
    world.clock.set('2026-06-01T23:59:59.999Z');
    assert.equal(await seen(world, 'idx'), 'A R O M OM');
    world.clock.set('2026-06-02T00:00:00Z');
    assert.equal(await seen(world, 'idx'), '');
    assert.equal(await seen(world, 'vow'), 'A R O M OM');
    assert.equal(await world.record('Property', 'A', '', { viewer: IDX }), undefined);
    assert.equal((await world.store.model()).day, '2026-06-02');
    const other = operations(await world.again(), world.clock);
    assert.equal(await seen(other, 'idx'), '');
  });

  test('rules may compare keys like any other field, of records and of their parents', async (t) => {
    const rules = partner("ListingKey ne 'B'", {
      PropertyRooms: "RoomKey ne 'R2'",
      Media: "ResourceRecordKey eq 'A' and ResourceName eq 'Property'",
    });
    const world = await makeWorld(engine, t, { settings: roles(rules) });
    const children = (name: string) => ({
      Media: [photo(`M${name}`)],
      Rooms: [room(`R${name}1`), room(`R${name}2`)],
    });
    await world.write('Property', listing('A', { ...children('A'), Rooms: [room('R1'), room('R2')] }));
    await world.write('Property', listing('B', children('B')), listing('C', children('C')));
    assert.equal(await seen(world, 'partner'), 'A C R1 RC1 RC2 MA');
    await world.write('Property', listing('B', { ListPrice: 7 }));
    assert.equal(await seen(world, 'partner'), 'A C R1 RC1 RC2 MA');
  });

  test('a new day also begins in a process whose first call on it is a write', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', listing('A', { StandardStatus: 'Closed', CloseDate: '2023-06-01' }));
    const newField = await world.parse('Property', listing('B', { City: 'Ely' }));
    world.clock.set('2026-06-02T00:00:00Z');
    await world.store.write('Property', [newField]);
    assert.equal(await seen(world, 'idx'), 'B');
  });

  test('three years before a leap day is the last of February', async (t) => {
    const world = await makeWorld(engine, t);
    world.clock.set('2028-02-29T12:00:00Z');
    const sold = (key: string, CloseDate: string) => listing(key, { StandardStatus: 'Closed', CloseDate });
    await world.write('Property', sold('A', '2025-02-28'), sold('B', '2025-02-27'), sold('C', '2025-03-01'));
    assert.equal(await seen(world, 'idx'), 'A C');
    world.clock.set('2028-03-01T00:00:00Z');
    assert.equal(await seen(world, 'idx'), 'C');
  });

  test('a calendar rule of a child applies with the day', async (t) => {
    const rule = partner('', { OpenHouse: 'OpenHouseDate ge {today}', Media: '' });
    const world = await makeWorld(engine, t, { settings: roles(rule) });
    const house = openHouse('O', { OpenHouseDate: '2026-06-01', Media: [photo('OM')] });
    await world.write('Property', listing('A', { OpenHouses: [house] }));
    assert.equal(await seen(world, 'partner'), 'A O OM');
    world.clock.set('2026-06-02T08:00:00Z');
    assert.equal(await seen(world, 'partner'), 'A');
  });

  test('a new definition of a role applies to every row at once, including children', async (t) => {
    const world = await makeWorld(engine, t, { settings: roles(partner("City eq 'Ely'", { Media: '' })) });
    await world.write(
      'Property',
      listing('A', { City: 'Ely', ...CHILDREN }),
      listing('B', { City: 'Aurora', Media: [photo('N', { ShortDescription: 'front' })] }),
    );
    assert.equal(await seen(world, 'partner'), 'A M');
    const configure = (definition: RoleDefinition) =>
      world.store.configure((settings) => ({ ...settings, ...roles(definition) }));
    const before = (await world.store.model()).generation;
    const model = await configure(partner("City eq 'Aurora'", { Media: '' }));
    assert.equal(model.generation, before + 1);
    assert.equal(await seen(world, 'partner'), 'B N');
    // Only the rule of a child.
    await configure(partner('', { Media: "ShortDescription eq 'front'", PropertyRooms: '', OpenHouse: '' }));
    assert.equal(await seen(world, 'partner'), 'A B R O N');
    // Roles in another order have other bits.
    const reversed = [...BUILT_IN_ACCESS.roles].toReversed();
    await world.store.configure((settings) => ({
      ...settings,
      access: { ...BUILT_IN_ACCESS, roles: reversed },
    }));
    await world.write('Property', listing('A', { City: 'Ely', StandardStatus: 'Withdrawn' }));
    assert.equal(await seen(world, 'idx'), 'B N');
    assert.equal(await seen(world, 'private'), 'A B R O M N OM');
    assert.equal((await world.store.model()).rules.roles.get('partner'), undefined);
  });

  test('a role that gains or loses a class of fields sees it, or no longer sees it, at once', async (t) => {
    const world = await makeWorld(engine, t, { settings: roles(partner('', {}, [])) });
    await world.write('Property', listing('A', { ListPrice: 1, PrivateRemarks: 'x' }));
    const viewer = { role: 'partner' };
    const shown = async () => {
      const record = await world.record('Property', 'A', '', { viewer });
      return ['ListPrice', 'PrivateRemarks'].filter((name) => name in (record ?? {})).join();
    };
    assert.equal(await shown(), '');
    const fields = () =>
      world.keys('Field', "$filter=ResourceName eq 'Property'", { viewer: { role: 'private' } });
    await fields();
    await world.store.configure((settings) => ({
      ...settings,
      ...roles(partner('', {}, ['idx', 'private'])),
    }));
    assert.equal(await shown(), 'ListPrice,PrivateRemarks');
    await world.store.configure((settings) => ({ ...settings, ...roles(partner('', {}, ['private'])) }));
    assert.equal(await shown(), 'PrivateRemarks');
  });

  test('a new condition on withheld fields applies at once', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', listing('A', { City: 'Ely', ListPrice: 1 }));
    const city = async () => (await world.record('Property', 'A', '', { viewer: IDX }))?.City;
    assert.equal(await city(), 'Ely');
    const withheld = [{ resource: 'Property', classes: ['address'], shownWhen: 'ListPrice gt 5' }];
    await world.store.configure((settings) => ({ ...settings, access: { ...BUILT_IN_ACCESS, withheld } }));
    assert.equal(await city(), null);
    assert.deepEqual(await world.keys('Property', "$filter=City eq 'Ely'", { viewer: IDX }), []);
  });

  test('a definition that cannot be evaluated per record is rejected, and changes nothing', async (t) => {
    const world = await makeWorld(engine, t);
    const refuse = async (definition: RoleDefinition, reason: string | RegExp) => {
      const changed = world.store.configure((settings) => ({ ...settings, ...roles(definition) }));
      await assert.rejects(changed, { message: reason });
      assert.equal((await world.store.model()).rules.roles.get('partner'), undefined);
    };
    const beyond = "ListAgentFullName eq 'Ann'";
    await refuse(
      partner(beyond, {}),
      `The row filter ${beyond} of Property looks beyond the record's own fields.`,
    );
    const children = 'Media/any()';
    await refuse(
      partner(children, {}),
      `The row filter ${children} of Property looks beyond the record's own fields.`,
    );
    await refuse(partner('Citty eq 1', {}), /Property has no field Citty/);
    await refuse(partner('', { Nothing: '' }), /Nothing/);
    await refuse({ ...partner('', {}), name: 'idx' }, 'The role idx is defined twice.');
    const many = Array.from({ length: 27 }, (_, index) => ({ ...partner('', {}), name: `r${index}` }));
    const configured = world.store.configure((settings) => ({ ...settings, ...roles(...many) }));
    await assert.rejects(configured, { message: 'More than 31 roles, or withheld parts, are not possible.' });
    const { query } = await world.request('Property');
    assert.equal(await world.store.count(query, TIME), 0);
  });
}
