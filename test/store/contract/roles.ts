/** I4: every role sees exactly its rows and fields, in every kind of read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listing, member, office, openHouse, photo, room, unit } from '../../support/builders.ts';
import type { Engine } from '../../support/engine.ts';
import { type Json, pick, sharedWorld, type World } from '../../support/world.ts';

const ROLES = ['private', 'idx', 'public', 'portal', 'vow'];

/** One listing for each value that a rule depends on; the market's day is 2026-06-01. */
const LISTINGS: Readonly<Record<string, Json>> = {
  Act: { StandardStatus: 'Active' },
  Auc: { StandardStatus: 'Active Under Contract', InternetEntireListingDisplayYN: true },
  Can: { StandardStatus: 'Canceled' },
  CloDay: { StandardStatus: 'Closed', CloseDate: '2023-06-01' },
  CloNever: { StandardStatus: 'Closed' },
  CloOld: { StandardStatus: 'Closed', CloseDate: '2023-05-31' },
  Com: { StandardStatus: 'Coming Soon' },
  Del: { StandardStatus: 'Delete' },
  Exp: { StandardStatus: 'Expired' },
  Hol: { StandardStatus: 'Hold' },
  Inc: { StandardStatus: 'Incomplete' },
  Non: { StandardStatus: null },
  Off: { StandardStatus: 'Active', InternetEntireListingDisplayYN: false },
  Pen: { StandardStatus: 'Pending' },
  Wit: { StandardStatus: 'Withdrawn' },
};

const SEEN: Readonly<Record<string, readonly string[]>> = {
  private: Object.keys(LISTINGS),
  idx: ['Act', 'Auc', 'CloDay', 'Com', 'Pen'],
  public: ['Act', 'Auc', 'CloDay', 'Com', 'Pen'],
  portal: ['Act', 'Auc', 'CloDay', 'CloNever', 'CloOld', 'Com', 'Hol', 'Pen'],
  vow: ['Act', 'Auc', 'Can', 'CloDay', 'CloNever', 'CloOld', 'Com', 'Exp', 'Hol', 'Non', 'Pen', 'Wit'],
};

/** Media of listing Act by their permission. */
const PERMISSIONS: Readonly<Record<string, readonly string[]>> = {
  free: [],
  idx: ['IDX'],
  mine: ['Private'],
  mixed: ['Private', 'IDX', 'VOW'],
  open: ['Public'],
  portal: ['Portal'],
  vow: ['VOW'],
};

const MEDIA_SEEN: Readonly<Record<string, readonly string[]>> = {
  private: Object.keys(PERMISSIONS),
  idx: ['free', 'idx', 'mixed', 'open'],
  public: ['free', 'open'],
  portal: ['free', 'open', 'portal'],
  vow: ['free', 'mixed', 'open', 'vow'],
};

const PEOPLE: Readonly<Record<string, string | null>> = { none: null, on: 'Active', off: 'Inactive' };

async function populate(world: World): Promise<void> {
  const people = Object.entries(PEOPLE);
  await world.write('Member', ...people.map(([key, MemberStatus]) => member(key, { MemberStatus })));
  await world.write('Office', ...people.map(([key, OfficeStatus]) => office(key, { OfficeStatus })));
  await world.write('Contacts', { ContactKey: 'c' });
  await world.write('Teams', { TeamKey: 't' });
  const listings = Object.entries(LISTINGS).map(([key, fields]) =>
    listing(key, {
      ...fields,
      ListAgentKey: 'off',
      ListPrice: 100,
      PrivateRemarks: 'secret',
      Rooms: [room(`R${key}`)],
      UnitTypes: [unit(`U${key}`)],
      OpenHouses: [openHouse(`O${key}`, { Media: [photo(`OM${key}`)] })],
      Media:
        key === 'Act'
          ? Object.entries(PERMISSIONS).map(([name, Permission]) => photo(name, { Permission }))
          : [],
    }),
  );
  await world.write('Property', ...listings);
}

