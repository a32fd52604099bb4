/** Fair scheduling on the main thread: many requests of one key next to a single request of another. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { RequestQueue } from '../../../src/service/access/budget.ts';
import { SERVICE_DEFAULTS } from '../../../src/service/options.ts';
import { listing } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';

/** The number of expensive requests. */
const CROWD = process.env.PLAT_FULL === '1' ? 200 : 60;

test('the queue yields to the event loop between requests, and serves a caller with one request after one of the crowd', async () => {
  const thread = new RequestQueue();
  const order: string[] = [];
  const enter = (name: string) => thread.enter(name).then(() => void order.push(name));
  const crowd = Array.from({ length: 5 }, () => enter('crowd'));
  await setImmediate();
  order.push('arrived');
  const modest = enter('modest');
  await Promise.all([...crowd, modest]);
  assert.deepEqual(order.slice(0, 2), ['crowd', 'arrived']);
  assert.ok(order.indexOf('modest') <= 3, String(order));
  assert.equal(thread.waiting, 0);
});

test(`a request of another key is answered before most of ${CROWD} expensive ones that arrived before it`, async (t) => {
  const limit = { requests: 10_000, seconds: 60 };
  const limits = { ...SERVICE_DEFAULTS.limits, replication: limit };
  const service = await startTestService(t, {
    fill: async ({ write }) => void (await write('Property', listing('1'))),
    service: { limits },
  });
  const [greedy, modest] = [await service.key('replication'), await service.key('replication')];
  const path = "/Reso/OData/Property('1')";
  const order: string[] = [];
  const ask = async (who: string, token: string, asked: string): Promise<void> => {
    const { status } = await service.get('replication', asked, { token });
    assert.equal(status, 200);
    order.push(who);
  };
  // Opens the connections and compiles what is compiled once.
  await Promise.all(Array.from({ length: CROWD }, () => ask('warm', greedy, path)));
  await ask('warm', modest, path);
  order.length = 0;
  const long = Array.from({ length: 100 }, (_, at) => `City eq '${at}'`).join(' or ');
  const crowd = Array.from({ length: CROWD }, (_, at) =>
    ask('crowd', greedy, `/Reso/OData/Property?$top=1&$filter=ListPrice gt ${at} or ${long}`),
  );
  await Promise.race(crowd);
  await ask('modest', modest, path);
  const before = order.indexOf('modest');
  assert.ok(before < CROWD / 2, `${before} of the crowd were answered before it`);
  await Promise.all(crowd);
});
