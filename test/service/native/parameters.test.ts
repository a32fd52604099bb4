/** Invalid parameters of the native interface (contract, Native interface; native-v1). */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { startTestService } from '../../support/service.ts';
import { nativeAsker } from './asker.ts';
import { FIRST, fillMarket } from './market.ts';

const service = await startTestService({ after }, { fill: fillMarket });
const feed = nativeAsker(service, 'replication', await service.key('replication', { role: 'idx' }));

describe('a parameter', () => {
  const unknown = (name: string, nearest: string): unknown => [
    400,
    1053,
    `The query option ${name} is not known. Did you mean ${nearest}?`,
  ];
  it('that is unknown and begins with _ is refused with 1053 and the nearest name', async () => {
    for (const [name, nearest] of [
      ['_skiptokn', '_skiptoken'],
      ['_SkipToken', '_skiptoken'],
      ['_limits', '_limit'],
      ['_order', '_orderby'],
    ] as const) {
      assert.deepEqual(await feed.fault(`listings?${name}=1`), unknown(name, nearest));
      assert.deepEqual(await feed.fault(`accounts?${name}=1`), unknown(name, nearest));
      assert.deepEqual(await feed.fault(`listings/${FIRST}?${name}=1`), unknown(name, nearest));
      assert.deepEqual(await feed.fault(`listings/${FIRST}/photos?${name}=1`), unknown(name, nearest));
      assert.deepEqual(await feed.fault(`listings/${FIRST}/photos/P1?${name}=1`), unknown(name, nearest));
      assert.deepEqual(await feed.fault(`system?${name}=1`), unknown(name, nearest));
    }
  });

  it('without _ is ignored', async () => {
    for (const path of [
      'listings?page=2&$top=1&limit=3&x',
      `listings/${FIRST}?callback=f`,
      'system?x=_limit',
    ]) {
      assert.equal((await feed.get(path)).status, 200, path);
    }
  });

  it('that is sent twice is refused with 1053', async () => {
    const error = [400, 1053, 'The query option _limit is given more than once.'];
    assert.deepEqual(await feed.fault('listings?_limit=1&_limit=2'), error);
    const skip = [400, 1053, 'The query option _skip is given more than once.'];
    assert.deepEqual(await feed.fault('listings?_skip=1&_$skip=2'), skip);
  });

  it('that cannot be combined with another is refused with 1053', async () => {
    const error = (first: string, second: string, why: string): unknown => [
      400,
      1053,
      `${first} and ${second} cannot be combined: ${why}.`,
    ];
    const places = 'both set where the page begins';
    assert.deepEqual(
      await feed.fault('listings?_skiptoken=&_orderby=ListPrice'),
      error('_skiptoken', '_orderby', 'a token continues the order by key'),
    );
    assert.deepEqual(await feed.fault('listings?_skiptoken=a&_page=1'), error('_skiptoken', '_page', places));
    assert.deepEqual(await feed.fault('listings?_skiptoken=a&_skip=1'), error('_skiptoken', '_skip', places));
    assert.deepEqual(await feed.fault('listings?_page=1&_skip=1'), error('_page', '_skip', places));
  });

  it('that does not apply to the resource is refused with 1053 and those that do', async () => {
    const error = (name: string, resource: string, taken: string): unknown => [
      400,
      1053,
      `${name} does not apply to ${resource}; its parameters are ${taken}.`,
    ];
    assert.deepEqual(
      await feed.fault(`listings/${FIRST}?_filter=x`),
      error('_filter', 'listings', '_select, _expand, _limit'),
    );
    assert.deepEqual(
      await feed.fault(`listings/${FIRST}/rooms?_filter=x`),
      error('_filter', 'rooms', '_select, _limit, _skip, _page, _pagination'),
    );
    assert.deepEqual(
      await feed.fault(`listings/${FIRST}/rooms/R1?_limit=1`),
      error('_limit', 'rooms', '_select'),
    );
    assert.deepEqual(await feed.fault('system?_limit=1'), error('_limit', 'system', 'none'));
    assert.deepEqual(await feed.fault('standardfields?_page=1'), error('_page', 'standardfields', 'none'));
    assert.deepEqual(await feed.fault('customfields?_page=1'), error('_page', 'customfields', 'none'));
  });

  it('with an invalid value is refused with 1053 and the valid values', async () => {
    for (const [parameter, value, expected] of [
      ['_page', '0', 'a whole number from 1 to 100000'],
      ['_page', '100001', 'a whole number from 1 to 100000'],
      ['_skip', '-1', 'a whole number from 0 to 2500000'],
      ['_skip', '2500001', 'a whole number from 0 to 2500000'],
      ['_pagination', '2', '0, 1 or count'],
      ['_pagination', 'true', '0, 1 or count'],
      ['_select', 'City,,ListPrice', 'names with one comma between two of them'],
    ] as const) {
      const error = `${parameter} is ${JSON.stringify(value)}, but takes ${expected}.`;
      assert.deepEqual(await feed.fault(`listings?${parameter}=${value}`), [400, 1053, error]);
    }
    const known =
      'Photos, Videos, VirtualTours, Rooms, Units, OpenHouses, Documents, FloorPlans, CustomFields, PrimaryPhoto, Supplement';
    assert.deepEqual(await feed.fault('listings?_expand=Photo'), [
      400,
      1053,
      `_expand: Photo cannot be expanded; ${known} can. Did you mean Photos?`,
    ]);
  });

  it('that names an unknown field is refused with 1040 and the nearest name', async () => {
    const error = (option: string, name: string, nearest: string): unknown => [
      400,
      1040,
      `${option}: listings has no field ${name} at position 1. Did you mean ${nearest}?`,
    ];
    assert.deepEqual(
      await feed.fault('listings?_select=ListPrise'),
      error('_select', 'ListPrise', 'ListPrice'),
    );
    assert.deepEqual(await feed.fault('listings?_orderby=Citi'), error('_orderby', 'Citi', 'City'));
    assert.deepEqual(
      await feed.fault('listings?_select=ListAgentKey'),
      error('_select', 'ListAgentKey', 'ListAgentId'),
    );
  });

  it('that names a member of Object.prototype is refused with 1040 like any unknown field', async () => {
    for (const path of ['listings', 'accounts', 'accounts/1']) {
      const collection = path.split('/')[0];
      for (const name of ['constructor', 'toString', '__proto__']) {
        const error = `_select: ${collection} has no field ${name} at position 1.`;
        assert.deepEqual(await feed.fault(`${path}?_select=${name}`), [400, 1040, error]);
      }
    }
  });
});
