/** Webhooks that an operator creates, on the command line and through the admin port, and a service that delivers them. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { listing } from '../support/builders.ts';
import { place } from './run.ts';
import { ANY_PORT, addressesOf } from './serving.ts';

test('a service delivers to webhooks that another process creates, tests, pauses, replays and deletes', async (t) => {
  const bodies: string[] = [];
  const waiting: (() => void)[] = [];
  const receiver = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      bodies.push(body);
      response.writeHead(request.url === '/gone' ? 410 : 204).end();
      for (const resolve of waiting.splice(0)) resolve();
    });
  });
  await new Promise<void>((resolve) => void receiver.listen(0, '127.0.0.1', resolve));
  t.after(() => void receiver.close());
  const bound = receiver.address();
  assert.ok(bound !== null && typeof bound === 'object');
  const url = `http://127.0.0.1:${bound.port}`;
  /** Waits for that many messages. */
  const received = async (count: number): Promise<string[]> => {
    while (bodies.length < count) await new Promise<void>((resolve) => void waiting.push(resolve));
    return bodies.map((body) =>
      JSON.parse(body)
        .value.map(
          (each: { ResourceRecordKey: string; kind: string }) => `${each.kind} ${each.ResourceRecordKey}`,
        )
        .join(),
    );
  };

  const at = place(t);
  const store = ['--store', 'm.db'];
  await at.done([
    'import',
    ...store,
    at.file('A.ndjson', [{ '@resource': 'Property', ...listing('A') }]),
    '--resource',
    'Property',
  ]);
  const admin = (
    await at.done(['key', 'create', ...store, '--name', 'o', '--kind', 'admin', '--role', 'private'])
  ).trim();
  const refused = await at.run(['webhook', 'create', ...store, '--url', `${url}/`]);
  assert.match(
    refused.err,
    /is not encrypted; only hosts in a private network \(--private-hosts\) may use http/,
  );
  const unknown = await at.run([
    'webhook',
    'create',
    ...store,
    '--url',
    'https://x.example/',
    '--resources',
    'Nope',
  ]);
  assert.deepEqual([unknown.code, unknown.err], [2, 'plat: There is no resource Nope.\n']);
  const make = ['webhook', 'create', ...store, '--private-hosts', '--resources', 'Property', '--json'];
  const made = JSON.parse(await at.done([...make, '--url', `${url}/`]));
  assert.match(made.secret, /^whsec_/);
  const serving = at.start(['serve', ...store, ...ANY_PORT]);
  const { admin: address } = await addressesOf(serving);
  assert.equal(
    await at.done(['webhook', 'test', ...store, made.id]),
    `${made.id} has accepted the message\n`,
  );
  assert.deepEqual(await received(1), ['']);
  await at.done(['import', ...store, at.file('B.ndjson', [listing('B')]), '--resource', 'Property']);
  assert.deepEqual(await received(2), ['', 'created B']);

  const ask = async (path: string, method = 'GET', body?: unknown) => {
    const response = await fetch(`${address}${path}`, {
      method,
      headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, json: text === '' ? undefined : JSON.parse(text) };
  };
  const { webhooks } = (await ask('/webhooks')).json;
  assert.deepEqual(
    [webhooks.length, webhooks[0].id, webhooks[0].delivered, webhooks[0].paused],
    [1, made.id, 1, null],
  );
  assert.ok(!JSON.stringify(webhooks).includes('whsec_'));
  assert.equal((await ask(`/webhooks/${made.id}/replay`, 'POST', { since: 'start' })).status, 204);
  assert.deepEqual(await received(3), ['', 'created B', 'created A,created B']);
  assert.equal((await ask(`/webhooks/${made.id}/pause`, 'POST')).status, 204);
  const inside = await ask('/webhooks', 'POST', { url: 'https://127.0.0.1:1/', role: 'idx' });
  assert.equal(inside.status, 201);
  const tested = await ask(`/webhooks/${inside.json.webhook.id}/test`, 'POST');
  const why = 'its host is in a private network, and --private-hosts was not given';
  assert.deepEqual(tested.json, { kind: 'failed', why });
  assert.equal((await ask(`/webhooks/${inside.json.webhook.id}`, 'DELETE')).status, 204);
  assert.equal((await ask('/webhooks/nobody/pause', 'POST')).status, 404);
  assert.match(await at.done(['webhook', 'list', ...store]), /paused: an operator paused it/);
  await at.done(['import', ...store, at.file('C.ndjson', [listing('C')]), '--resource', 'Property']);
  await at.done(['webhook', 'resume', ...store, made.id]);
  assert.deepEqual((await received(4)).at(-1), 'created C');
  const rotated = JSON.parse(await at.done(['webhook', 'rotate', ...store, made.id, '--json']));
  assert.deepEqual(Object.keys(rotated), ['id', 'secret']);
  assert.equal(rotated.id, made.id);
  assert.match(rotated.secret, /^whsec_/);
  assert.notEqual(rotated.secret, made.secret);
  await at.done(['webhook', 'delete', ...store, made.id]);
  assert.equal((await at.run(['webhook', 'test', ...store, made.id])).code, 1);
  serving.child.kill('SIGTERM');
  assert.equal((await serving.ended).code, 0);
});
