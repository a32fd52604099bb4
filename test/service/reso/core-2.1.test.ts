/** The additions of RESO Web API Core 2.1.0: expansions, server-driven paging, top-level resources, string functions, `in`. */
import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { startTestService } from '../../support/service.ts';
import type { Json } from '../../support/world.ts';
import { asker } from './asker.ts';
import { entityTypes } from './entity-types.ts';
import { fillMarket, KEYS, keysWhere, MARKET } from './market.ts';

const service = await startTestService({ after }, { fill: fillMarket });
const api = asker(service, 'api', await service.key('api'));
const replication = asker(service, 'replication', await service.key('replication'));

suite('expansions', () => {
  test('for every declared collection, $expand returns arrays of the declared type, and the path returns the same', async () => {
    const types = await entityTypes(api);
    const collections = [...(types.get('Property')?.collections ?? [])];
    for (const name of ['Media', 'Rooms', 'UnitTypes', 'OpenHouses']) {
      assert.ok(
        collections.some(([declared]) => declared === name),
        name,
      );
    }
    for (const [name, target] of collections) {
      const { rows } = await api.page(`Property?$expand=${name}&$top=5`);
      assert.deepEqual(
        rows.map(({ ListingKey }) => ListingKey),
        KEYS.slice(0, 5),
      );
      const properties = types.get(target)?.properties ?? [];
      for (const { ListingKey, [name]: expanded } of rows) {
        assert.ok(Array.isArray(expanded), name);
        const alone = await api.page(`Property('${ListingKey}')/${name}`);
        assert.deepEqual(alone.rows, expanded);
        for (const record of expanded) {
          assert.deepEqual(
            Object.keys(record).filter((each) => !properties.includes(each)),
            [],
          );
        }
        assert.equal(expanded.length > 0, ListingKey === '1001', `${ListingKey} ${name}`);
      }
    }
  });

  test('a path to a collection without records is an empty array', async () => {
    const answer = await api.get("Property('1002')/Media");
    assert.deepEqual([answer.status, answer.json.value], [200, []]);
  });
});

suite('server-driven paging', () => {
  test('$top=1 has no nextLink', async () => {
    const { rows, next } = await api.page('Property?$top=1');
    assert.deepEqual([rows.length, next], [1, undefined]);
  });

  test('$top=2 on the replication surface walks all records, and the last page has no nextLink', async () => {
    const pages = await replication.walk('Property?$top=2&$select=ListingKey');
    assert.deepEqual(
      pages,
      KEYS.flatMap((_, at) => (at % 2 === 0 ? [KEYS.slice(at, at + 2)] : [])),
    );
  });

  for (const [operator, direction] of [
    ['gt', 'asc'],
    ['lt', 'desc'],
  ] as const) {
    test(`${operator} with an order, maxpagesize and a larger $top pages correctly over more than ten pages`, async () => {
      const bound = operator === 'gt' ? '2026-06-01T12:01:00.900Z' : '2026-06-01T12:28:00.900Z';
      const path = `Property?$filter=ModificationTimestamp ${operator} ${bound}&$orderby=ModificationTimestamp ${direction}&$select=ListingKey,ModificationTimestamp&$top=25`;
      const rows = MARKET.filter(({ modified }) => (operator === 'gt' ? modified > bound : modified < bound));
      const keys = (direction === 'asc' ? rows : rows.toReversed()).map(({ key }) => key).slice(0, 25);
      const headers = { prefer: 'odata.maxpagesize=2' };
      const pages = await api.walk(path, headers);
      assert.deepEqual(
        pages,
        keys.flatMap((_, at) => (at % 2 === 0 ? [keys.slice(at, at + 2)] : [])),
      );
      assert.equal(pages.length, 13);
      const { answer, next = '' } = await api.page(path, headers);
      assert.equal(answer.headers['preference-applied'], 'odata.maxpagesize=2');
      assert.equal(new URL(next).searchParams.get('$top'), '23');
      assert.equal(new URL(next).searchParams.get('$select'), 'ListingKey,ModificationTimestamp');
    });
  }

  test('a walk returns as many records as $count advertises', async () => {
    for (const resource of ['Property', 'Lookup', 'Field']) {
      const { count } = await api.page(`${resource}?$count=true&$top=1`);
      const pages = await api.walk(`${resource}`);
      assert.equal(new Set(pages.flat()).size, count, resource);
    }
  });
});

test('Property, Member, Office, Field and Lookup are top-level resources with keys', async () => {
  for (const [resource, key] of [
    ['Property', 'ListingKey'],
    ['Member', 'MemberKey'],
    ['Office', 'OfficeKey'],
    ['Field', 'FieldKey'],
    ['Lookup', 'LookupKey'],
  ] as const) {
    const [first] = (await api.page(`${resource}?$top=1`)).rows;
    assert.ok(first, resource);
    assert.deepEqual(await api.record(`${resource}('${encodeURIComponent(String(first[key]))}')`), first);
  }
});

