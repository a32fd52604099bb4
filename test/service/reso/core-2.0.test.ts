/**
 * The scenarios of RESO Web API Core 2.0.0, each under the tag of RESO's runner. The runner only checks that the data match the
 * filter; these tests compare the exact rows.
 */
import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { startTestService } from '../../support/service.ts';
import type { Json } from '../../support/world.ts';
import { type Asker, asker } from './asker.ts';
import { entityTypes } from './entity-types.ts';
import { fillMarket, MARKET, type MarketRow } from './market.ts';

const service = await startTestService({ after }, { fill: fillMarket });
const api = asker(service, 'api', await service.key('api'));

/** The fields in the configuration of the runner, and the corresponding members of a row. */
const FIELDS = {
  ListingKey: 'key',
  BedroomsTotal: 'bedrooms',
  ListPrice: 'price',
  ListingContractDate: 'contractDate',
  ModificationTimestamp: 'modified',
  OriginalEntryTimestamp: 'entered',
  StandardStatus: 'status',
  AccessibilityFeatures: 'features',
} as const satisfies Readonly<Record<string, keyof MarketRow>>;
type FieldName = keyof typeof FIELDS;

const FIELD_NAMES = Object.keys(FIELDS);
const isField = (name: string): name is FieldName => FIELD_NAMES.includes(name);

const NOW = '2026-06-01T13:00:00Z';
const ENUMS = 'org.reso.metadata.enums';

/** Timestamps are returned without milliseconds if those are zero. */
const shown = (row: MarketRow, name: FieldName): MarketRow[keyof MarketRow] => {
  const value = row[FIELDS[name]];
  return typeof value === 'string' ? value.replace('.000Z', 'Z') : value;
};

const given = (rows: readonly MarketRow[], names: readonly string[]): Json[] =>
  rows.map((row) =>
    Object.fromEntries(names.filter(isField).map((name) => [name, shown(row, name)] as const)),
  );

/** Asserts the headers that every response with data has, and its rows. */
async function answers(feed: Asker, path: string, rows: readonly MarketRow[]): Promise<void> {
  const { rows: found, answer } = await feed.page(path);
  assert.equal(answer.headers['odata-version'], '4.01');
  assert.match(answer.headers['content-type'] ?? '', /^application\/json;/);
  const names = /\$select=([^&]*)/.exec(path)?.[1]?.split(',') ?? [];
  assert.deepEqual(found, given(rows, names), path);
  assert.ok(found.length > 0, `${path} proves nothing`);
  const declared = (await entityTypes(feed)).get('Property')?.properties ?? [];
  assert.deepEqual(
    names.filter((name) => !declared.includes(name)),
    [],
  );
}

/** One scenario: a filter with `$top=5`, selecting the key and one field. */
function scenario(tag: string, field: FieldName, filter: string, holds: (row: MarketRow) => boolean): void {
  test(tag, () =>
    answers(
      api,
      `Property?$top=5&$select=ListingKey,${field}&$filter=${filter}`,
      MARKET.filter(holds).slice(0, 5),
    ),
  );
}

suite('documents', () => {
  test('metadata-validation', async () => {
    const answer = await api.get('$metadata?$format=application/xml');
    assert.equal(answer.status, 200);
    assert.match(answer.headers['content-type'] ?? '', /^application\/xml/);
    assert.equal(answer.headers['odata-version'], '4.01');
    const types = await entityTypes(api);
    assert.deepEqual(types.get('Property')?.keys, ['ListingKey']);
    for (const [name, { keys, properties }] of types) {
      assert.ok(keys.length === 1 && keys.every((key) => properties.includes(key)), name);
    }
    for (const name of ['Property', 'Member', 'Office', 'Media', 'Field', 'Lookup']) {
      assert.ok(types.has(name), name);
    }
  });

  test('service-document', async () => {
    const answer = await api.get('');
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['odata-version'], '4.01');
    assert.equal(answer.json['@odata.context'], `${api.root}$metadata`);
    const { value } = answer.json;
    assert.ok(Array.isArray(value));
    const sets = value.map(({ name, url, kind }: Json) => [name, url, kind]);
    const { text } = await api.get('$metadata');
    const declared = [...text.matchAll(/<EntitySet Name="(\w+)"/g)].map(([, name = '']) => name);
    assert.deepEqual(
      sets,
      declared.map((name) => [name, name, 'EntitySet']),
    );
    assert.ok(declared.includes('Property'));
  });
});

