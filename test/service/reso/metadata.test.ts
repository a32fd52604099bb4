/** Specification 2.4 rules 2 and 3; contract: `$metadata` describes the records as each role sees them. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { XMLParser } from 'fast-xml-parser';
import { convert, jsonFaults, xmlFaults } from '../../dictionary/csdl/validators.ts';
import { startTestService } from '../../support/service.ts';
import type { Json } from '../../support/world.ts';
import { type Asker, asker } from './asker.ts';
import { demoMarket } from './demo-market.ts';

const service = await startTestService({ after }, demoMarket(30));
const ROLES = ['private', 'idx', 'vow', 'public', 'portal'] as const;
const askers = new Map<string, Asker>();
for (const role of ROLES)
  askers.set(role, asker(service, 'replication', await service.key('replication', { role })));

interface Member {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  readonly maxLength?: number;
  readonly lookup?: string;
  readonly localName?: string;
}

interface Described {
  readonly sets: ReadonlyMap<string, string>;
  readonly properties: ReadonlyMap<string, readonly Member[]>;
  readonly navigations: ReadonlyMap<string, readonly Member[]>;
}

const LISTS = ['EntityType', 'Property', 'NavigationProperty', 'EntitySet', 'Annotation'];
const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '',
  isArray: (name) => LISTS.includes(name),
});

type Node = Readonly<Record<string, string>> & {
  readonly [list: string]: readonly Node[] | string | undefined;
};

function listOf(node: Node | undefined, name: string): readonly Node[] {
  const found = node?.[name];
  return Array.isArray(found) ? found : [];
}

function memberOf(node: Node): Member {
  const annotation = (term: string): string | undefined =>
    listOf(node, 'Annotation').find(({ Term }) => Term === term)?.String;
  const [lookup, localName] = [
    annotation('RESO.OData.Metadata.LookupName'),
    annotation('MLS.OData.Metadata.LocalName'),
  ];
  return {
    name: String(node.Name),
    type: String(node.Type),
    nullable: node.Nullable !== 'false',
    ...(node.MaxLength === undefined ? {} : { maxLength: Number(node.MaxLength) }),
    ...(lookup === undefined ? {} : { lookup }),
    ...(localName === undefined ? {} : { localName }),
  };
}

/** Parses the document with a third-party XML parser. */
function describe(xml: string): Described {
  const schemas = parser.parse(xml)['edmx:Edmx']['edmx:DataServices'].Schema;
  const schema: Node = Array.isArray(schemas) ? schemas.find((each: Node) => 'EntityType' in each) : schemas;
  const { EntityContainer } = Object(schema);
  const types = listOf(schema, 'EntityType');
  const members = (list: string): ReadonlyMap<string, readonly Member[]> =>
    new Map(types.map((type) => [String(type.Name), listOf(type, list).map(memberOf)]));
  return {
    sets: new Map(
      listOf(EntityContainer, 'EntitySet').map((set) => [
        String(set.Name),
        String(set.EntityType).split('.').at(-1) ?? '',
      ]),
    ),
    properties: members('Property'),
    navigations: members('NavigationProperty'),
  };
}

async function metadataOf(role: string): Promise<{ feed: Asker; described: Described; xml: string }> {
  const feed = askers.get(role);
  assert.ok(feed);
  const { text: xml } = await feed.get('$metadata');
  return { feed, described: describe(xml), xml };
}

for (const role of ROLES) {
  test(`2.4.3 $metadata for ${role} is valid by the OASIS schemas in both formats`, async () => {
    const { feed, xml } = await metadataOf(role);
    assert.ok(xml.startsWith('<?xml version="1.0" encoding="UTF-8"?>\n<edmx:Edmx'));
    assert.deepEqual(await xmlFaults(xml), []);
    const json = (await feed.get('$metadata?$format=json')).text;
    assert.deepEqual(jsonFaults(json), []);
    assert.deepEqual(convert(xml).messages, []);
  });

  test(`2.4.3 for ${role}, a full record has exactly the declared fields`, async () => {
    const { feed, described } = await metadataOf(role);
    const { value } = (await feed.get('')).json;
    assert.ok(Array.isArray(value));
    assert.deepEqual(
      value.map(({ name }) => name),
      [...described.sets.keys()],
    );
    for (const [set, type] of described.sets) {
      const declared = (described.properties.get(type) ?? []).map(({ name }) => name).toSorted();
      const { rows } = await feed.page(`${set}?$top=1000`);
      for (const row of rows) assert.deepEqual(Object.keys(row).toSorted(), declared, set);
    }
  });

  test(`2.4.3 for ${role}, every value conforms to its declared type, length and lookup`, async () => {
    const { feed, described } = await metadataOf(role);
    const lookups = await lookupValues(feed);
    for (const [set, type] of described.sets) {
      const { rows } = await feed.page(`${set}?$top=1000`);
      for (const member of described.properties.get(type) ?? []) {
        for (const row of rows) checkValue(member, row[member.name], lookups, `${set}.${member.name}`);
      }
    }
  });
}

async function lookupValues(feed: Asker): Promise<ReadonlyMap<string, ReadonlySet<unknown>>> {
  const rows: Json[] = [];
  for (let next: string | undefined = 'Lookup'; next !== undefined; ) {
    const page = await feed.page(next);
    rows.push(...page.rows);
    next = page.next;
  }
  const groups = Map.groupBy(rows, ({ LookupName }) => String(LookupName));
  return new Map(
    [...groups].map(([name, values]) => [name, new Set(values.map(({ LookupValue }) => LookupValue))]),
  );
}

