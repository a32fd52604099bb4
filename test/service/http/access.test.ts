/** Which keys may use which surface (contract, Surfaces; specification 5; native-v1, error codes). */
import assert from 'node:assert/strict';
import { after, describe, it, test } from 'node:test';
import { hashToken, KEY_KINDS, type KeyKind } from '../../../src/access/index.ts';
import { SURFACES, type SurfaceName } from '../../../src/service/surface.ts';
import { listing } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import { nativeFault, resoFault } from './envelopes.ts';

const service = await startTestService(
  { after },
  { fill: async ({ write }) => void (await write('Property', listing('1'), listing('2'))) },
);
const { store, clock, addresses } = service;

const RESO: Readonly<Partial<Record<SurfaceName, string>>> = {
  api: '/Reso/OData/Property',
  replication: '/Reso/OData/Property',
  floorplans: '/Reso/Media',
};
const NATIVE = '/v1/listings';

const REPLICATION_HOST = `A replication key must use the replication host: ${addresses.replication}`;
const notFor = (surface: SurfaceName, kind: KeyKind): string =>
  `The ${surface} interface is not available to a key of kind ${kind}.`;

describe('keys of each kind on each surface', async () => {
  const tokens: Record<KeyKind, string> = {
    api: await service.key('api'),
    replication: await service.key('replication'),
    floorplans: await service.key('floorplans', { systems: ['M00000571'] }),
    admin: await service.key('admin'),
  };
  for (const [surface, path] of Object.entries(RESO)) {
    const name = surface === 'api' ? 'api' : surface === 'replication' ? 'replication' : 'floorplans';
    for (const kind of KEY_KINDS) {
      it(`${kind} on ${surface}, RESO`, async () => {
        const answer = await service.get(name, path, { token: tokens[kind] });
        if (kind === name) assert.equal(answer.status, 200);
        else if (name === 'api' && kind === 'replication')
          assert.deepEqual(resoFault(answer), [403, 'replicationKeyOnApi', REPLICATION_HOST]);
        else assert.deepEqual(resoFault(answer), [403, 'keyNotForSurface', notFor(name, kind)]);
      });
    }
  }
  for (const surface of ['api', 'replication'] as const) {
    for (const kind of KEY_KINDS) {
      it(`${kind} on ${surface}, native`, async () => {
        const answer = await service.get(surface, NATIVE, { token: tokens[kind] });
        if (kind === surface) assert.equal(answer.status, 200);
        else if (surface === 'api' && kind === 'replication')
          assert.deepEqual(nativeFault(answer), [403, 1021, REPLICATION_HOST]);
        else assert.deepEqual(nativeFault(answer), [403, 1500, notFor(surface, kind)]);
      });
    }
  }
  for (const kind of KEY_KINDS) {
    it(`${kind} on admin`, async () => {
      const answer = await service.get('admin', '/status', { token: tokens[kind] });
      if (kind === 'admin') assert.equal(answer.status, 200);
      else assert.deepEqual(resoFault(answer), [403, 'keyNotForSurface', notFor('admin', kind)]);
    });
  }
  it('the floor plan host has no native interface', async () => {
    const answer = await service.get('floorplans', NATIVE, { token: tokens.floorplans });
    assert.deepEqual(nativeFault(answer), [404, 404, 'There is nothing at /v1/listings.']);
  });
});

const MISSING = 'The request carries no token. Send it as "Authorization: Bearer <token>".';
const UNKNOWN = 'The token is not known to this service.';

/** Asserts the same 401 on every path that needs a key, in the envelope of its interface. */
async function refused(
  code: string,
  native: number,
  message: string,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const asks = [...Object.entries(RESO), ['admin', '/status'], ['admin', '/nothing']];
  for (const [surface, path = ''] of asks) {
    const name = (['api', 'replication', 'floorplans', 'admin'] as const).find((each) => each === surface);
    const answer = await service.get(name ?? 'api', path, { headers });
    assert.deepEqual(resoFault(answer), [401, code, message]);
    assert.equal(answer.headers['www-authenticate'], 'Bearer');
  }
  for (const surface of ['api', 'replication'] as const) {
    for (const path of [NATIVE, `${NATIVE}/1`, '/v1/nothing']) {
      const answer = await service.get(surface, path, { headers });
      assert.deepEqual(nativeFault(answer), [401, native, message]);
      assert.equal(answer.headers['www-authenticate'], 'Bearer');
    }
  }
}

test('a request without a token gets 401, 1000', async () => {
  await refused('tokenMissing', 1000, MISSING, {});
});

test('an Authorization header without a bearer token gets 401, 1000', async () => {
  for (const authorization of [
    '',
    'Bearer',
    'Bearer ',
    'Basic',
    'Basic cGxhdA==',
    'Bearer a b',
    'plat_abc',
  ]) {
    await refused('tokenMissing', 1000, MISSING, { authorization });
  }
});

