/** Sessions of the console: who gets one, what it may do, and on which requests its cookie is accepted. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { timestampFrom } from '../../../src/dictionary/index.ts';
import { listing } from '../../support/builders.ts';
import { type Answer, startTestService } from '../../support/service.ts';
import { resoFault } from '../http/envelopes.ts';

const service = await startTestService(
  { after },
  {
    fill: async ({ write }) => {
      await write('Property', listing('1'), listing('2'));
    },
  },
);
const base = service.addresses.admin;
const host = new URL(base).host;
const token = await service.key('admin');

interface Options {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const ask = (path: string, { method = 'GET', body, headers = {} }: Options = {}): Promise<Answer> => {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  return service.get('admin', path, {
    method,
    headers: { 'sec-fetch-site': 'same-origin', ...headers },
    ...sent,
  });
};

async function logIn(given = token): Promise<string> {
  const answer = await ask('/session', { method: 'POST', body: { token: given }, headers: { origin: base } });
  assert.equal(answer.status, 200, answer.text);
  return cookieOf(answer);
}

const cookieOf = (answer: Answer): string => answer.headers['set-cookie']?.[0] ?? '';
const pairOf = (cookie: string): string => cookie.split(';')[0] ?? '';

test('the token of an admin key is exchanged for an HttpOnly cookie', async () => {
  const cookie = await logIn();
  assert.match(
    cookie,
    new RegExp(`^plat-console-${new URL(base).port}=[\\w-]{43}; HttpOnly; SameSite=Strict; Path=/$`),
  );
  const about = await ask('/about', { headers: { cookie: `other=1; ${pairOf(cookie)}` } });
  assert.equal(about.status, 200);
  assert.equal(about.json.owner, 'authority');
});

test('other keys, unknown tokens and invalid bodies get no session', async () => {
  const attempt = async (body: unknown) =>
    resoFault(await ask('/session', { method: 'POST', body })).slice(0, 2);
  assert.deepEqual(await attempt({ token: await service.key('api') }), [403, 'keyNotForSurface']);
  assert.deepEqual(await attempt({ token: 'plat_unknown' }), [401, 'tokenUnknown']);
  assert.deepEqual(await attempt({ token: 7 }), [400, 'requestMalformed']);
});

test('a session ends when its key is revoked, and at logout', async () => {
  const mine = await service.key('admin', { role: 'idx' });
  const cookie = pairOf(await logIn(mine));
  const { keys } = service.store;
  const made = (await keys.list()).find(({ role, kind }) => kind === 'admin' && role === 'idx');
  assert.equal((await ask('/status', { headers: { cookie } })).status, 200);
  await keys.revoke(made?.id ?? '', timestampFrom(service.clock.now()));
  assert.deepEqual(resoFault(await ask('/status', { headers: { cookie } })).slice(0, 2), [
    401,
    'tokenRevoked',
  ]);
  const other = pairOf(await logIn());
  const out = await ask('/session', { method: 'DELETE', headers: { cookie: other } });
  assert.deepEqual([out.status, /Max-Age=0$/.test(cookieOf(out))], [204, true]);
  assert.deepEqual(resoFault(await ask('/status', { headers: { cookie: other } })).slice(0, 2), [
    401,
    'tokenMissing',
  ]);
});

test('a cookie is accepted only from pages of the console itself and by its own host names', async () => {
  const cookie = pairOf(await logIn());
  const status = async (headers: Readonly<Record<string, string>>, method = 'GET') =>
    (await service.get('admin', '/status', { method, headers: { cookie, ...headers } })).status;
  assert.equal(await status({ 'sec-fetch-site': 'same-origin' }), 200);
  assert.equal(await status({ 'sec-fetch-site': 'none' }), 200);
  assert.equal(await status({}), 200);
  assert.equal(await status({ origin: base }), 200);
  assert.equal(await status({ 'sec-fetch-site': 'cross-site' }), 403);
  assert.equal(await status({ 'sec-fetch-site': 'same-site' }), 403);
  assert.equal(await status({ origin: 'http://elsewhere.example' }), 403);
  assert.equal(await status({ origin: 'null', 'sec-fetch-site': 'same-origin' }), 403);
  assert.equal(await status({ host: `rebound.example:${new URL(base).port}` }), 421);
  assert.equal(await status({ host: 'rebound.example', 'sec-fetch-site': 'same-origin' }), 421);
  assert.equal(await status({ host: `localhost:${new URL(base).port}` }), 200);
  // A request with the token itself may come from anywhere.
  const bearer = await service.get('admin', '/status', { token, headers: { host: 'metrics.internal' } });
  assert.equal(bearer.status, 200);
});

test('a change with a cookie must come from a page of the console', async () => {
  const cookie = pairOf(await logIn());
  const out = (headers: Readonly<Record<string, string>>) =>
    service.get('admin', '/session', { method: 'DELETE', headers: { cookie, ...headers } });
  assert.equal((await out({})).status, 403);
  assert.equal((await out({ origin: `http://${host.replace('127.0.0.1', '127.0.0.2')}` })).status, 403);
  assert.equal((await out({ origin: base })).status, 204);
});

test('failed logins of one address are limited', async () => {
  const other = await startTestService({ after });
  const attempt = () =>
    other.get('admin', '/session', {
      method: 'POST',
      body: '{"token":"x"}',
      headers: { 'sec-fetch-site': 'same-origin' },
    });
  for (let at = 0; at < 10; at++) assert.equal((await attempt()).status, 401);
  const refused = await attempt();
  assert.deepEqual([refused.status, refused.headers['retry-after']], [429, '60']);
});

test('an operator can read both interfaces as a role or a key sees them; other keys cannot', async () => {
  const cookie = pairOf(await logIn());
  await service.key('replication', { role: 'idx', systems: ['nowhere'] });
  const [scoped] = (await service.store.keys.list()).filter(({ systems }) => systems[0] === 'nowhere');
  const count = async (as: string): Promise<unknown> => {
    const answer = await ask(`/as/${as}/replication/Reso/OData/Property?$top=1&$count=true`, {
      headers: { cookie },
    });
    assert.equal(answer.status, 200, answer.text);
    return [answer.json['@odata.count'], answer.json['@odata.nextLink']];
  };
  const next = `${base}/as/role/private/replication/Reso/OData/Property?$count=true&$top=1&$skiptoken=1`;
  assert.deepEqual(await count('role/private'), [2, next]);
  assert.deepEqual(await count(`key/${scoped?.id}`), [0, undefined]);
  const native = await ask('/as/role/idx/api/v1/listings?_limit=1', { headers: { cookie } });
  assert.equal(native.status, 200);
  const none = await ask('/as/key/none/api/Reso/OData/Property', { headers: { cookie } });
  assert.deepEqual(resoFault(none).slice(0, 2), [404, 'recordNotFound']);
  const stranger = await ask('/as/role/idx/api/Reso/OData/Property');
  assert.deepEqual(resoFault(stranger).slice(0, 2), [401, 'tokenMissing']);
  const replica = await service.key('replication');
  const wrong = await service.get('admin', '/as/role/private/api/Reso/OData/Property', { token: replica });
  assert.deepEqual(resoFault(wrong).slice(0, 2), [403, 'keyNotForSurface']);
});

test('a viewed role does not reuse the filter list of another role', async () => {
  const token = await service.key('admin');
  const count = async (role: string): Promise<unknown> => {
    const path = `/as/role/${role}/api/Reso/OData/Property?$filter=ListingKey ne 'none'&$count=true`;
    return (await service.get('admin', path, { token })).json['@odata.count'];
  };
  await service.write('Property', listing('Expired1', { StandardStatus: 'Expired' }));
  assert.deepEqual([await count('private'), await count('public'), await count('private')], [3, 2, 3]);
});