export function roleContract(engine: Engine): void {
  const populated = sharedWorld(engine, populate);

  for (const role of ROLES) {
    test(`${role}: exactly the visible rows of every resource, in every kind of read`, async () => {
      const world = await populated();
      const viewer = { role };
      const seen = SEEN[role] ?? [];
      const people = role === 'private' || role === 'vow' ? ['none', 'off', 'on'] : ['none', 'on'];
      const expected: Readonly<Record<string, readonly string[]>> = {
        Property: seen,
        PropertyRooms: seen.map((key) => `R${key}`),
        PropertyUnitTypes: seen.map((key) => `U${key}`),
        OpenHouse: seen.map((key) => `O${key}`),
        Media: [...seen.map((key) => `OM${key}`), ...(MEDIA_SEEN[role] ?? [])],
        Member: people,
        Office: people,
        Teams: ['t'],
      };
      for (const [resource, keys] of Object.entries(expected)) {
        const { key } = (await world.store.model()).resource(resource);
        const always = `$filter=${key} ne 'never'`;
        assert.deepEqual(await world.keys(resource, '', { viewer }), keys, resource);
        assert.deepEqual(await world.keys(resource, always, { viewer }), keys, resource);
        assert.deepEqual(await world.keys(resource, `$orderby=${key} desc`, { viewer }), keys.toReversed());
        assert.deepEqual(await world.keys(resource, `$select=${key}`, { viewer }), keys, resource);
        assert.equal(await world.count(resource, '', viewer), keys.length, resource);
        assert.equal(await world.count(resource, always, viewer), keys.length, resource);
        for (const name of await world.keys(resource)) {
          const found = await world.record(resource, name, '', { viewer });
          assert.equal(found?.[key], keys.includes(name) ? name : undefined);
        }
      }
      assert.deepEqual(await world.keys('Contacts'), ['c']);
      if (role !== 'private') assert.deepEqual(await world.keys('Contacts', '', { viewer }), []);
    });

    test(`${role}: nothing hidden in expansions, lambdas, counts and navigations`, async () => {
      const world = await populated();
      const viewer = { role };
      const media = MEDIA_SEEN[role] ?? [];
      const act = await world.record(
        'Property',
        'Act',
        '$select=ListingKey&$expand=Media($select=MediaKey;$count=true)',
        {
          viewer,
        },
      );
      assert.deepEqual(act, {
        ListingKey: 'Act',
        'Media@odata.count': media.length,
        Media: media.map((MediaKey) => ({ MediaKey })),
      });
      const native = await world.listing('Act', { viewer, select: ['ListingKey'], expansions: ['Photos'] });
      const { Photos } = Object(native?.StandardFields);
      assert.deepEqual(
        Photos.map((each: Json) => each.Id),
        media,
      );
      const some = (name: string) => `$filter=Media/any(m:m/MediaKey eq '${name}')`;
      for (const name of Object.keys(PERMISSIONS)) {
        assert.deepEqual(
          await world.keys('Property', some(name), { viewer }),
          media.includes(name) ? ['Act'] : [],
        );
      }
      const counted = `$filter=Media/$count eq ${media.length}`;
      assert.deepEqual(await world.keys('Property', counted, { viewer }), ['Act']);

      // A role that may not see an agent cannot navigate to it, but sees its key in the listing.
      const reached = role === 'private' || role === 'vow';
      const agent = '$select=ListAgentFullName&$expand=ListAgent($select=MemberKey)';
      assert.deepEqual(await world.record('Property', 'Act', agent, { viewer }), {
        ListAgentFullName: 'Agent off',
        ListAgent: reached ? { MemberKey: 'off' } : null,
      });
      const through = "$filter=ListAgent/MemberFullName eq 'Agent off'";
      assert.equal(await world.count('Property', through, viewer), reached ? (SEEN[role] ?? []).length : 0);
      assert.equal(
        await world.count('Property', "$filter=ListAgentFullName eq 'Agent off'", viewer),
        (SEEN[role] ?? []).length,
      );
    });
  }

  test('a role sees only the fields of its classes, in both interfaces', async () => {
    const world = await populated();
    const resource = (await world.store.model()).resource('Property');
    const classes: Readonly<Record<string, readonly string[]>> = {
      idx: ['open', 'idx', 'address'],
      public: ['open', 'idx', 'address', 'facts', 'address-facts'],
      portal: ['open', 'idx', 'address', 'facts', 'address-facts', 'history'],
    };
    const everything = Object.keys((await world.record('Property', 'Act')) ?? {});
    for (const [role, seen] of Object.entries(classes)) {
      const shows = (name: string) => seen.includes(resource.fields.get(name)?.class ?? '');
      const record = await world.record('Property', 'Act', '', { viewer: { role } });
      assert.deepEqual(Object.keys(record ?? {}).toSorted(), everything.filter(shows).toSorted());
      const native = await world.listing('Act', { viewer: { role } });
      const masked = Object.entries(Object(native?.StandardFields)).filter(
        ([, value]) => value === '********',
      );
      const hidden = everything
        .filter((name) => !shows(name))
        .map((name) => resource.fields.get(name)?.nativeName);
      assert.deepEqual(masked.map(([name]) => name).toSorted(), hidden.toSorted());
    }
  });

  test('a hidden field that is requested is omitted, or annotated on request', async () => {
    const world = await populated();
    const viewer = { role: 'idx' };
    const select = '$select=ListPrice,PrivateRemarks';
    assert.deepEqual(await world.record('Property', 'Act', select, { viewer }), { ListPrice: 100 });
    assert.deepEqual(await world.record('Property', 'Act', select, { viewer, annotateHidden: true }), {
      ListPrice: 100,
      'PrivateRemarks@Core.Permissions': 'None',
    });
    const whole = await world.record('Property', 'Act', '', { viewer, annotateHidden: true });
    assert.deepEqual(pick(whole, 'PrivateRemarks', 'PrivateRemarks@Core.Permissions'), {
      PrivateRemarks: undefined,
      'PrivateRemarks@Core.Permissions': 'None',
    });
    const only = await world.record('Property', 'Act', '$select=PrivateRemarks', { viewer });
    assert.deepEqual(only, { ListingKey: 'Act' });
    await assert.rejects(world.rows('Property', "$filter=PrivateRemarks eq 'x'", { viewer }), {
      code: 'fieldUnknown',
    });
    await assert.rejects(world.rows('Property', '$orderby=PrivateRemarks', { viewer }), {
      code: 'fieldUnknown',
    });
  });

  test('the store publishes to a role the fields and lookups that it may know', async () => {
    const world = await populated();
    const fields = (role: string) =>
      world.keys('Field', "$filter=ResourceName eq 'Property'", { viewer: { role } });
    const all = await fields('private');
    const idx = await fields('idx');
    assert.ok(all.includes('Property.PrivateRemarks') && !idx.includes('Property.PrivateRemarks'));
    assert.ok(idx.includes('Property.ListPrice') && idx.includes('Property.ListAgentFullName'));
    assert.deepEqual(
      idx.filter((key) => !all.includes(key)),
      [],
    );
    assert.deepEqual(
      await world.keys('Field', "$filter=ResourceName eq 'Contacts'", { viewer: { role: 'idx' } }),
      [],
    );
    assert.ok((await world.count('Field', "$filter=ResourceName eq 'Contacts'")) > 0);
    const statuses = "$filter=LookupName eq 'StandardStatus'";
    assert.equal(await world.count('Lookup', statuses, { role: 'idx' }), 11);
  });
}