test('an unknown token gets 401, 1000', async () => {
  await refused('tokenUnknown', 1000, UNKNOWN, { authorization: 'Bearer plat_unknown' });
  await refused('tokenUnknown', 1000, UNKNOWN, { authorization: 'Basic cGxhdDpwbGF0' });
});

test('the stored hash of a token is not accepted as a token', async () => {
  const hash = hashToken(await service.key('api'));
  const answer = await service.get('api', NATIVE, { token: hash });
  assert.deepEqual(nativeFault(answer), [401, 1000, UNKNOWN]);
});

test('the schemes Bearer and OAuth are accepted in any case', async () => {
  const token = await service.key('api');
  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'OAuth', 'oauth']) {
    const answer = await service.get('api', NATIVE, { headers: { authorization: `${scheme} ${token}` } });
    assert.equal(answer.status, 200, scheme);
  }
});

test('Basic accepts a token as the password, with any user name or none', async () => {
  const token = await service.key('api');
  const ask = (credentials: string) =>
    service.get('api', NATIVE, {
      headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
    });
  for (const user of ['', 'anybody', 'Jörg', token]) {
    assert.equal((await ask(`${user}:${token}`)).status, 200, user);
  }
  assert.deepEqual(nativeFault(await ask(`${token}:`)), [401, 1000, UNKNOWN]);
  assert.deepEqual(nativeFault(await ask(`:${token}:`)), [401, 1000, UNKNOWN]);
  assert.equal(nativeFault(await ask(token))[0], 401);
});

test('Basic works on every surface, for the keys of that surface', async () => {
  const paths = { api: NATIVE, replication: NATIVE, floorplans: '/Reso/Media', admin: '/status' } as const;
  for (const kind of SURFACES) {
    const token = await service.key(kind, { systems: ['M1'] });
    const authorization = `Basic ${Buffer.from(`me:${token}`).toString('base64')}`;
    for (const surface of SURFACES) {
      const { status } = await service.get(surface, paths[surface], { headers: { authorization } });
      assert.equal(status, kind === surface ? 200 : 403, `${kind} on ${surface}`);
    }
  }
});

test('a key gets 401, 1020 from its expiry on', async () => {
  const token = await service.key('api', { expiresAt: '2026-06-01T12:00:10Z' });
  const status = async (): Promise<unknown> => {
    const answer = await service.get('api', NATIVE, { token });
    return answer.status === 200 ? 200 : nativeFault(answer);
  };
  clock.set('2026-06-01T12:00:09.999Z');
  assert.equal(await status(), 200);
  clock.set('2026-06-01T12:00:10Z');
  assert.deepEqual(await status(), [401, 1020, 'The token has expired.']);
  const answer = await service.get('api', '/Reso/OData/Property', { token });
  assert.deepEqual(resoFault(answer), [401, 'tokenExpired', 'The token has expired.']);
  assert.equal(answer.headers['www-authenticate'], 'Bearer');
});

const idOf = async (token: string): Promise<string> => (await store.look(hashToken(token))).key?.id ?? '';

test('a revoked key gets 401, 1010 at the next request, even if another process revoked it', async () => {
  const token = await service.key('api');
  assert.equal((await service.get('api', NATIVE, { token })).status, 200);
  const elsewhere = await service.again();
  assert.equal(await elsewhere.keys.revoke(await idOf(token), clock.text()), true);
  const answer = await service.get('api', NATIVE, { token });
  assert.deepEqual(nativeFault(answer), [401, 1010, 'The key of this token is disabled.']);
  assert.equal(answer.headers['www-authenticate'], 'Bearer');
  const reso = await service.get('api', '/Reso/OData/Property', { token });
  assert.deepEqual(resoFault(reso), [401, 'tokenRevoked', 'The key of this token is disabled.']);
});

test('a key revoked just before a request gets 401, 1010, even if the process learns the time with that request', async (t) => {
  const token = await service.key('api');
  const revoked = new Date(clock.now() + 5).toISOString();
  assert.equal(await store.keys.revoke(await idOf(token), revoked), true);
  // As with a slow database server: the process receives the current time together with the key.
  const look = store.look.bind(store);
  t.mock.method(store, 'look', async (tokenHash: string) => {
    clock.advance(Math.max(0, Date.parse(revoked) - clock.now()));
    return look(tokenHash);
  });
  assert.deepEqual(nativeFault(await service.get('api', NATIVE, { token })).slice(0, 2), [401, 1010]);
});

