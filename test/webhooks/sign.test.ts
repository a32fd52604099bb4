import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { makeSecret, signatureHeaders } from '../../src/webhooks/sign.ts';

const MESSAGE = {
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestamp: 1_614_265_330,
  body: '{"test": 2432232314}',
};

test('a message has the signature of the Standard Webhooks library', () => {
  assert.deepEqual(signatureHeaders(MESSAGE, ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw']), {
    'webhook-id': MESSAGE.id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

test('while a secret is being replaced, both sign; no two secrets are the same', () => {
  const secrets = [makeSecret(), makeSecret()];
  assert.equal(new Set(secrets).size, 2);
  for (const secret of secrets) assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  const { 'webhook-signature': both } = signatureHeaders(MESSAGE, secrets);
  const each = secrets.map((secret) => signatureHeaders(MESSAGE, [secret])['webhook-signature']);
  assert.equal(both, each.join(' '));
});

test('the receiver in docs/webhooks.md accepts what plat signs, with either secret after a rotation, and nothing else', async () => {
  const page = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8');
  const [, program = ''] = /```js\n(.*?)```/s.exec(page) ?? [];
  const { isGenuine } = await import(`data:text/javascript,${encodeURIComponent(program)}`);
  const [former, secret, other] = [makeSecret(), makeSecret(), makeSecret()];
  const body = '{"value":[{"ResourceRecordKey":"é"}]}';
  const now = 1_780_315_200_000;
  const headers = signatureHeaders({ id: 'wh_1_2_3', timestamp: now / 1000, body }, [secret, former]);
  assert.deepEqual(
    [
      isGenuine(secret, headers, Buffer.from(body), now),
      isGenuine(former, headers, body, now + 300_000),
      isGenuine(other, headers, body, now),
      isGenuine(secret, headers, `${body} `, now),
      isGenuine(secret, headers, body, now + 301_000),
      isGenuine(secret, { ...headers, 'webhook-id': 'wh_1_2_4' }, body, now),
      isGenuine(secret, {}, body, now),
    ],
    [true, true, false, false, false, false, false],
  );
});
