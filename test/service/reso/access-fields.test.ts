/** Contract, Access and RESO interface: the fields that a role sees; a hidden field is like an unknown one (I4). */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { listing, member, office, photo, room } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import { type Json, pick } from '../../support/world.ts';
import { asker } from './asker.ts';

const ADDRESS = {
  City: 'Zug',
  StreetName: 'Lake Road',
  StreetNumber: '7',
  UnparsedAddress: '7 Lake Road',
  PostalCode: '6300',
  ParcelNumber: '12-34',
  Directions: 'Past the mill',
  Latitude: 47.17,
  Longitude: 8.51,
};
const NOTHING = Object.fromEntries(Object.keys(ADDRESS).map((name) => [name, null]));

const service = await startTestService(
  { after },
  {
    fill: async ({ write }) => {
      await write('Office', office('O1', { OfficePhone: '555-1', OfficeFax: '555-2' }));
      await write(
        'Member',
        member('A1', { MemberPreferredPhone: '555-3', MemberHomePhone: '555-4', MemberPassword: 'no' }),
      );
      const open = {
        ...ADDRESS,
        ListPrice: 5,
        PrivateRemarks: 'The key is under the mat',
        ExpirationDate: '2026-12-31',
      };
      const links = { ListAgentKey: 'A1', ListOfficeKey: 'O1' };
      await write(
        'Property',
        listing('1', { ...open, ...links, Rooms: [room('1-R', { RoomType: 'Den' })], Media: [photo('1-P')] }),
        listing('2', { ...open, ...links, InternetAddressDisplayYN: false, Rooms: [room('2-R')] }),
        listing('3', { ...open, City: 'Baar', InternetAddressDisplayYN: true }),
      );
    },
  },
);
const all = asker(service, 'replication', await service.key('replication'));
const idx = asker(service, 'replication', await service.key('replication', { role: 'idx' }));

const names = (record: Json): string[] => Object.keys(record).toSorted();

test('a hidden field is left out of records, even if $select names it', async () => {
  const hidden = ['PrivateRemarks', 'ExpirationDate', 'ListAgentHomePhone', 'ListOfficeFax'];
  const whole = await all.record("Property('1')");
  const seen = await idx.record("Property('1')");
  assert.deepEqual(
    hidden.filter((name) => name in whole),
    hidden,
  );
  assert.deepEqual(
    hidden.filter((name) => name in seen),
    [],
  );
  assert.deepEqual(
    names(seen),
    names(whole).filter((name) => name in seen),
  );
  const selected = await idx.page(`Property?$top=1&$select=ListPrice,${hidden.join(',')}`);
  assert.deepEqual(selected.rows, [{ ListPrice: 5 }]);
  const only = await idx.page('Property?$top=1&$select=PrivateRemarks');
  assert.deepEqual(only.rows, [{ ListingKey: '1' }]);
  assert.equal(only.context, `${idx.root}$metadata#Property(ListingKey)`);
  assert.equal('MemberPassword' in (await idx.record("Member('A1')")), false);
  assert.equal('MemberPassword' in (await idx.record("Property('1')?$expand=ListAgent")), false);
});

test('idx sees the keys, names and preferred phones of agents and offices', async () => {
  assert.deepEqual(
    pick(
      await idx.record("Property('1')"),
      'ListAgentKey',
      'ListAgentFullName',
      'ListAgentPreferredPhone',
      'ListOfficeName',
      'ListOfficePhone',
    ),
    {
      ListAgentKey: 'A1',
      ListAgentFullName: 'Agent A1',
      ListAgentPreferredPhone: '555-3',
      ListOfficeName: 'Office O1',
      ListOfficePhone: '555-1',
    },
  );
});

