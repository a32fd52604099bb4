import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Field, type Navigation, standardDictionary } from '../../src/dictionary/index.ts';
import { type ReferenceField, referenceFields, referenceValues, skip } from './reference.ts';

const { resources, lookups } = standardDictionary();

/** What the project has beyond Data Dictionary 2.0, and why. */
const ADDED_FIELDS: Record<string, string> = {
  // The specification's change timestamp of the native interface (2.2).
  'Property.OpenHousesChangeTimestamp': 'timestamp',
  // The floor plan interface: the plan of an image, and the kind of image.
  'Media.FloplanKey': 'string(255)',
  'Media.FloplanImageType': 'string(255)[] FloplanImageType',
  // The dictionary has no key for these two resources; an entity type must have one.
  'MemberAssociation.MemberAssociationKey': 'string(255)',
  'OfficeAssociation.OfficeAssociationKey': 'string(255)',
  // The specification's spelling (2.1), with room for longer identifiers; the dictionary's is an alias.
  'Media.OriginatingSystemResourceRecordSystemID': 'string(255)',
};
const RESPELLED = 'Media.OriginatingSystemResourceRecordSystemId';
const ADDED_VALUES = ['png', 'thumbnail_png', 'pdf', 'svg'].flatMap((format) =>
  ['all_in_one', 'floor'].map((extent) => `FloplanImageType: ${extent}_${format}`),
);

/** One line for each field, so that a difference is one line. */
function lineOf(field: Field): string {
  const { type, collection, lookup } = field;
  const list = collection ? '[]' : '';
  const closed = lookup !== undefined && lookups.get(lookup)?.closed === true ? '!' : '';
  const values = lookup === undefined ? '' : ` ${lookup}${closed}`;
  switch (type.kind) {
    case 'string':
      return `string${type.maxLength === undefined ? '' : `(${type.maxLength})`}${list}${values}`;
    case 'integer':
      return `integer${type.digits === undefined ? '' : `(${type.digits})`}${list}${values}`;
    case 'decimal':
      return `decimal(${type.precision},${type.scale})${list}${values}`;
    default:
      return `${type.kind}${list}${values}`;
  }
}

const navigationLine = ({ target, collection }: Navigation): string =>
  `-> ${target}${collection ? '[]' : ''}`;

function referenceLine(reference: ReferenceField): string {
  const { type, maxLength, precision, scale, lookup, lookupStatus } = reference;
  const list = reference.collection ? '[]' : '';
  const values = lookup === '' ? '' : ` ${lookup}${lookupStatus === 'Locked with Enumerations' ? '!' : ''}`;
  switch (type) {
    case 'Navigation':
      return `-> ${reference.target}${list}`;
    case 'Edm.String':
      return `string${maxLength === '' ? '' : `(${maxLength})`}${list}${values}`;
    case 'Edm.Decimal':
      return Number(scale) === 0 ? `integer(${precision})` : `decimal(${precision},${scale})`;
    case 'Edm.Int64':
      return 'integer';
    case 'Edm.Boolean':
      return `boolean${values}`;
    case 'Edm.Date':
      return `date${values}`;
    case 'Edm.DateTimeOffset':
      return `timestamp${values}`;
    default:
      return assert.fail(`the reference has a type ${type}`);
  }
}

