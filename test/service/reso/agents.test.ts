/** Specification 2.4 rule 1, 4.4 rule 5, and the contract's "Agent and office fields of a listing". */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Field, standardDictionary } from '../../../src/dictionary/index.ts';
import { listing, member, office } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import { type Json, pick } from '../../support/world.ts';
import { asker } from './asker.ts';

const dictionary = standardDictionary();
const property = dictionary.resources.get('Property');
assert.ok(property);
const joinedFields = [...property.fields.values()].filter((field) => field.joined !== undefined);
const LINKS = ['ListAgentKey', 'CoListAgentKey', 'BuyerAgentKey', 'CoBuyerAgentKey'];
const OFFICE_LINKS = ['ListOfficeKey', 'CoListOfficeKey', 'BuyerOfficeKey', 'CoBuyerOfficeKey'];

/** A value for a field that listings read from a Member or an Office, different for each field and record. */
function sampleOf(field: Field, owner: string): unknown {
  if (field.lookup !== undefined) {
    const [value = ''] = dictionary.lookups.get(field.lookup)?.values.keys() ?? [];
    return field.collection ? [value] : value;
  }
  const text = `${owner} ${field.name.replace(/^(Member|Office)/, '')}`;
  const { type } = field;
  return type.kind === 'string' && type.maxLength !== undefined ? text.slice(0, type.maxLength) : text;
}

function filled(resource: 'Member' | 'Office', owner: string): Json {
  const names = new Set(
    joinedFields.flatMap(({ joined }) => (joined?.resource === resource ? [joined.field] : [])),
  );
  const fields = [...names].map((name) => {
    const field = dictionary.resources.get(resource)?.fields.get(name);
    assert.ok(field);
    return [name, sampleOf(field, owner)] as const;
  });
  return Object.fromEntries(fields);
}

const PEOPLE = ['A1', 'A2', 'A3', 'A4'];
const OFFICES = ['O1', 'O2', 'O3', 'O4'];

const service = await startTestService(
  { after },
  {
    fill: async ({ write, clock }) => {
      await write('Office', ...OFFICES.map((key) => office(key, filled('Office', key))));
      await write('Member', ...PEOPLE.map((key) => member(key, filled('Member', key))));
      const links = [
        ...LINKS.map((link, at) => [link, PEOPLE[at]]),
        ...OFFICE_LINKS.map((link, at) => [link, OFFICES[at]]),
      ];
      await write(
        'Property',
        listing('1', { ...Object.fromEntries(links), ListAgentURL: 'https://agent.example/' }),
        listing('2', { ListAgentKey: 'A2', ListOfficeKey: 'O2' }),
        listing('3', { ListAgentKey: 'gone', ListOfficeKey: 'gone' }),
        listing('4'),
      );
      clock.advance(60_000);
    },
  },
);
const feed = asker(service, 'replication', await service.key('replication'));

test('2.4.1 every agent and office field of a listing has the value in the record that its key names', async () => {
  const record = await feed.record("Property('1')");
  const owners = new Map([
    ...LINKS.map((link, at) => [link, PEOPLE[at]] as const),
    ...OFFICE_LINKS.map((link, at) => [link, OFFICES[at]] as const),
  ]);
  assert.equal(joinedFields.length, 128);
  for (const field of joinedFields) {
    const { joined } = field;
    assert.ok(joined);
    const source = await feed.record(`${joined.resource}('${owners.get(joined.link)}')`);
    const expected = source[joined.field];
    assert.notEqual(expected, undefined);
    assert.deepEqual(record[field.name], expected, field.name);
  }
  assert.equal(record.ListAgentPreferredPhone, 'A1 PreferredPhon');
  assert.equal(record.CoBuyerOfficeName, 'O4 Name');
});

test('2.4.1 a field without a counterpart in Member or Office is stored with the listing', async () => {
  assert.equal((await feed.record("Property('1')")).ListAgentURL, 'https://agent.example/');
});

test('2.4.1 a dangling or absent key yields nulls in every representation', async () => {
  const names = ['ListAgentPreferredPhone', 'ListAgentFullName', 'ListOfficeName', 'ListAgentDesignation'];
  const nothing = {
    ListAgentPreferredPhone: null,
    ListAgentFullName: null,
    ListOfficeName: null,
    ListAgentDesignation: [],
  };
  for (const key of ['3', '4']) {
    assert.deepEqual(pick(await feed.record(`Property('${key}')`), ...names), nothing);
    assert.deepEqual(await feed.record(`Property('${key}')?$select=${names.join(',')}`), nothing);
    assert.equal((await feed.record(`Property('${key}')?$expand=ListAgent`)).ListAgent, null);
    const bare = await feed.record(`Property('${key}')`, { prefer: 'omit-values=nulls' });
    assert.deepEqual(
      Object.keys(bare).filter((name) => names.includes(name)),
      [],
    );
  }
  assert.deepEqual(await feed.keys('Property?$filter=ListAgentFullName eq null'), ['3', '4']);
  assert.deepEqual(await feed.keys('Property?$filter=ListAgentFullName ne null'), ['1', '2']);
});

test('2.4.1 imported values of these fields are dropped', async () => {
  await service.write(
    'Property',
    listing('5', { ListAgentKey: 'A3', ListAgentPreferredPhone: 'from the payload' }),
  );
  assert.equal((await feed.record("Property('5')")).ListAgentPreferredPhone, 'A3 PreferredPhon');
  await service.store.remove('Property', ['5']);
});

