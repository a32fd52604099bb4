/** The addresses that a request for an untrusted URL may connect to. */
import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { type TestContext, test } from 'node:test';
import {
  type Egress,
  isPrivateHost,
  isPublic,
  publicLookup,
} from '../../../src/replica/http/egress-policy.ts';
import { networkTransport } from '../../../src/replica/http/transport.ts';
import { listen } from '../support/loopback.ts';

const PRIVATE = [
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.254',
  '168.63.129.16',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:168.63.129.16',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::1',
  '2001::1',
  '2001:db8::1',
  '3fff::1',
  '4000::1',
  '2002:7f00:1::',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
];
const PUBLIC = [
  '1.1.1.1',
  '9.255.255.255',
  '100.128.0.1',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '223.255.255.255',
  '::ffff:1.1.1.1',
  '64:ff9b::101:101',
  '2606:4700::1111',
  '2a00:1450:4001::8',
];

test('loopback, link-local, private and other reserved addresses are not public', () => {
  for (const address of PRIVATE) {
    assert.notEqual(isIP(address), 0, address);
    assert.equal(isPublic(address), false, address);
  }
  for (const address of PUBLIC) assert.equal(isPublic(address), true, address);
  assert.equal(isPublic('no address'), false);
});

test('a source counts as private if its address is, or if only a private network can resolve its name', () => {
  const own = [
    '127.0.0.1:8080',
    '10.0.0.5',
    '[::1]:80',
    '[fd00::1]',
    'localhost',
    'a.localhost',
    'plat',
    'nas.local',
  ];
  for (const host of [...own, 'feed.internal', 'x.home.arpa', 'localhost.', '0x7f000001', '2130706433']) {
    assert.equal(isPrivateHost(new URL(`http://${host}/v1`)), true, host);
  }
  for (const host of ['feed.example.com', '1.1.1.1', '[2606:4700::1111]', 'local.example', 'notlocal.com']) {
    assert.equal(isPrivateHost(new URL(`http://${host}/v1`)), false, host);
  }
});

test('a name that resolves to loopback is rejected at the lookup', async () => {
  const error = await new Promise((resolve) => publicLookup('localhost', { all: true }, resolve));
  assert.ok(error instanceof Error);
  assert.equal(error.message, 'localhost is in a private network; --media-private-hosts allows it');
});

async function ask(t: TestContext, url: string, egress: Egress): Promise<number> {
  const transport = networkTransport();
  t.after(() => transport.close());
  const { status, body } = await transport({
    url,
    headers: {},
    timeout: 5000,
    signal: new AbortController().signal,
    egress,
  });
  for await (const _ of body);
  return status;
}

test('private hosts are rejected however they are written, and asked if the request may', async (t) => {
  const server = await listen(t, () => ({ body: 'secret' }));
  const { port } = new URL(server.origin);
  for (const host of [
    '127.0.0.1',
    'localhost',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '0x7f000001',
    '127.1',
    '0.0.0.0',
  ]) {
    await assert.rejects(ask(t, `http://${host}:${port}/metrics`, 'public'), {
      name: 'RequestFailure',
      kind: 'refused',
      message: /is in a private network; --media-private-hosts allows it$/,
    });
  }
  assert.deepEqual(server.seen, []);
  assert.equal(await ask(t, `http://localhost:${port}/a`, 'any'), 200);
});

test('a connection to a private host is not reused for a request that may not use private hosts', async (t) => {
  const server = await listen(t, () => ({ body: 'secret' }));
  const { port } = new URL(server.origin);
  const transport = networkTransport();
  t.after(() => transport.close());
  const sent = { url: `http://localhost:${port}/`, headers: {}, timeout: 5000 };
  const { signal } = new AbortController();
  const { body } = await transport({ ...sent, signal, egress: 'any' });
  for await (const _ of body);
  await assert.rejects(transport({ ...sent, signal, egress: 'public' }), { kind: 'refused' });
  assert.equal(server.seen.length, 1);
});
