/** Agents and offices in listings: a page has the same as a read of each record, whatever has changed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PageRequest, Shape } from '../../../src/compile/read.ts';
import type { CustomFieldDeclaration } from '../../../src/dictionary/index.ts';
import { SELECT_ALL } from '../../../src/query/request.ts';
import type { Store } from '../../../src/store/store.ts';
import { listing, member, office, photo, room } from '../../support/builders.ts';
import type { Engine } from '../../support/engine.ts';
import {
  type Json,
  makeWorld,
  operations,
  TIME,
  type World,
  type WorldRequest,
} from '../../support/world.ts';

const NATIVE: Shape = { kind: 'native-listing', display: 'Detail', selection: SELECT_ALL, expansions: [] };

/** Keys with characters that JSON, marks and lists encode in their own way. */
const MEMBERS = ['M1', 'M"2', 'M,\\3', 'Mé😀'];
const OFFICES = ['O1', 'O[2]'];
/** Links to records that do not exist; no valid key has a control character. */
const NOWHERE = ['gone', '\u0002["M1"]\u0002', 'M1\n', '\u0001', '\u0002'];

const LISTINGS: readonly Json[] = [
  listing('none'),
  listing('all', {
    Rooms: [room('R1'), room('R2')],
    ListAgentKey: 'M1',
    CoListAgentKey: 'M"2',
    BuyerAgentKey: 'M,\\3',
    CoBuyerAgentKey: 'Mé😀',
  }),
  listing('offices', { ListOfficeKey: 'O1', CoListOfficeKey: 'O[2]', BuyerOfficeKey: 'O1' }),
  ...NOWHERE.map((key, index) => listing(`to nowhere ${index}`, { ListAgentKey: key, BuyerAgentKey: 'M1' })),
  ...Array.from({ length: 20 }, (_, index) =>
    listing(`many ${index}`, { ListAgentKey: MEMBERS[index % 5], ListOfficeKey: OFFICES[index % 3] }),
  ),
];

async function fill({ write }: Pick<World, 'write'>): Promise<void> {
  await write('Office', ...OFFICES.map((key) => office(key, { OfficePhone: '"1"' })));
  await write('Member', ...MEMBERS.map((key) => member(key, { MemberEmail: `${key}@example.com` })));
  await write('Property', ...LISTINGS);
}

async function textOf(store: Store, request: PageRequest): Promise<string> {
  const { body, release } = await store.page(request, TIME);
  const text = Buffer.from(body).toString();
  release?.();
  return text;
}

/** The records of a page, each read separately. */
async function oneByOne(
  store: Store,
  { query, shape, files }: PageRequest,
  keys: readonly string[],
): Promise<string> {
  const records: string[] = [];
  for (const key of keys) {
    const body = await store.record({ query, key, shape, files }, TIME);
    if (body !== undefined) records.push(Buffer.from(body).toString());
  }
  return records.join(',');
}