suite('records, selection, pages', () => {
  test('fetch-by-key', async () => {
    assert.deepEqual(await api.record("Property('1003')?$select=ListingKey"), { ListingKey: '1003' });
  });
  test('select', () => answers(api, 'Property?$select=ListingKey,BedroomsTotal', MARKET));
  test('top', () => answers(api, 'Property?$select=ListingKey&$top=5', MARKET.slice(0, 5)));
  test('skip', async () => {
    await answers(api, 'Property?$select=ListingKey&$top=5', MARKET.slice(0, 5));
    await answers(api, 'Property?$select=ListingKey&$top=5&$skip=5', MARKET.slice(5, 10));
    assert.deepEqual((await api.page('Property?$select=ListingKey&$top=5&$skip=30')).rows, []);
  });
  test('count', async () => {
    const { count, rows } = await api.page('Property?$count=true');
    assert.deepEqual([count, rows.length], [MARKET.length, MARKET.length]);
  });
});

suite('integers', () => {
  const int = (tag: string, filter: string, holds: (bedrooms: number | null) => boolean): void =>
    scenario(tag, 'BedroomsTotal', filter, ({ bedrooms }) => holds(bedrooms));
  const some = (holds: (bedrooms: number) => boolean) => (bedrooms: number | null) =>
    bedrooms !== null && holds(bedrooms);
  int(
    'filter-int-and',
    'BedroomsTotal gt 1 and BedroomsTotal lt 4',
    some((value) => value > 1 && value < 4),
  );
  int(
    'filter-int-or',
    'BedroomsTotal lt 2 or BedroomsTotal gt 3',
    some((value) => value < 2 || value > 3),
  );
  // "null le 1" is false, so its negation matches null.
  int('filter-int-not', 'not (BedroomsTotal le 1)', (value) => value === null || value > 1);
  int('filter-int-not (without a space)', 'not(BedroomsTotal le -1)', () => true);
  int(
    'filter-int-eq',
    'BedroomsTotal eq 2',
    some((value) => value === 2),
  );
  int('filter-int-ne', 'BedroomsTotal ne 2', (value) => value !== 2);
  int(
    'filter-int-gt',
    'BedroomsTotal gt 2',
    some((value) => value > 2),
  );
  int(
    'filter-int-ge',
    'BedroomsTotal ge 2',
    some((value) => value >= 2),
  );
  int(
    'filter-int-lt',
    'BedroomsTotal lt 2',
    some((value) => value < 2),
  );
  int(
    'filter-int-le',
    'BedroomsTotal le 2',
    some((value) => value <= 2),
  );
});

suite('decimals', () => {
  const bound = 225_005;
  const decimal = (tag: string, operator: string, holds: (price: number) => boolean): void =>
    scenario(tag, 'ListPrice', `ListPrice ${operator} 225005`, ({ price }) => holds(price));
  decimal('filter-decimal-ne', 'ne', (price) => price !== bound);
  decimal('filter-decimal-gt', 'gt', (price) => price > bound);
  decimal('filter-decimal-ge', 'ge', (price) => price >= bound);
  decimal('filter-decimal-lt', 'lt', (price) => price < bound);
  decimal('filter-decimal-le', 'le', (price) => price <= bound);
});

suite('dates', () => {
  const bound = '2026-03-13';
  const date = (tag: string, operator: string, holds: (date: string) => boolean): void =>
    scenario(tag, 'ListingContractDate', `ListingContractDate ${operator} ${bound}`, ({ contractDate }) =>
      holds(contractDate),
    );
  date('filter-date-eq', 'eq', (day) => day === bound);
  date('filter-date-ne', 'ne', (day) => day !== bound);
  date('filter-date-gt', 'gt', (day) => day > bound);
  date('filter-date-ge', 'ge', (day) => day >= bound);
  date('filter-date-lt', 'lt', (day) => day < bound);
  date('filter-date-le', 'le', (day) => day <= bound);
});

