/** Keys on the admin port: making and revoking them, and their use on the last day. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
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

test('a key that is made works, has a history, and is refused once it is deleted', async () => {
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

test('a key that does not exist has no history and cannot be revoked', async () => {
  for (const [method, path] of [
    ['GET', '/keys/k_none/history'],
    ['DELETE', '/keys/k_none'],
  ] as const) {
    const answer = await service.get('admin', path, { token, method });
    assert.deepEqual(resoFault(answer), [404, 'recordNotFound', 'There is no such key record.'], path);
  }
});

test('an invalid request for a key is refused with its reason', async () => {
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
  assert.deepEqual(resoFault(await make({ name: 'A', kind: 'api', role: 'idx', system: ['S1'] })), [
    400,
    'requestMalformed',
    'The request is malformed: the body has an unknown member "system"; its members are name, kind, role, systems, expires.',
  ]);
  // The messages use the words of the form, not those of the command line.
  const reason = async (body: unknown) => resoFault(await make(body))[2];
  const plain = { name: 'A', kind: 'api', role: 'idx' };
  assert.deepEqual(
    await Promise.all([
      reason({ ...plain, kind: 'floorplans' }),
      reason({ ...plain, expires: 'soon' }),
      reason({ ...plain, expires: '2020-01-01' }),
      reason({ ...plain, name: 'A\u202eB' }),
      reason({ ...plain, name: 'Ann\u0007' }),
      reason({ ...plain, name: 'x'.repeat(10_000) }),
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

test('405 and OPTIONS list the methods of a path', async () => {
  const wrong = await service.get('admin', '/keys', { token, method: 'PUT' });
  assert.deepEqual([wrong.status, wrong.headers.allow], [405, 'GET, HEAD, POST, OPTIONS']);
  const asked = await service.get('admin', '/keys/x', { method: 'OPTIONS' });
  assert.deepEqual([asked.status, asked.headers.allow], [204, 'DELETE, OPTIONS']);
});
