/** The Field and Lookup resources, which describe the data to clients (reference: DD and Lookup metadata rules). */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { standardDictionary } from '../../../src/dictionary/index.ts';
import { listing } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import { asker } from './asker.ts';

const service = await startTestService(
  { after },
  {
    settings: {
      declarations: {
        customFields: [
          {
            resource: 'Property',
            name: 'Pier',
            group: 'Water',
            label: 'Pier',
            type: 'string(20)',
            lookup: 'Pier',
            class: 'idx',
          },
          {
            resource: 'Property',
            name: 'Safe',
            group: 'Office',
            label: 'Safe',
            type: 'string(20)',
            lookup: 'Safe',
            class: 'private',
          },
        ],
        lookups: [
          { lookup: 'Pier', values: ['Long', 'Short'] },
          { lookup: 'Safe', values: ['Red', 'Blue'] },
        ],
      },
    },
    fill: async ({ write }) => {
      await write(
        'Property',
        listing('1', { AccessibilityFeatures: ['Accessible Doors'], PrivateRemarks: 'x' }),
      );
    },
  },
);
const all = asker(service, 'replication', await service.key('replication'));
const idx = asker(service, 'replication', await service.key('replication', { role: 'idx' }));

test('Field lists every field in use of every published resource, as the metadata does', async () => {
  const { text } = await all.get('$metadata');
  const declared = [...text.matchAll(/<EntityType Name="(\w+)">(.*?)<\/EntityType>/gs)].flatMap(
    // The types of custom fields are no resources.
    ([, resource = '', body = '']) =>
      resource.endsWith('CustomFields')
        ? []
        : [...body.matchAll(/<Property Name="(\w+)"/g)].map(([, field]) => `${resource}.${field}`),
  );
  assert.deepEqual((await all.walk('Field')).flat(), declared.toSorted());
});

test('a Field record names its resource and field', async () => {
  assert.equal((await all.get("Field('Property.ListPrice')")).status, 404, 'no record has a price');
  const record = await all.record("Field('Property.PrivateRemarks')");
  assert.deepEqual(record, {
    FieldKey: 'Property.PrivateRemarks',
    ModificationTimestamp: '2026-06-01T12:00:00.500Z',
    FieldName: 'PrivateRemarks',
    ResourceName: 'Property',
  });
  assert.deepEqual(await all.keys("Field?$filter=ResourceName eq 'Office' and FieldName eq 'OfficeStatus'"), [
    'Office.OfficeStatus',
  ]);
});

test('Lookup records have key, name, value, standard value and timestamp, and a walk returns the advertised count', async () => {
  const closed = [...(standardDictionary().lookups.get('StandardStatus')?.values.values() ?? [])];
  const { rows, count } = await all.page("Lookup?$filter=LookupName eq 'StandardStatus'&$count=true");
  assert.equal(count, closed.length);
  assert.deepEqual(
    rows.map(({ ModificationTimestamp, ...row }) => [typeof ModificationTimestamp, row]),
    closed
      .map(
        ({ value, legacy }) =>
          [
            'string',
            {
              LookupKey: `StandardStatus.${value}`,
              LookupName: 'StandardStatus',
              LookupValue: value,
              StandardLookupValue: value,
              LegacyODataValue: legacy ?? null,
            },
          ] as const,
      )
      .toSorted(([, left], [, right]) => (left.LookupKey < right.LookupKey ? -1 : 1)),
  );
  const first = await all.page('Lookup?$top=100&$count=true');
  const walked = (await all.walk('Lookup?$top=100')).flat();
  assert.equal(walked.length, first.count);
  assert.equal(new Set(walked).size, walked.length);
});

test("an operator's own lookup values have no standard value", async () => {
  const { rows } = await all.page(
    "Lookup?$filter=LookupName eq 'Pier'&$select=LookupValue,StandardLookupValue,LegacyODataValue",
  );
  assert.deepEqual(rows, [
    { LookupValue: 'Long', StandardLookupValue: null, LegacyODataValue: null },
    { LookupValue: 'Short', StandardLookupValue: null, LegacyODataValue: null },
  ]);
});

test('Lookup supports $top, $skip and windows of ModificationTimestamp; a new lookup is in the next window', async () => {
  const from = service.clock.text();
  service.clock.advance(60_000);
  await service.write('Property', listing('2', { View: ['Ocean'] }));
  service.clock.advance(60_000);
  const window = `ModificationTimestamp gt ${from} and ModificationTimestamp lt ${service.clock.text()}`;
  const values = [...(standardDictionary().lookups.get('View')?.values.keys() ?? [])].map(
    (value) => `View.${value}`,
  );
  const sorted = values.toSorted((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
  assert.deepEqual(await all.keys(`Lookup?$top=1000&$filter=${window}`), sorted);
  assert.deepEqual(await all.keys(`Lookup?$top=5&$skip=5&$filter=${window}`), sorted.slice(5, 10));
  assert.deepEqual(await all.keys(`Field?$filter=${window}`), ['Property.View']);
});

test('I4 Field and Lookup reveal neither hidden fields nor lookups that only hidden fields use', async () => {
  const names = async (feed: typeof all): Promise<Set<unknown>> => {
    const { rows } = await feed.page('Lookup?$top=1000&$select=LookupName');
    return new Set(rows.map(({ LookupName }) => LookupName));
  };
  const [ofAll, ofIdx] = [await names(all), await names(idx)];
  assert.ok(ofAll.has('Safe') && ofAll.has('Pier') && ofIdx.has('Pier'));
  assert.equal(ofIdx.has('Safe'), false);
  const fields = (await idx.walk('Field')).flat();
  assert.ok(fields.includes('Property.Pier'));
  assert.deepEqual(
    fields.filter((key) => ['Property.Safe', 'Property.PrivateRemarks'].includes(key)),
    [],
  );
  assert.equal((await idx.get("Field('Property.Safe')")).status, 404);
  assert.equal((await idx.get("Lookup('Safe.Red')")).status, 404);
  assert.equal((await all.get("Lookup('Safe.Red')")).status, 200);
});