const FORMS: Readonly<Record<string, (value: unknown) => boolean>> = {
  'Edm.String': (value) => typeof value === 'string',
  'Edm.Boolean': (value) => typeof value === 'boolean',
  'Edm.Int64': (value) => Number.isInteger(value),
  'Edm.Decimal': (value) => typeof value === 'number',
  'Edm.Date': (value) => /^\d{4}-\d\d-\d\d$/.test(String(value)),
  'Edm.DateTimeOffset': (value) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/.test(String(value)),
};

function checkValue(
  member: Member,
  value: unknown,
  lookups: ReadonlyMap<string, ReadonlySet<unknown>>,
  where: string,
): void {
  if (value === null) {
    assert.ok(member.nullable, `${where} is null`);
    return;
  }
  const [, inner] = /^Collection\((.+)\)$/.exec(member.type) ?? [];
  if (inner !== undefined) assert.ok(Array.isArray(value), where);
  for (const item of Array.isArray(value) ? value : [value]) {
    assert.ok(FORMS[inner ?? member.type]?.(item), `${where} is ${JSON.stringify(value)}`);
    if (member.maxLength !== undefined) assert.ok(String(item).length <= member.maxLength, where);
    if (member.lookup !== undefined) assert.ok(lookups.get(member.lookup)?.has(item), `${where} is ${item}`);
  }
}

test('every declared navigation can be expanded, to a list or a single record as declared', async () => {
  for (const role of ROLES) {
    const { feed, described } = await metadataOf(role);
    for (const [set, type] of described.sets) {
      for (const { name, type: target } of described.navigations.get(type) ?? []) {
        const { rows } = await feed.page(`${set}?$top=5&$expand=${name}`);
        for (const row of rows) {
          const related = row[name];
          assert.equal(Array.isArray(related), target.startsWith('Collection('), `${set}.${name}`);
        }
      }
    }
  }
});

test('$metadata does not reveal fields that the role may not see', async () => {
  const fields = async (role: string): Promise<string[]> =>
    (await metadataOf(role)).described.properties.get('Property')?.map(({ name }) => name) ?? [];
  const all = await fields('private');
  const idx = await fields('idx');
  const secret = ['PrivateRemarks', 'ExpirationDate', 'OfficeUse_KeySafe', 'ListAgentDirectPhone'];
  assert.deepEqual(
    secret.filter((name) => all.includes(name)),
    secret,
  );
  assert.deepEqual(
    secret.filter((name) => idx.includes(name)),
    [],
  );
  assert.deepEqual(
    idx.filter((name) => !all.includes(name)),
    [],
  );
  const { xml } = await metadataOf('idx');
  for (const name of secret) assert.ok(!xml.includes(name), name);
});

test('2.4.2 a custom field carries the annotation LocalName, GROUP: FIELD, under its API name', async () => {
  const { described } = await metadataOf('private');
  const custom = (described.properties.get('Property') ?? []).filter(
    ({ localName }) => localName !== undefined,
  );
  assert.deepEqual(custom.map(({ name, localName }) => [name, localName]).toSorted(), [
    ['LakeLiving_AssnDues', 'Lake Living: Lake Association Dues'],
    ['LakeLiving_DockType', 'Lake Living: Dock Type'],
    ['LakeLiving_Uses', 'Lake Living: Water Uses'],
    ['OfficeUse_KeySafe', 'Office Use: Key Safe'],
    ['OfficeUse_SignOrdered', 'Office Use: Sign Ordered'],
    ['OfficeUse_TeamNotes', 'Office Use: Team Notes'],
    ['Winter_GeneratorSwitchYN', 'Winter: Generator Switch'],
    ['Winter_HeatingCost', 'Winter: Heating Cost'],
    ['Winter_SnowRemoval', 'Winter: Snow Removal'],
  ]);
});

test('2.4.2 when the two differ, LocalName is the current name: renaming keeps the API name and the data', async () => {
  const { feed } = await metadataOf('idx');
  const values = async () => (await feed.page('Property?$select=ListingKey,LakeLiving_AssnDues')).rows;
  const before = await values();
  assert.ok(before.some(({ LakeLiving_AssnDues }) => typeof LakeLiving_AssnDues === 'number'));
  await service.store.configure((settings) => ({
    ...settings,
    declarations: {
      ...settings.declarations,
      customFields: (settings.declarations.customFields ?? []).map((field) =>
        field.name === 'LakeLiving_AssnDues' ? { ...field, label: 'Yearly Dues' } : field,
      ),
    },
  }));
  const renamed = (await metadataOf('idx')).described.properties.get('Property');
  assert.equal(
    renamed?.find(({ name }) => name === 'LakeLiving_AssnDues')?.localName,
    'Lake Living: Yearly Dues',
  );
  assert.deepEqual(await values(), before);
});

test('the document has the negotiated OData version', async () => {
  const { feed } = await metadataOf('private');
  assert.match((await feed.get('$metadata')).text, /<edmx:Edmx [^>]*Version="4.01"/);
  const older = await feed.get('$metadata', { headers: { 'odata-maxversion': '4.0' } });
  assert.match(older.text, /<edmx:Edmx [^>]*Version="4.0"/);
  assert.deepEqual(await xmlFaults(older.text), []);
});

test('every lookup of a field has values in the Lookup resource', async () => {
  const { feed, described } = await metadataOf('private');
  const lookups = await lookupValues(feed);
  for (const members of described.properties.values()) {
    for (const { name, lookup } of members) {
      if (lookup !== undefined) assert.ok((lookups.get(lookup)?.size ?? 0) > 0, `${name}: ${lookup}`);
    }
  }
});