test('2.4.1 these fields can be filtered and ordered by', async () => {
  assert.deepEqual(await feed.keys("Property?$filter=ListAgentPreferredPhone eq 'A2 PreferredPhon'"), ['2']);
  assert.deepEqual(
    await feed.keys("Property?$filter=startswith(ListOfficeName,'O') and ListOfficeName ne 'O1 Name'"),
    ['2'],
  );
  assert.deepEqual(await feed.keys('Property?$orderby=ListAgentFullName desc'), ['2', '1', '3', '4']);
  assert.deepEqual(await feed.walk('Property?$orderby=ListAgentFullName&$top=1'), [
    ['3'],
    ['4'],
    ['1'],
    ['2'],
  ]);
});

/** The phone of a listing's agent in each representation. */
async function phones(): Promise<Json> {
  const listed = await feed.page('Property?$top=1000');
  const selected = await feed.page('Property?$top=1000&$select=ListAgentPreferredPhone');
  const expanded = await feed.record("Property('2')?$expand=ListAgent($select=MemberPreferredPhone)");
  const computed = await feed.page(
    "Property?$top=1000&$compute=concat(ListAgentPreferredPhone,'') as Phone&$select=Phone",
  );
  return {
    record: (await feed.record("Property('2')")).ListAgentPreferredPhone,
    page: listed.rows[1]?.ListAgentPreferredPhone,
    selected: selected.rows[1]?.ListAgentPreferredPhone,
    expanded: expanded.ListAgent,
    computed: computed.rows[1]?.Phone,
    field: (await feed.get("Property('2')/ListAgentPreferredPhone/$value")).text,
    member: (await feed.get("Member('A2')/MemberPreferredPhone/$value")).text,
    way: (await feed.get("Property('2')/ListAgent/MemberPreferredPhone/$value")).text,
  };
}

const all = (phone: string): Json => ({
  record: phone,
  page: phone,
  selected: phone,
  expanded: { MemberPreferredPhone: phone },
  computed: phone,
  field: phone,
  member: phone,
  way: phone,
});

test('2.4.1 a change of a Member shows in the next response, in all representations', async () => {
  assert.deepEqual(await phones(), all('A2 PreferredPhon'));
  const stamps = 'Property?$select=ListingKey,ModificationTimestamp';
  const before = await feed.page(stamps);
  for (const phone of ['555-1', '555-2']) {
    service.clock.advance(1000);
    await service.write('Member', member('A2', { ...filled('Member', 'A2'), MemberPreferredPhone: phone }));
    assert.deepEqual(await phones(), all(phone));
    assert.deepEqual(await feed.keys(`Property?$filter=ListAgentPreferredPhone eq '${phone}'`), ['2']);
  }
  assert.deepEqual((await feed.page(stamps)).rows, before.rows, 'no timestamp of a listing moves');
});

test('2.4.1 a change of a Member or Office moves no listing’s timestamp, so no update window contains a listing', async () => {
  const from = service.clock.text();
  service.clock.advance(1000);
  await service.write('Member', member('A1', { MemberPreferredPhone: '555-3' }));
  await service.write('Office', office('O1', { OfficeName: 'A new name' }));
  service.clock.advance(1000);
  const window = `$filter=(ModificationTimestamp gt ${from} and ModificationTimestamp lt ${service.clock.text()})`;
  assert.deepEqual(await feed.keys(`Property?${window}`), []);
  assert.deepEqual(await feed.keys(`Member?${window}`), ['A1']);
  assert.deepEqual(await feed.keys(`Office?${window}`), ['O1']);
  assert.equal((await feed.record("Property('1')")).ListOfficeName, 'A new name');
});

test("a listing's ETag changes with the agent and office data in it", async () => {
  const first = await feed.get("Property('2')");
  const tag = first.headers.etag ?? '';
  assert.match(tag, /^W\/"[\w-]{22}"$/);
  const unchanged = await feed.get("Property('2')", { headers: { 'if-none-match': tag } });
  assert.deepEqual([unchanged.status, unchanged.text, unchanged.headers.etag], [304, '', tag]);
  await service.write('Office', office('O2', { OfficeName: 'Renamed' }));
  const changed = await feed.get("Property('2')", { headers: { 'if-none-match': tag } });
  assert.equal(changed.status, 200);
  assert.equal(changed.json.ListOfficeName, 'Renamed');
  assert.notEqual(changed.headers.etag, tag);
});

test('4.4.5 the Member record of a ListAgentKey is at /Member(key)', async () => {
  const { ListAgentKey } = await feed.record("Property('1')?$select=ListAgentKey");
  const record = await feed.record(`Member('${ListAgentKey}')`);
  assert.deepEqual(pick(record, 'MemberKey', 'MemberPreferredPhone'), {
    MemberKey: 'A1',
    MemberPreferredPhone: '555-3',
  });
});

test('deleting a Member sets its fields in listings to null, writing it again fills them', async () => {
  await service.store.remove('Member', ['A2']);
  assert.equal((await feed.record("Property('2')")).ListAgentFullName, null);
  assert.equal((await feed.get("Property('2')/ListAgent")).status, 204);
  await service.write('Member', member('A2', { MemberFullName: 'Back again' }));
  assert.equal((await feed.record("Property('2')")).ListAgentFullName, 'Back again');
});