test('a key that is both revoked and expired is reported as disabled', async () => {
  const token = await service.key('api', { expiresAt: '2026-01-01T00:00:00Z' });
  await store.keys.revoke(await idOf(token), '2026-01-02T00:00:00Z');
  assert.deepEqual(nativeFault(await service.get('api', NATIVE, { token })).slice(0, 2), [401, 1010]);
});

const TOKEN_NAMES = [
  ...[
    'access_token',
    'accessToken',
    'access-token',
    'token',
    'auth_token',
    'api_token',
    'oauth_token',
    'id_token',
  ],
  ...['key', 'Key', 'api_key', 'apikey', 'api-key', 'X-API-Key', 'x_api_key', 'subscription-key'],
  ...['Authorization', 'auth', 'bearer', 'Bearer_Token', 'client_secret', 'ACCESS_TOKEN', '%6bey'],
  ...[
    'plat_token',
    'app_key',
    'user_token',
    'x-amz-security-token',
    'X-Amz-Credential',
    'ApiKey[]',
    '$token',
  ],
  ...['pwd', 'passwd', 'password', 'passphrase', 'private_token', 'jwt_assertion', 'client-key'],
  ...['user_key', 'plat-key', 'license_key', 'pass', 'session', 'SessionID'],
];

/** Names that do not suggest a token; a token of this service is detected under them by its value. */
const OTHER_NAMES = ['code', 'sig', 't', 'q', '$search', '@key', '_skiptoken'];

test('a token in the query is refused before anything else, even with a valid header', async () => {
  const token = await service.key('api');
  const tokenMessage = (name: string): string =>
    `A token must not be sent in the URL (parameter ${name}), where logs would keep it. Send it as "Authorization: Bearer <token>".`;
  for (const name of TOKEN_NAMES) {
    const path = `${NATIVE}?_limit=1&${name}=${token}`;
    const message = tokenMessage(decodeURIComponent(name));
    assert.deepEqual(nativeFault(await service.get('api', path)), [400, 1053, message]);
    assert.deepEqual(nativeFault(await service.get('api', path, { token })), [400, 1053, message]);
    const reso = await service.get('api', `/Reso/OData/Property?${name}=${token}`, { token });
    assert.deepEqual(resoFault(reso), [400, 'tokenInQuery', message]);
  }
  for (const name of OTHER_NAMES) {
    for (const value of [token, `Bearer%20${token}`, `'${token}'`]) {
      for (const root of [NATIVE, '/Reso/OData/Property']) {
        const { status, text } = await service.get('api', `${root}?${name}=${value}`, { token });
        assert.equal(status, 400, `${name}=${value}`);
        assert.ok(text.includes(tokenMessage(name).replaceAll('"', '\\"')), text);
      }
    }
  }
  for (const path of [`${NATIVE}?${token}`, `${NATIVE}?_limit=1&${token}=`]) {
    const message = tokenMessage('without a name');
    assert.deepEqual(nativeFault(await service.get('api', path, { token })), [400, 1053, message]);
  }
  for (const [surface, path] of [
    ['admin', '/status'],
    ['admin', '/metrics'],
    ['floorplans', '/Reso/Media'],
    ['replication', '/nothing'],
  ] as const) {
    const answer = await service.get(surface, `${path}?token=${token}`);
    assert.deepEqual(resoFault(answer), [400, 'tokenInQuery', tokenMessage('token')], path);
  }
});

test('parameters with names similar to those of tokens are accepted', async () => {
  const token = await service.key('replication');
  for (const path of [
    `${NATIVE}?_skiptoken=1`,
    `${NATIVE}?keys=1&ListingKey=1&monkey=1`,
    `${NATIVE}?tokens=1&KeyOrCredentialId=1&MemberPassword=1&code=plat_1&t=xplat_${'a'.repeat(43)}`,
    '/Reso/OData/Property?$skiptoken=1',
    '/Reso/OData/Property?skiptoken=1',
    "/Reso/OData/Property?$filter=ListingKey eq @key&@key='1'",
    "/Reso/OData/Property(@token)?@token='1'",
  ]) {
    assert.equal((await service.get('replication', path, { token })).status, 200, path);
  }
});

test('a key whose role is no longer configured gets 403, 1015', async () => {
  const role = { name: 'board', classes: [], resources: { Property: '' } };
  const before = (await store.model()).settings.access;
  await store.configure((settings) => ({
    ...settings,
    access: { ...before, roles: [...before.roles, role] },
  }));
  const token = await service.key('api', { role: 'board' });
  assert.equal((await service.get('api', NATIVE, { token })).status, 200);
  await store.configure((settings) => ({ ...settings, access: before }));
  const message = 'The permissions of this key are unknown: its role board is no longer configured.';
  assert.deepEqual(nativeFault(await service.get('api', NATIVE, { token })), [403, 1015, message]);
});
