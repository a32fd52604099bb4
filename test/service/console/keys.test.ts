/** Keys and figures on the admin port: what an operator makes and ends, and what the last day was like. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { History } from '../../../src/service/console/history.ts';
import { SERVICE_DEFAULTS } from '../../../src/service/options.ts';
import { listing } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import { resoFault } from '../http/envelopes.ts';

const service = await startTestService(
  { after },
  {
    fill: async ({ write }) => {
      await write('Property', listing('1'));
    },
  },
);
const token = await service.key('admin');
const make = (body: unknown) =>
  service.get('admin', '/keys', { token, method: 'POST', body: JSON.stringify(body) });

test('a key is made, works, and is ended', async () => {
  const made = await make({
    name: ' Ann ',
    kind: 'api',
    role: 'idx',
    systems: ['S1'],
    expires: '2100-01-01',
  });
  assert.equal(made.status, 201, made.text);
  const { key, token: own } = JSON.parse(made.text);
  assert.deepEqual(
    [key.name, key.kind, key.role, key.systems, key.expiresAt],
    ['Ann', 'api', 'idx', ['S1'], '2100-01-01T00:00:00Z'],
  );
  const used = async () => (await service.get('api', '/Reso/OData/Property?$top=1', { token: own })).status;
  assert.equal(await used(), 200);
  const history = JSON.parse((await service.get('admin', `/keys/${key.id}/history`, { token })).text);
  assert.deepEqual(history.requests, [1]);
  const list = (await service.get('admin', '/keys', { token })).json;
  const lastDay = Array.isArray(list.keys) ? list.keys.find(({ id }) => id === key.id)?.lastDay : undefined;
  assert.deepEqual(lastDay, { requests: 1, rows: 0, bytes: history.bytes[0], limited: 0, busiest: 1 });
  assert.deepEqual(list.limits, SERVICE_DEFAULTS.limits);
  const end = () => service.get('admin', `/keys/${key.id}`, { token, method: 'DELETE' });
  assert.equal((await end()).status, 204);
  assert.equal(await used(), 401);
});

test('what makes no key is refused with its reason', async () => {
  const refused = async (body: unknown) => resoFault(await make(body)).slice(0, 2);
  assert.deepEqual(await refused([]), [400, 'requestMalformed']);
  assert.deepEqual(await refused({ kind: 'api', role: 'idx' }), [400, 'requestMalformed']);
  assert.deepEqual(await refused({ name: 'A', kind: 'all', role: 'idx' }), [400, 'optionInvalid']);
  assert.deepEqual(await refused({ name: 'A', kind: 'api', role: 'king' }), [400, 'usage']);
  assert.deepEqual(await refused({ name: 'A', kind: 'api', role: 'idx', systems: 'S1' }), [
    400,
    'requestMalformed',
  ]);
  assert.deepEqual(await refused({ name: 'A', kind: 'floorplans', role: 'idx' }), [400, 'usage']);
  // What is wrong, in the words of the form: it has no options of a command line.
  const told = async (body: unknown) => resoFault(await make(body))[2];
  const plain = { name: 'A', kind: 'api', role: 'idx' };
  assert.deepEqual(
    await Promise.all([
      told({ ...plain, kind: 'floorplans' }),
      told({ ...plain, expires: 'soon' }),
      told({ ...plain, expires: '2020-01-01' }),
      told({ ...plain, name: 'A\u202eB' }),
      told({ ...plain, name: 'Ann\u0007' }),
      told({ ...plain, name: 'x'.repeat(10_000) }),
    ]),
    [
      'A floorplans key needs at least one system.',
      'Expires is soon, but takes a date or a timestamp with a zone.',
      'Expires is 2020-01-01, which is in the past: the key would never be valid.',
      'The name has a control character (U+202E) at position 2; use letters, digits and signs.',
      'The name has a control character (U+0007) at position 4; use letters, digits and signs.',
      'The name has 10000 characters; it may have at most 200.',
    ],
  );
  assert.equal((await make({ ...plain, name: '🏠'.repeat(200) })).status, 201);
  const none = await service.get('admin', '/keys/k_none', { token, method: 'DELETE' });
  assert.deepEqual(resoFault(none).slice(0, 2), [404, 'recordNotFound']);
});

test('a path says which methods it takes', async () => {
  const wrong = await service.get('admin', '/keys', { token, method: 'PUT' });
  assert.deepEqual([wrong.status, wrong.headers.allow], [405, 'GET, HEAD, POST, OPTIONS']);
  const asked = await service.get('admin', '/keys/x', { method: 'OPTIONS' });
  assert.deepEqual([asked.status, asked.headers.allow], [204, 'DELETE, OPTIONS']);
});

test('the history has a step for each minute of the last day, and forgets the day before', () => {
  const minute = 60_000;
  const history = new History(0);
  const ended = { surface: 'api', status: 200, seconds: 0.003, key: 'k', rows: 2, bytes: 10 } as const;
  history.note(ended, 0);
  history.note({ ...ended, status: 404 }, 10);
  history.note({ ...ended, status: 503, seconds: 100, key: undefined }, 2 * minute);
  const { from, surfaces } = history.surfaces(2 * minute);
  assert.deepEqual(
    [from, surfaces.api],
    [
      0,
      {
        requests: [2, 0, 1],
        refused: [1, 0, 0],
        failed: [0, 0, 1],
        half: [4, null, 32_768],
        most: [4, null, 32_768],
      },
    ],
  );
  assert.deepEqual(history.key('k', 2 * minute), {
    from: 0,
    requests: [2, 0, 0],
    rows: [4, 0, 0],
    bytes: [20, 0, 0],
    limited: [0, 0, 0],
  });
  const day = 24 * 60;
  const later = history.key('k', day * minute);
  assert.deepEqual(
    [later.from, later.requests.length, later.requests.some((each) => each > 0)],
    [minute, day, false],
  );
});

test('of a crowd of keys in one minute the later ones are summed up', () => {
  const history = new History(0);
  const ended = { surface: 'api', status: 200, seconds: 0, rows: 1, bytes: 1 } as const;
  for (let at = 0; at < 205; at++) history.note({ ...ended, key: `k${at}` }, 0);
  assert.deepEqual([history.key('k199', 0).requests, history.key('k200', 0).requests], [[1], [0]]);
  history.noteLimited('k204', 0);
  assert.deepEqual([history.key('others', 0).requests, history.key('others', 0).limited], [[5], [1]]);
});

test('of the last day, the busiest window counts against the limit', () => {
  const minute = 60_000;
  const history = new History(0);
  const note = (key: string, at: number, times: number): void => {
    const ended = { surface: 'api', status: 200, seconds: 0, key, rows: 2, bytes: 3 } as const;
    for (let time = 0; time < times; time++) history.note(ended, at * minute);
  };
  for (const [at, times] of [1, 5, 2, 0, 4].entries()) note('a', at, times);
  note('b', 4, 1);
  history.noteLimited('b', 4 * minute);
  const days = (windowed: number) => Object.fromEntries(history.keys(4 * minute, () => windowed));
  const b = { requests: 1, rows: 2, bytes: 3, limited: 1, busiest: 1 };
  assert.deepEqual(days(2), { a: { requests: 12, rows: 24, bytes: 36, limited: 0, busiest: 7 }, b });
  assert.deepEqual(days(4), { a: { requests: 12, rows: 24, bytes: 36, limited: 0, busiest: 11 }, b });
});
