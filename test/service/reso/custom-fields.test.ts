/** `$expand=CustomFields`: the custom fields of a record in an expansion of their own. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { listing, member } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import { asker } from './asker.ts';

const custom = (name: string, type: string, seenBy?: string) => ({
  resource: 'Property',
  name,
  group: 'Lake',
  label: `Lake ${name}`,
  type,
  ...(seenBy === undefined ? {} : { class: seenBy }),
});

const service = await startTestService(
  { after },
  {
    settings: {
      declarations: {
        customFields: [
          custom('Lake_Dues', 'decimal(10,2)', 'idx'),
          custom('Lake_Uses', 'string(50)[]', 'idx'),
          custom('Lake_Key', 'string(50)'),
        ],
      },
    },
    fill: async ({ write }) => {
      await write('Member', member('M'));
      await write(
        'Property',
        listing('A', {
          City: 'Ely',
          Lake_Dues: 120.5,
          Lake_Uses: ['Boat'],
          Lake_Key: '1',
          ListAgentKey: 'M',
        }),
        listing('B'),
        listing('C', { StandardStatus: 'Withdrawn', Lake_Dues: 7 }),
      );
    },
  },
);
const all = asker(service, 'api', await service.key('api'));
const idx = asker(service, 'api', await service.key('api', { role: 'idx' }));

test('returns the custom fields that the key may see, with the key of the record', async () => {
  const path = 'Property?$select=ListingKey&$expand=CustomFields';
  assert.deepEqual((await all.page(path)).rows, [
    {
      ListingKey: 'A',
      CustomFields: [{ ListingKey: 'A', Lake_Dues: 120.5, Lake_Uses: ['Boat'], Lake_Key: '1' }],
    },
    { ListingKey: 'B', CustomFields: [{ ListingKey: 'B', Lake_Dues: null, Lake_Uses: [], Lake_Key: null }] },
    { ListingKey: 'C', CustomFields: [{ ListingKey: 'C', Lake_Dues: 7, Lake_Uses: [], Lake_Key: null }] },
  ]);
  assert.deepEqual((await idx.page(path)).rows, [
    { ListingKey: 'A', CustomFields: [{ ListingKey: 'A', Lake_Dues: 120.5, Lake_Uses: ['Boat'] }] },
    { ListingKey: 'B', CustomFields: [{ ListingKey: 'B', Lake_Dues: null, Lake_Uses: [] }] },
  ]);
  for (const options of ['$orderby=ListPrice', "$filter=City eq 'Ely'", '$skip=0']) {
    const [first] = (await idx.page(`${path}&$top=1&${options}`)).rows;
    assert.equal(Object(first?.CustomFields)[0].ListingKey, first?.ListingKey, options);
  }
});

test('supports $select inside and outside, paths, full metadata, and other expansions next to it', async () => {
  const one = { ListingKey: 'A', Lake_Dues: 120.5 };
  const ask = (options: string) => idx.record(`Property('A')?${options}`);
  assert.deepEqual(await ask('$select=City&$expand=CustomFields($select=Lake_Dues)'), {
    City: 'Ely',
    CustomFields: [one],
  });
  assert.deepEqual(await ask('$select=City,CustomFields/Lake_Dues&$expand=CustomFields'), {
    City: 'Ely',
    CustomFields: [one],
  });
  assert.deepEqual(
    await ask('$select=City&$expand=CustomFields($select=Lake_Dues),ListAgent($select=MemberKey)'),
    {
      City: 'Ely',
      CustomFields: [one],
      ListAgent: { MemberKey: 'M' },
    },
  );
  assert.deepEqual(Object((await ask('$expand=*')).CustomFields)[0].Lake_Uses, ['Boat']);
  const references = await ask('$select=City&$expand=*/$ref');
  assert.deepEqual(
    [references.CustomFields, references.Media],
    [undefined, []],
    'they have no URL of their own',
  );
  assert.deepEqual(await idx.record("Property('A')/CustomFields?$select=Lake_Dues"), { value: [one] });
  assert.deepEqual(await idx.record("Property('A')/CustomFields"), {
    value: [{ ...one, Lake_Uses: ['Boat'] }],
  });
  const inFull = async (path: string) =>
    (await idx.get(path, { headers: { accept: 'application/json;odata.metadata=full' } })).json;
  const typed = {
    '@odata.type': '#org.reso.metadata.Property',
    ListingKey: 'A',
    'Lake_Dues@odata.type': 'Decimal',
    Lake_Dues: 120.5,
  };
  const full = await inFull("Property('A')?$select=City&$expand=CustomFields($select=Lake_Dues),Media");
  assert.deepEqual(full.CustomFields, [typed]);
  assert.match(String(full['@odata.id']), /Property\('A'\)$/);
  const alone = await inFull("Property('A')/CustomFields?$select=Lake_Dues");
  assert.deepEqual(alone.value, [typed]);
});