suite('filters', () => {
  const returnsKeys = async (filter: string, keys: readonly string[]): Promise<void> =>
    assert.deepEqual(await api.keys(`Property?$filter=${filter}`), keys, filter);

  test('contains, startswith, endswith', async () => {
    await returnsKeys(
      "contains(City,'lan')",
      keysWhere(({ city }) => city === 'Åland'),
    );
    await returnsKeys(
      "startswith(City,'Coeur d''')",
      keysWhere(({ city }) => city.startsWith('Coeur')),
    );
    await returnsKeys(
      "endswith(City,'ug')",
      keysWhere(({ city }) => city === 'Zug'),
    );
  });

  test('in', async () => {
    await returnsKeys(
      "StandardStatus in ('Pending','Closed')",
      keysWhere(({ status }) => status === 'Pending' || status === 'Closed'),
    );
    await returnsKeys(
      "StandardStatus in (org.reso.metadata.enums.StandardStatus'ComingSoon')",
      keysWhere(({ status }) => status === 'Coming Soon'),
    );
  });

  test('any and all over a list of strings; all is true for an empty list', async () => {
    const whole = MARKET.find(({ features }) => features.length === 3)?.features ?? [];
    await returnsKeys(`AccessibilityFeatures/all(a:a in (${whole.map((each) => `'${each}'`).join()}))`, KEYS);
    await returnsKeys(
      "AccessibilityFeatures/all(a:a eq 'Accessible Kitchen')",
      keysWhere(({ features }) => features.every((each) => each === 'Accessible Kitchen')),
    );
    assert.ok(MARKET.some(({ features }) => features.length === 0));
    await returnsKeys(
      "AccessibilityFeatures/any(a:a eq 'Accessible Kitchen' or a eq 'Accessible Entrance')",
      keysWhere(({ features }) => features.some((each) => each !== 'Accessible Doors')),
    );
  });

  test('comparisons with the minimum and maximum of the data match exactly the records that have them', async () => {
    const prices = MARKET.map(({ price }) => price);
    const [least, most] = [Math.min(...prices), Math.max(...prices)];
    await returnsKeys(
      `ListPrice le ${least}`,
      keysWhere(({ price }) => price === least),
    );
    await returnsKeys(
      `ListPrice ge ${most}`,
      keysWhere(({ price }) => price === most),
    );
    await returnsKeys(
      `not (ListPrice le ${least})`,
      keysWhere(({ price }) => price !== least),
    );
    await returnsKeys(
      `not (ListPrice ge ${most})`,
      keysWhere(({ price }) => price !== most),
    );
  });

  test('eq and ne compare with null; gt, ge, lt and le with null are never true', async () => {
    await returnsKeys(
      'BedroomsTotal eq null',
      keysWhere(({ bedrooms }) => bedrooms === null),
    );
    await returnsKeys(
      'BedroomsTotal ne null',
      keysWhere(({ bedrooms }) => bedrooms !== null),
    );
    for (const operator of ['gt', 'ge', 'lt', 'le']) await returnsKeys(`BedroomsTotal ${operator} null`, []);
  });
});

suite('the protocol', () => {
  test('OData-Version is 4.01, or 4.0 on request; an unknown one gets 400', async () => {
    const versionFor = async (headers: Record<string, string>) => {
      const { status, headers: given } = await api.get('Property?$top=1', { headers });
      return [status, given['odata-version']];
    };
    assert.deepEqual(await versionFor({}), [200, '4.01']);
    assert.deepEqual(await versionFor({ 'odata-version': '4.01' }), [200, '4.01']);
    assert.deepEqual(await versionFor({ 'odata-version': '4.0' }), [200, '4.0']);
    assert.deepEqual(await versionFor({ 'odata-version': '3.0' }), [400, '4.01']);
    assert.deepEqual(await versionFor({ 'odata-version': '5.0' }), [400, '4.01']);
  });

  test('Prefer: omit-values=nulls leaves nulls out', async () => {
    const prefer = { prefer: 'omit-values=nulls' };
    const [row]: readonly Json[] = (await api.page("Property?$filter=ListingKey eq '1006'", prefer)).rows;
    assert.ok(row !== undefined && !('BedroomsTotal' in row) && row.ListPrice !== undefined);
    assert.ok(!Object.values(row).includes(null));
  });

  test('an error has code, message and target', async () => {
    const { json } = await api.get("Property?$filter=INVALIDFIELD eq 'bad'");
    assert.deepEqual(json, {
      error: {
        code: 'fieldUnknown',
        message: '$filter: Property has no field INVALIDFIELD at position 1.',
        target: '$filter',
      },
    });
  });

  test('a request without a key gets 401 with WWW-Authenticate', async () => {
    const { status, headers } = await service.get('api', '/Reso/OData/Property');
    assert.equal(status, 401);
    assert.match(headers['www-authenticate'] ?? '', /^Bearer/);
  });
});