describe('Data Dictionary 2.0', { skip }, () => {
  it('has every field with its type, sizes, lookup and target, and no other fields than those listed', () => {
    const actual = new Map<string, string>();
    for (const resource of resources.values()) {
      for (const field of resource.fields.values())
        actual.set(`${resource.name}.${field.name}`, lineOf(field));
      for (const way of resource.navigations.values()) {
        actual.set(`${resource.name}.${way.name}`, navigationLine(way));
      }
    }
    const published = referenceFields().map(
      (reference) => [`${reference.resource}.${reference.field}`, referenceLine(reference)] as const,
    );
    assert.equal(published.length, 1745);
    const expected = new Map([...published, ...Object.entries(ADDED_FIELDS)]);
    assert.equal(expected.delete(RESPELLED), true);
    const sorted = (lines: Map<string, string>): string[] =>
      [...lines].map(([name, line]) => `${name}: ${line}`).sort();
    assert.deepEqual(sorted(actual), sorted(expected));
  });

  it('has every resource', () => {
    const published = new Set(referenceFields().map(({ resource }) => resource));
    assert.deepEqual([...resources.keys()].sort(), [...published].sort());
    assert.equal(resources.size, 41);
  });

  it('accepts the spelling of the dictionary where the specification has another', () => {
    const aliases = [...resources.values()].flatMap(({ name, fieldAliases }) =>
      [...fieldAliases].map(([alias, field]) => `${name}.${alias} = ${field}`),
    );
    assert.deepEqual(aliases, [`${RESPELLED} = OriginatingSystemResourceRecordSystemID`]);
  });

  it('has every value of every lookup with its older name, and no other values than those listed', () => {
    const line = (lookup: string, value: string, legacy = ''): string =>
      `${lookup}: ${value}${legacy === '' ? '' : ` (${legacy})`}`;
    const actual = [...lookups.values()].flatMap(({ name, values }) =>
      [...values.values()].map(({ value, legacy }) => line(name, value, legacy)),
    );
    const published = referenceValues().map(({ lookup, value, legacy }) => line(lookup, value, legacy));
    assert.equal(published.length, 3683);
    assert.deepEqual(actual.sort(), [...published, ...ADDED_VALUES].sort());
  });

  it('has closed exactly the lookups that are locked', () => {
    const locked = referenceFields().filter(
      ({ lookupStatus }) => lookupStatus === 'Locked with Enumerations',
    );
    const closed = [...lookups.values()].filter((lookup) => lookup.closed).map(({ name }) => name);
    assert.deepEqual(closed.sort(), [...new Set(locked.map(({ lookup }) => lookup))].sort());
    assert.ok(closed.includes('StandardStatus'));
  });
});

/** What the idx role sees beyond the IDX payload (contract, Access). */
const BEYOND_PAYLOAD = [
  /Key$/,
  /ChangeTimestamp$/,
  /^(OriginatingSystemID|Latitude|Longitude)$/,
  /^(Member|(Co)?(List|Buyer)Agent)(\w+Name|NamePrefix|NameSuffix|PreferredPhone|PreferredPhoneExt|Email)$/,
  /^((Co)?(List|Buyer))?Office(Name|Phone|PhoneExt|Email)$/,
];

describe('the IDX payload', { skip }, () => {
  const payload = new Set(
    referenceFields().flatMap(({ resource, field, type, payloads }) =>
      type !== 'Navigation' && payloads.includes('IDX') ? [`${resource}.${field}`] : [],
    ),
  );
  const forIdx = (field: Field): boolean => ['open', 'idx', 'address'].includes(field.class);

  it('is visible completely', () => {
    const hidden = [...resources.values()].flatMap(({ name, fields }) =>
      [...fields.values()].filter((field) => payload.has(`${name}.${field.name}`) && !forIdx(field)),
    );
    assert.deepEqual(hidden, []);
    assert.ok(payload.size > 200);
  });

  // OriginatingSystemName, SourceSystemID and SourceSystemName of an Office are in the payload; those of a Member are not.
  for (const name of ['Property', 'Member', 'Office']) {
    it(`is extended, for ${name}, by keys, timestamps, place and contacts only`, () => {
      const visible = [...(resources.get(name)?.fields.values() ?? [])].filter(forIdx);
      const expected = [...(resources.get(name)?.fields.keys() ?? [])].filter(
        (field) => payload.has(`${name}.${field}`) || BEYOND_PAYLOAD.some((pattern) => pattern.test(field)),
      );
      assert.ok(expected.length > 10);
      assert.deepEqual(
        visible.map((field) => field.name),
        expected,
      );
    });
  }

  for (const name of ['PropertyRooms', 'PropertyUnitTypes', 'OpenHouse', 'Media']) {
    it(`includes every field of ${name}`, () => {
      const hidden = [...(resources.get(name)?.fields.values() ?? [])].filter((field) => !forIdx(field));
      assert.deepEqual(hidden, []);
    });
  }
});