for (const prefer of [
  'odata.include-annotations="*"',
  'include-annotations="Core.Permissions"',
  'odata.include-annotations="Core.*"',
]) {
  test(`with Prefer: ${prefer}, an annotation replaces each hidden field`, async () => {
    const answer = await idx.get("Property('1')", { headers: { prefer } });
    const { json: record } = answer;
    assert.equal(answer.headers['preference-applied'], 'odata.include-annotations="Core.Permissions"');
    const whole = await all.record("Property('1')");
    const hidden = names(whole).filter((name) => !(name in record));
    assert.ok(hidden.includes('PrivateRemarks') && hidden.includes('ListAgentHomePhone'));
    const annotated = names(record).filter((name) => name.endsWith('@Core.Permissions'));
    assert.deepEqual(
      annotated,
      hidden.map((name) => `${name}@Core.Permissions`),
    );
    for (const name of annotated) assert.equal(record[name], 'None');
  });
}

test('annotations follow $select and apply in expansions, and are absent unless requested', async () => {
  const prefer = { prefer: 'odata.include-annotations="*"' };
  const selected = await idx.page('Property?$top=1&$select=ListPrice,PrivateRemarks', prefer);
  assert.deepEqual(selected.rows, [{ ListPrice: 5, 'PrivateRemarks@Core.Permissions': 'None' }]);
  const expanded = await idx.page(
    'Property?$top=1&$select=ListPrice&$expand=ListAgent($select=MemberPassword)',
    prefer,
  );
  assert.deepEqual(expanded.rows, [
    { ListPrice: 5, ListAgent: { MemberKey: 'A1', 'MemberPassword@Core.Permissions': 'None' } },
  ]);
  for (const header of [
    'odata.include-annotations="-*"',
    'odata.include-annotations="display.*"',
    'return=minimal',
  ]) {
    const record = await idx.record("Property('1')", { prefer: header });
    assert.deepEqual(
      names(record).filter((name) => name.includes('@')),
      [],
      header,
    );
  }
  assert.deepEqual(
    names(await all.record("Property('1')", prefer)).filter((name) => name.includes('@')),
    [],
  );
});

test('I4 a hidden field in $filter, $orderby and $compute gets the error of an unknown name', async () => {
  const uses: readonly ((name: string) => string)[] = [
    (name) => `Property?$filter=${name} ne null`,
    (name) => `Property?$filter=contains(${name},'mat')`,
    (name) => `Property?$filter=not (${name} eq 'x')`,
    (name) => `Property?$filter=Rooms/any(r: r/Listing/${name} ne null)`,
    (name) => `Property?$orderby=${name}`,
    (name) => `Property?$orderby=ListPrice,length(${name}) desc`,
    (name) => `Property?$compute=concat(${name},'') as X`,
    (name) => `Property/$count?$filter=${name} ne null`,
    (name) => `Room?$expand=Listing($compute=concat(${name},'') as X)`,
    (name) => `Property?$filter=@p&@p=${name} ne null`,
  ];
  for (const use of uses) {
    const [status, code, message] = await idx.error(use('PrivateRemarks'));
    assert.deepEqual([status, code], [400, 'fieldUnknown'], use('PrivateRemarks'));
    assert.ok(message.includes('Property has no field PrivateRemarks'), message);
    const unknown = await idx.get(use('QrivateRemarkx'));
    const hidden = await idx.get(use('PrivateRemarks'));
    assert.equal(hidden.text.replaceAll('PrivateRemarks', 'QrivateRemarkx'), unknown.text);
    assert.equal((await all.get(use('PrivateRemarks'))).status, 200, use('PrivateRemarks'));
  }
});

test('I4 paths to hidden fields and navigations get the errors of unknown names', async () => {
  const [status, code, message] = await idx.error("Property('1')/PrivateRemarks");
  assert.deepEqual(
    [status, code, message],
    [404, 'pathNotFound', "There is nothing at Property('1')/PrivateRemarks."],
  );
  assert.equal((await all.get("Property('1')/PrivateRemarks/$value")).text, 'The key is under the mat');
  for (const name of ['HistoryTransactional', 'NoSuchTransactions']) {
    assert.deepEqual(await idx.error(`Property?$expand=${name}`), [
      400,
      'fieldUnknown',
      `$expand: Property has no field ${name} at position 1.`,
    ]);
    assert.deepEqual(await idx.error(`Property('1')/${name}`), [
      404,
      'pathNotFound',
      `There is nothing at Property('1')/${name}.`,
    ]);
  }
});

