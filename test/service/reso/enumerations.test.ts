/** Lookups as enumeration types (an option of the service): their declaration, values and filters. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { XMLParser } from 'fast-xml-parser';
import { convert, jsonFaults, xmlFaults } from '../../dictionary/csdl/validators.ts';
import { listing, member, photo, room } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import type { Json } from '../../support/world.ts';
import { asker } from './asker.ts';

const service = await startTestService(
  { after },
  {
    service: { lookups: 'enumerations' },
    fill: async ({ write }) => {
      await write('Member', member('M', { MemberStatus: 'Active', MemberType: 'Licensed Assistant' }));
      await write(
        'Property',
        listing('A', {
          StandardStatus: 'Active Under Contract',
          City: 'Saint Louis',
          Appliances: ['Dishwasher', 'Range Hood', 'Samovar "S"'],
          PublicRemarks: 'The "Active Under Contract" \\ of Saint Louis',
          ListAgentKey: 'M',
          Media: [photo('P', { ImageSizeDescription: 'Very Large' })],
          Rooms: [room('R', { RoomType: 'Primary Bedroom' })],
        }),
        listing('B', { StandardStatus: 'Active', City: 'Ely', Appliances: ['Dishwasher'] }),
        listing('C', { StandardStatus: 'Withdrawn', City: 'Nowhere Else', Appliances: [] }),
      );
    },
  },
);
const token = await service.key('replication');
const feed = asker(service, 'replication', token);
const idx = asker(service, 'replication', await service.key('replication', { role: 'idx' }));

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '',
  isArray: (name) => ['Schema', 'EntityType', 'EnumType', 'Member', 'Property', 'Annotation'].includes(name),
});

interface Declared {
  /** The type of each property, by `EntityType.Property`. */
  readonly types: ReadonlyMap<string, string>;
  /** By qualified name: the members and their lookup values. */
  readonly enumerations: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

function declared(xml: string): Declared {
  const schemas: Json[] = Object(parser.parse(xml))['edmx:Edmx']['edmx:DataServices'].Schema;
  const listOf = (node: unknown, name: string): Json[] => Object(node)[name] ?? [];
  const types = schemas.flatMap((schema) =>
    listOf(schema, 'EntityType').flatMap((type) =>
      listOf(type, 'Property').map(({ Name, Type }): [string, string] => [
        `${type.Name}.${Name}`,
        String(Type),
      ]),
    ),
  );
  const enumerations = schemas.flatMap((schema) =>
    listOf(schema, 'EnumType').map(({ Name, Member }): [string, Map<string, string>] => [
      `${schema.Namespace}.${Name}`,
      new Map(Object(Member).map((each: Json) => [each.Name, listOf(each, 'Annotation')[0]?.String])),
    ]),
  );
  return { types: new Map(types), enumerations: new Map(enumerations) };
}

test('$metadata declares a type for each lookup with values, is valid by the OASIS schemas, and equal in both formats', async () => {
  const { text: xml } = await feed.get('$metadata');
  assert.deepEqual(await xmlFaults(xml), []);
  const { text: json } = await feed.get('$metadata?$format=json');
  assert.deepEqual(jsonFaults(json), []);
  const converted = convert(xml);
  assert.deepEqual(converted.messages, []);
  assert.deepEqual(JSON.parse(json), converted.json);

  const { types, enumerations } = declared(xml);
  assert.equal(types.get('Property.StandardStatus'), 'org.reso.metadata.enums.StandardStatus');
  assert.equal(types.get('Property.Appliances'), 'Collection(org.reso.metadata.enums.Appliances)');
  assert.equal(types.get('Property.PublicRemarks'), 'Edm.String');
  assert.deepEqual(
    [...(enumerations.get('org.reso.metadata.enums.City') ?? [])],
    [
      ['Ely', 'Ely'],
      ['Nowhere_x0020_Else', 'Nowhere Else'],
      ['Saint_x0020_Louis', 'Saint Louis'],
    ],
  );
  const status = enumerations.get('org.reso.metadata.enums.StandardStatus');
  assert.equal(status?.get('ActiveUnderContract'), 'Active Under Contract');
  assert.equal(
    enumerations.get('org.reso.metadata.enums.Appliances')?.get('Samovar_x0020__x0022_S_x0022_'),
    'Samovar "S"',
  );
  // A lookup without values has no type, and its field is a string.
  assert.equal(types.get('Media.MediaStatus') ?? 'Edm.String', 'Edm.String');
  assert.equal(enumerations.has('org.reso.metadata.enums.MediaStatus'), false);
});