suite('timestamps', () => {
  const bound = '2026-06-01T12:10:00.900Z';
  const field = 'ModificationTimestamp';
  const moment = (tag: string, condition: string, holds: (modified: string) => boolean): void =>
    scenario(tag, field, `${field} ${condition}`, ({ modified }) => holds(modified));
  moment('filter-datetime-gt', `gt ${bound}`, (modified) => modified > bound);
  moment('filter-datetime-ge', `ge ${bound}`, (modified) => modified >= bound);
  moment('filter-datetime-lt-now', 'lt now()', (modified) => modified < NOW);
  moment('filter-datetime-le-now', 'le now()', (modified) => modified <= NOW);
  moment('filter-datetime-ne-now', 'ne now()', (modified) => modified !== NOW);
  moment('filter-datetime-ne', `ne ${bound}`, (modified) => modified !== bound);
});

suite('orders', () => {
  const sorted = (field: 'modified' | 'entered', sign: 1 | -1): MarketRow[] =>
    MARKET.toSorted((one, other) =>
      one[field] === other[field]
        ? one.key < other.key
          ? -1
          : 1
        : sign * (one[field] < other[field] ? -1 : 1),
    );
  for (const [name, member] of [
    ['ModificationTimestamp', 'modified'],
    ['OriginalEntryTimestamp', 'entered'],
  ] as const) {
    const select = `$top=20&$select=ListingKey,BedroomsTotal,${name}&$orderby=${name}`;
    const many = ({ bedrooms }: MarketRow): boolean => bedrooms !== null && bedrooms > 2;
    test(`orderby-timestamp-asc ${name}`, () =>
      answers(api, `Property?${select} asc`, sorted(member, 1).slice(0, 20)));
    test(`orderby-timestamp-desc ${name}`, () =>
      answers(api, `Property?${select} desc`, sorted(member, -1).slice(0, 20)));
    test(`orderby-timestamp-asc-filter-int-gt ${name}`, () =>
      answers(
        api,
        `Property?${select} asc&$filter=BedroomsTotal gt 2`,
        sorted(member, 1).filter(many).slice(0, 20),
      ));
    test(`orderby-timestamp-desc-filter-int-gt ${name}`, () =>
      answers(
        api,
        `Property?${select} desc&$filter=BedroomsTotal gt 2`,
        sorted(member, -1).filter(many).slice(0, 20),
      ));
  }
});

suite('enumerations', () => {
  const status = (value: string): string => `${ENUMS}.StandardStatus'${value}'`;
  const feature = (value: string): string => `${ENUMS}.AccessibilityFeatures'${value}'`;
  const [doors, kitchen] = ['Accessible Doors', 'Accessible Kitchen'];
  const one = 'StandardStatus';
  const many = 'AccessibilityFeatures';
  // One version of the runner writes qualified literals, the other plain ones.
  for (const [form, write] of [
    ['', (literal: string) => literal],
    [' (plain)', (literal: string) => literal.replace(/^[\w.]+/, '')],
  ] as const) {
    const [pending, d, k] = [status('Pending'), feature(doors), feature(kitchen)].map(write);
    scenario(
      `filter-enum-single-has${form}`,
      one,
      `${one} has ${pending}`,
      (row) => row.status === 'Pending',
    );
    scenario(`filter-enum-single-eq${form}`, one, `${one} eq ${pending}`, (row) => row.status === 'Pending');
    scenario(`filter-enum-ne${form}`, one, `${one} ne ${pending}`, (row) => row.status !== 'Pending');
    scenario(`filter-enum-multi-has${form}`, many, `${many} has ${d}`, ({ features }) =>
      features.includes(doors),
    );
    scenario(
      `filter-enum-multi-has-and${form}`,
      many,
      `${many} has ${d} and ${many} has ${k}`,
      ({ features }) => features.includes(doors) && features.includes(kitchen),
    );
    scenario(`filter-coll-enum-any${form}`, many, `${many}/any(enum:enum eq ${d})`, ({ features }) =>
      features.includes(doors),
    );
    scenario(`filter-coll-enum-all${form}`, many, `${many}/all(enum:enum eq ${d})`, ({ features }) =>
      features.every((each) => each === doors),
    );
  }
});

test('response-code-400', async () => {
  const [status, , message] = await api.error("Property?$filter=INVALIDFIELD eq 'bad'");
  assert.deepEqual([status, message], [400, '$filter: Property has no field INVALIDFIELD at position 1.']);
});

test('response-code-404', async () => {
  const [status, , message] = await api.error('ResourceNotFound');
  assert.deepEqual([status, message], [404, 'There is no resource ResourceNotFound.']);
});