test('I4 no suggestion names a hidden field', async () => {
  assert.deepEqual(await idx.error('Property?$filter=PrivateRemark eq null'), [
    400,
    'fieldUnknown',
    '$filter: Property has no field PrivateRemark at position 1.',
  ]);
  assert.deepEqual(await all.error('Property?$filter=PrivateRemark eq null'), [
    400,
    'fieldUnknown',
    '$filter: Property has no field PrivateRemark at position 1. Did you mean PrivateRemarks?',
  ]);
});

test('if InternetAddressDisplayYN is false, idx gets a null address and other roles get the address', async () => {
  const address = async (key: string) =>
    pick(await idx.record(`Property('${key}')`), ...Object.keys(ADDRESS));
  assert.deepEqual(await address('1'), ADDRESS);
  assert.deepEqual(await address('2'), NOTHING);
  assert.deepEqual(await address('3'), { ...ADDRESS, City: 'Baar' });
  assert.deepEqual(pick(await all.record("Property('2')"), ...Object.keys(ADDRESS)), ADDRESS);
  const selected = await idx.page(`Property?$select=${Object.keys(ADDRESS).join(',')}&$skip=1&$top=1`);
  assert.deepEqual(selected.rows, [NOTHING]);
  assert.equal((await idx.get("Property('2')/City")).status, 204);
  assert.equal((await idx.record("Room('2-R')?$expand=Listing($select=City)")).RoomKey, '2-R');
  assert.deepEqual((await idx.record("Room('2-R')?$expand=Listing($select=City)")).Listing, { City: null });
  const whole = await idx.record("Room('2-R')?$expand=Listing");
  assert.deepEqual(pick({ ...Object(whole.Listing) }, 'City', 'UnparsedAddress'), {
    City: null,
    UnparsedAddress: null,
  });
  const spare = await idx.record("Property('2')", { prefer: 'omit-values=nulls' });
  assert.deepEqual(
    names(spare).filter((name) => name in ADDRESS),
    [],
  );
});

test('I4 a withheld address is null in $filter, $orderby and $compute, too', async () => {
  const filters: Readonly<Record<string, readonly string[]>> = {
    "City eq 'Zug'": ['1'],
    "City ne 'Zug'": ['2', '3'],
    'City eq null': ['2'],
    "City in ('Zug','Baar')": ['1', '3'],
    "not (City eq 'Zug')": ['2', '3'],
    "contains(UnparsedAddress,'Lake')": ['1', '3'],
    "startswith(tolower(StreetName),'lake')": ['1', '3'],
    'length(City) gt 0': ['1', '3'],
    'Latitude gt 47': ['1', '3'],
    "geo.distance(Coordinates,geography'POINT(8.51 47.17)') lt 1000": ['1', '3'],
    "City eq PostalCode or City eq 'Zug'": ['1', '2'],
  };
  for (const [filter, keys] of Object.entries(filters)) {
    assert.deepEqual(await idx.keys(`Property?$filter=${filter}`), keys, filter);
    assert.equal((await idx.get(`Property/$count?$filter=${filter}`)).text, String(keys.length), filter);
  }
  assert.deepEqual(await idx.keys("Room?$filter=Listing/City eq 'Zug'"), ['1-R']);
  assert.deepEqual(await all.keys("Room?$filter=Listing/City eq 'Zug'"), ['1-R', '2-R']);
  assert.deepEqual(await idx.keys('Property?$orderby=City'), ['2', '3', '1']);
  assert.deepEqual(await idx.walk('Property?$orderby=City desc&$top=1'), [['1'], ['3'], ['2']]);
  const { rows } = await idx.page("Property?$compute=concat('in ',City) as Place&$select=ListingKey,Place");
  assert.deepEqual(
    rows.map(({ Place }) => Place),
    ['in Zug', null, 'in Baar'],
  );
});

test('I4 a skip token of an order does not contain a withheld value', async () => {
  const { next } = await idx.page('Property?$orderby=City&$top=1&$select=ListingKey');
  const token = /skiptoken=(.+)$/.exec(next ?? '')?.[1] ?? '';
  assert.equal(Buffer.from(token, 'base64url').toString(), '["2",[null]]');
});