test('I4 a role sees only the members that its records use, and each as soon as it comes into use', async () => {
  const cities = async (): Promise<string[]> => [
    ...(declared((await idx.get('$metadata')).text)
      .enumerations.get('org.reso.metadata.enums.City')
      ?.keys() ?? []),
  ];
  assert.deepEqual(await cities(), ['Ely', 'Saint_x0020_Louis']);
  const { headers } = await idx.get('$metadata');
  await service.write('Property', listing('D', { City: 'Two Harbors' }));
  assert.deepEqual(await cities(), ['Ely', 'Saint_x0020_Louis', 'Two_x0020_Harbors']);
  const since = { 'if-none-match': String(headers.etag) };
  assert.equal((await idx.get('$metadata', { headers: since })).status, 200);
  await service.store.remove('Property', ['D']);
  assert.equal((await idx.get('$metadata', { headers: since })).status, 304);
});

test('every returned value is a member of the declared type, in pages, records, expansions and fields', async () => {
  const { types, enumerations } = declared((await feed.get('$metadata')).text);
  let members = 0;
  const check = (resource: string, record: Json): void => {
    for (const [name, value] of Object.entries(record)) {
      const type = types.get(`${resource}.${name}`);
      const [, inner = type] = /^Collection\((.+)\)$/.exec(type ?? '') ?? [];
      const known = enumerations.get(inner ?? '');
      if (known === undefined || value === null) continue;
      for (const each of Array.isArray(value) ? value : [value]) {
        assert.ok(known.has(String(each)), `${resource}.${name}: ${each}`);
        members++;
      }
    }
  };
  const { components } = (await service.get('replication', '/openapi.json', { token })).json;
  const described = (resource: string, name: string): Json =>
    Object(Object(components).schemas)[resource].properties[name];
  let listed = 0;
  for (const [place, type] of types) {
    const [resource = '', name = ''] = place.split('.');
    const { type: form, items, enum: values, ...rest } = described(resource, name);
    const isList = type.startsWith('Collection(');
    const known = enumerations.get(/^Collection\((.+)\)$/.exec(type)?.[1] ?? type);
    if (isList) assert.equal(form, 'array', place);
    if (known === undefined) continue;
    const names = [...known.keys()];
    const expected = isList
      ? ['array', { type: 'string', enum: names }, undefined]
      : [['string', 'null'], undefined, [...names, null]];
    assert.deepEqual([form, items, values, rest], [...expected, {}], place);
    listed++;
  }
  assert.ok(listed > 10, String(listed));
  for (const resource of ['Property', 'Member', 'Media', 'PropertyRooms', 'Lookup', 'Field']) {
    for (const row of (await feed.page(`${resource}?$top=1000`)).rows) {
      check(resource, row);
      for (const [name, value] of Object.entries(row)) {
        const { type: form } = described(resource, name);
        if (value === null) assert.ok(Array.isArray(form) && form.includes('null'), `${resource}.${name}`);
        assert.equal(Array.isArray(value), form === 'array', `${resource}.${name}`);
      }
    }
  }
  const whole = await feed.record("Property('A')?$expand=Media,Rooms,ListAgent");
  check('Property', whole);
  check('Media', Object(whole.Media)[0]);
  check('PropertyRooms', Object(whole.Rooms)[0]);
  check('Member', Object(whole.ListAgent));
  assert.ok(members >= 25, `${members}`);

  const expected = {
    StandardStatus: 'ActiveUnderContract',
    City: 'Saint_x0020_Louis',
    Appliances: ['Dishwasher', 'RangeHood', 'Samovar_x0020__x0022_S_x0022_'],
    PublicRemarks: 'The "Active Under Contract" \\ of Saint Louis',
  };
  const select = `$select=${Object.keys(expected).join()}`;
  assert.deepEqual(await feed.record(`Property('A')?${select}`), expected);
  assert.deepEqual((await feed.page(`Property?${select}&$top=1`)).rows, [expected]);
  const full = await feed.get(
    `Property('A')?$select=City,Appliances&$format=application/json;odata.metadata=full`,
  );
  assert.equal(full.json['City@odata.type'], '#org.reso.metadata.enums.City');
  assert.equal(full.json['Appliances@odata.type'], '#Collection(org.reso.metadata.enums.Appliances)');
  assert.equal(full.json.City, expected.City);
  assert.equal(Object(whole.Media)[0].ImageSizeDescription, 'Very_x0020_Large');
  assert.deepEqual((await feed.get("Property('A')/Appliances")).json.value, expected.Appliances);
  assert.equal((await feed.get("Property('A')/StandardStatus/$value")).text, 'ActiveUnderContract');
});