test('is empty for a resource without custom fields, and refuses other fields and options', async () => {
  assert.deepEqual(await idx.record("Member('M')?$select=MemberKey&$expand=CustomFields"), {
    MemberKey: 'M',
    CustomFields: [],
  });
  const refused: Record<string, readonly [number, string]> = {
    'Property?$expand=CustomFields($select=City)': [400, 'optionInvalid'],
    'Property?$expand=CustomFields($select=Lake_Keys)': [400, 'fieldUnknown'],
    'Property?$expand=CustomFields($expand=Media)': [501, 'notImplemented'],
    'Property?$expand=CustomFields/$count': [501, 'notImplemented'],
    "Property('A')/CustomFields?$select=City": [400, 'optionInvalid'],
    "Property('A')/CustomFields/Lake_Dues": [404, 'pathNotFound'],
    "Property('A')/CustomFields('A')": [404, 'pathNotFound'],
    "Property('A')/CustomFields/$value": [404, 'pathNotFound'],
    "Property('A')/CustomFields/$count?$format=json": [400, 'requestMalformed'],
    "Property('C')/CustomFields": [404, 'recordNotFound'],
    "Property('C')/CustomFields/$count": [404, 'recordNotFound'],
    "Member('N')/CustomFields": [404, 'recordNotFound'],
    "Property('B')/ListAgent/CustomFields": [404, 'recordNotFound'],
  };
  for (const [path, expected] of Object.entries(refused)) {
    assert.deepEqual((await idx.error(path)).slice(0, 2), expected, path);
  }
  for (const path of [
    "Property('A')/CustomFields?$select=City",
    'Property?$expand=CustomFields($select=City)',
  ]) {
    assert.equal((await idx.error(path))[2], '$select is "City", but takes custom fields.');
  }
});

test('the path to it accepts $select, $count, $top and $skip, and refuses other options by name', async () => {
  const path = "Property('A')/CustomFields";
  const one = { ListingKey: 'A', Lake_Dues: 120.5 };
  const given: Record<string, unknown> = {
    '?$select=Lake_Dues&$count=true': { '@odata.count': 1, value: [one] },
    '?$select=Lake_Dues&$count=false&$top=1&$skip=0': { value: [one] },
    '?$count=true&$top=0': { '@odata.count': 1, value: [] },
    '?$skip=1': { value: [] },
  };
  for (const [options, expected] of Object.entries(given)) {
    assert.deepEqual(await idx.record(`${path}${options}`), expected, options);
  }
  assert.deepEqual(await idx.record("Member('M')/CustomFields?$count=true"), {
    '@odata.count': 0,
    value: [],
  });
  assert.deepEqual(await idx.record("Property('A')/ListAgent/CustomFields"), { value: [] });
  assert.equal((await idx.get(`${path}/$count`)).text, '1');
  assert.equal((await idx.get("Member('M')/CustomFields/$count")).text, '0');
  const refused = [
    "$filter=ListingKey eq 'A'",
    '$orderby=ListingKey',
    '$search=x',
    '$skiptoken=A',
    '$expand=Media',
    '$compute=1 add 1 as Two',
  ];
  for (const option of refused) {
    const [status, code, message] = await idx.error(`${path}?${option}`);
    const [name] = option.split('=');
    const expected = `The request is malformed: ${name} does not apply to CustomFields, a list of one.`;
    assert.deepEqual([status, code, message], [400, 'requestMalformed', expected]);
  }
});

test('$metadata declares it as a contained collection of the record’s own type, so that every type has an entity set', async () => {
  const { text } = await idx.get('$metadata');
  assert.ok(
    text.includes(
      '<NavigationProperty Name="CustomFields" Type="Collection(org.reso.metadata.Property)" ContainsTarget="true"/>',
    ),
  );
  const named = (element: string) =>
    [...text.matchAll(new RegExp(`<${element} Name="(\\w+)"`, 'g'))].map(([, name]) => name);
  assert.deepEqual(named('EntityType'), named('EntitySet'));
  const [, type = ''] = /<EntityType Name="Property">(.*?)<\/EntityType>/s.exec(text) ?? [];
  const custom = [...type.matchAll(/<Property Name="(\w+)"[^/]*?LocalName/gs)].map(([, name]) => name);
  assert.deepEqual(custom, ['Lake_Dues', 'Lake_Uses']);
});