export function linkedContract(engine: Engine): void {
  test("a value that looks like the mark of an agent's or office's place is returned unchanged", async (t) => {
    const { store, write, request } = await makeWorld(engine, t);
    const values = [
      '\u0001',
      '"\u0001"',
      '\u0002',
      '\u0002["M1",null,null,null,null,null,null,null]\u0002',
      '\u0002[]\u0002',
    ];
    await write('Member', ...values.map((value, index) => member(`M${index}`, { MemberFullName: value })));
    await write(
      'Property',
      ...values.map((value, index) =>
        listing(`L${index}`, {
          ListAgentKey: `M${index}`,
          PublicRemarks: value,
          Media: [photo(`P${index}`, { ShortDescription: value })],
        }),
      ),
    );
    const all = { display: 'Detail', selection: SELECT_ALL } as const;
    const shape: Shape = { kind: 'native-listing', ...all, expansions: ['Photos'] };
    const native = JSON.parse(`[${await textOf(store, { ...(await request('Property', '')), shape })}]`);
    const reso = JSON.parse(`[${await textOf(store, await request('Property', '$expand=Media'))}]`);
    for (const [index, value] of values.entries()) {
      const { PublicRemarks, ListAgentFullName, Photos } = native[index].StandardFields;
      assert.deepEqual([PublicRemarks, ListAgentFullName, Photos[0].Name], [value, value, value]);
      const { Media, ...record } = reso[index];
      const found = [record.PublicRemarks, record.ListAgentFullName, Media[0].ShortDescription];
      assert.deepEqual(found, [value, value, value]);
    }
  });

  test('a page has the same agents and offices as a read of each listing, for every role and form', async (t) => {
    const world = await makeWorld(engine, t);
    const { store, keys, request } = world;
    await fill(world);
    // A field that comes into use later is null in earlier texts.
    await world.write('Member', member('M9', { MemberPreferredPhone: '9' }));
    const asked: (readonly [resource: string, options: string, wish: WorldRequest])[] = [
      ['Property', '', {}],
      ['Property', '', { omitNulls: true }],
      ['Property', '$expand=ListAgent,Rooms($expand=Listing)', {}],
      ['Property', '$select=ListingKey&$expand=Rooms($expand=Listing)', { omitNulls: true }],
      ['Property', '$select=ListAgentFullName,ListOfficeName', {}],
      ['PropertyRooms', '$expand=Listing', {}],
    ];
    const { rules } = await store.model();
    let compared = 0;
    for (const role of rules.roles.keys()) {
      for (const [resource, options, wish] of asked) {
        const page = await request(resource, options, { ...wish, viewer: { role } });
        const shapes = resource === 'Property' && options === '' ? [page.shape, NATIVE] : [page.shape];
        const names = await keys(resource, '', { viewer: { role } });
        for (const shape of shapes) {
          const one = { ...page, shape };
          const expected = await oneByOne(store, one, names);
          assert.equal(await textOf(store, one), expected, `${role} ${options}, first read`);
          assert.equal(await textOf(store, one), expected, `${role} ${options}, read again`);
          compared += names.length;
        }
      }
    }
    assert.ok(compared > 50 * rules.roles.size, `${compared} records`);
  });

  test("a piece of a listing that damage has turned into the mark of an agent's place is found in the page", async (t) => {
    const { store, write, request, damage } = await makeWorld(engine, t);
    await write('Member', member('M1'));
    await write('Property', listing('A', { City: 'Austin', ListAgentKey: 'M1' }), listing('B'));
    const page = await request('Property', '');
    const caller = { name: 'key 1', begin: () => undefined, made: () => undefined, spent: () => undefined };
    const read = async () => Buffer.from((await store.page(page, { ...TIME, caller })).body).toString();
    const expected = await read();
    const columns = (await store.model())
      .layout('Property')
      .pieces.filter(({ naming }) => naming !== 'native')
      .flatMap(({ valuesColumn, nullsColumn }) => [valuesColumn, nullsColumn]);
    assert.ok(columns.length > 8);
    const set = (column: string, text: string) =>
      damage(`UPDATE property_texts SET "${column}" = ${text} WHERE _key = 'A'`);
    await damage('CREATE TABLE sound AS SELECT * FROM property_texts');
    for (const column of columns) {
      await set(column, `'\u0002'`);
      await assert.rejects(read(), { code: 'storeDamaged' }, column);
      await set(column, `(SELECT "${column}" FROM sound WHERE _key = 'A')`);
      assert.equal(await read(), expected, column);
    }
  });

  test('a page has the custom fields of its listings, however many there are, and their agents', async (t) => {
    const names = Array.from({ length: 600 }, (_, index) => `Local_${index}`);
    const customFields = names.map((name): CustomFieldDeclaration => {
      return { resource: 'Property', name, group: 'Local', label: name, type: 'string(9)', class: 'idx' };
    });
    const world = await makeWorld(engine, t, { settings: { declarations: { customFields } } });
    const { store, write, request } = world;
    await write('Member', member('M1'));
    await write('Property', listing('A', { ListAgentKey: 'M1', Local_599: 'last' }), listing('B'));
    const all = { display: 'Detail', selection: SELECT_ALL } as const;
    const shape: Shape = { kind: 'native-listing', ...all, expansions: ['CustomFields'] };
    const page = { ...(await request('Property', '')), shape };
    const text = await textOf(store, page);
    assert.equal(text, await oneByOne(store, page, ['A', 'B']));
    const [{ StandardFields, CustomFields }] = JSON.parse(`[${text}]`);
    const shown = CustomFields[0].Main[0].Local.map((each: Json) => Object.entries(each)[0]);
    assert.equal(StandardFields.ListAgentFullName, 'Agent M1');
    assert.deepEqual(
      shown,
      names.map((name) => [name, name === 'Local_599' ? 'last' : null]),
    );
  });

  test('a change of a Member or an Office is returned in every listing at the next request, whichever process wrote it', async (t) => {
    const world = await makeWorld(engine, t);
    const { store, again, clock } = world;
    await fill(world);
    const other = await again();
    const [here, there] = [operations(store, clock), operations(other, clock)];
    const shown = async (): Promise<readonly unknown[]> => {
      const all = await Promise.all([here, there].map(({ rows }) => rows('Property')));
      const found = all.map((rows) => {
        const row = rows.find(({ ListingKey }) => ListingKey === 'many 0');
        return [row?.ListAgentFullName, row?.ListOfficeName];
      });
      assert.deepEqual(found[0], found[1]);
      return found[0] ?? [];
    };
    const before = await here.rows('Property', '$select=ListingKey,ModificationTimestamp');
    assert.deepEqual(await shown(), ['Agent M1', 'Office O1']);
    await there.write('Member', member('M1', { MemberFullName: 'Renamed there' }));
    assert.deepEqual(await shown(), ['Renamed there', 'Office O1']);
    await here.write('Office', office('O1', { OfficeName: 'Renamed here' }));
    assert.deepEqual(await shown(), ['Renamed there', 'Renamed here']);
    await there.write('Property', listing('another'));
    await other.remove('Member', ['M1']);
    assert.deepEqual(await shown(), [null, 'Renamed here']);
    await here.write('Member', member('M1'));
    assert.deepEqual(await shown(), ['Agent M1', 'Renamed here']);
    const after = await here.rows('Property', '$select=ListingKey,ModificationTimestamp');
    const moved = after.filter(({ ListingKey }) => ListingKey !== 'another');
    assert.deepEqual(moved, before, 'no listing moves');
  });
}