test('filters accept members of the types as well as the lookup values themselves', async () => {
  const E = 'org.reso.metadata.enums';
  const found: Record<string, string> = {
    [`StandardStatus eq ${E}.StandardStatus'ActiveUnderContract'`]: 'A',
    [`StandardStatus has ${E}.StandardStatus'Active'`]: 'B',
    [`StandardStatus ne ${E}.StandardStatus'Active'`]: 'A,C',
    [`StandardStatus in (${E}.StandardStatus'Active','ActiveUnderContract')`]: 'A,B',
    "StandardStatus eq 'Active Under Contract'": 'A',
    [`City eq ${E}.City'Saint_x0020_Louis'`]: 'A',
    "City eq 'Saint_x0020_Louis'": 'A',
    "City eq 'Saint Louis'": 'A',
    "City in ('Nowhere_x0020_Else','Ely')": 'B,C',
    [`Appliances/any(e:e eq ${E}.Appliances'RangeHood')`]: 'A',
    [`Appliances/any(e:e eq ${E}.Appliances'Samovar_x0020__x0022_S_x0022_')`]: 'A',
    [`Appliances/all(e:e eq ${E}.Appliances'Dishwasher')`]: 'B,C',
    [`Appliances has ${E}.Appliances'RangeHood' and Appliances has ${E}.Appliances'Dishwasher'`]: 'A',
    "Media/any(m:m/ImageSizeDescription eq 'Very_x0020_Large')": 'A',
    // A literal for a field without a lookup is not converted.
    "contains(PublicRemarks,'Saint_x0020_Louis')": '',
  };
  for (const [filter, keys] of Object.entries(found)) {
    assert.equal((await feed.keys(`Property?$filter=${filter}`)).join(), keys, filter);
  }
});

test('the native interface returns lookup values, and a service without the option uses strings', async () => {
  const token = await service.key('replication');
  const { json } = await service.get('replication', '/v1/listings/A', { token });
  const { StandardFields } = Object(json).D.Results[0];
  assert.deepEqual(
    [StandardFields.StandardStatus, StandardFields.City],
    ['Active Under Contract', 'Saint Louis'],
  );
  const strings = await startTestService({ after });
  await strings.write(
    'Property',
    listing('A', { City: 'Saint Louis' }),
    listing('B', { City: 'Saint_x0020_Louis' }),
  );
  const plain = asker(strings, 'replication', await strings.key('replication'));
  assert.deepEqual(await plain.keys("Property?$filter=City eq 'Saint_x0020_Louis'"), ['B']);
  assert.equal((await plain.get('$metadata')).text.includes('EnumType'), false);
});

test('control information names the enumerations', async () => {
  const headers = { accept: 'application/json;odata.metadata=full' };
  const found = await feed.get("Property('A')?$select=Appliances,StandardStatus,ModificationTimestamp", {
    headers,
  });
  assert.equal(found.status, 200, found.text);
  const types = Object.entries(found.json).filter(([name]) => name.endsWith('@odata.type'));
  assert.deepEqual(types, [
    ['@odata.type', '#org.reso.metadata.Property'],
    ['Appliances@odata.type', '#Collection(org.reso.metadata.enums.Appliances)'],
    ['StandardStatus@odata.type', '#org.reso.metadata.enums.StandardStatus'],
    ['ModificationTimestamp@odata.type', 'DateTimeOffset'],
  ]);

  // A field whose lookup lists nothing is a string in $metadata, so no type is stated for it.
  const { enumerations } = declared((await feed.get('$metadata')).text);
  const lists = (name: string): boolean => enumerations.has(`org.reso.metadata.enums.${name}`);
  assert.deepEqual(['City', 'CountyOrParish'].map(lists), [true, false]);
  const select = '$select=City,CountyOrParish';
  const typesIn = (record: unknown): unknown[] =>
    Object.entries(Object(record)).filter(([name]) => /\w@odata\.type$/.test(name));
  const expected = [['City@odata.type', '#org.reso.metadata.enums.City']];
  const [row] = (await feed.page(`Property?${select}&$top=1`, headers)).rows;
  assert.deepEqual(typesIn(row), expected);
  assert.deepEqual(typesIn((await feed.get(`Property('A')?${select}`, { headers })).json), expected);
  const { json } = await feed.get("Property('A')?$expand=Media($select=ImageSizeDescription,MediaStatus)", {
    headers,
  });
  assert.deepEqual(typesIn(Object(json.Media)[0]), [
    ['ImageSizeDescription@odata.type', '#org.reso.metadata.enums.ImageSizeDescription'],
  ]);
});
