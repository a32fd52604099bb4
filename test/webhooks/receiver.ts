/** Receivers of webhooks on real sockets, and senders that look for changes when a test makes them. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { TestContext } from 'node:test';
import { webhookPost } from '../../src/cli/webhook-post.ts';
import { createWebhook } from '../../src/webhooks/operations.ts';
import type { Post } from '../../src/webhooks/post.ts';
import { WebhookSender } from '../../src/webhooks/sender.ts';
import { type TestClock, testClock } from '../support/clock.ts';
import { sqliteEngine } from '../support/sqlite-engine.ts';
import { makeWorld, type World } from '../support/world.ts';

interface Received {
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly keys: readonly string[];
}

type Behavior = (received: Received) => number | Promise<number>;

/** A receiver whose responses a test chooses; it keeps the messages that it accepted. */
export async function startReceiver(t: TestContext) {
  const taken: Received[] = [];
  const seen: Received[] = [];
  let behave: Behavior = () => 204;
  const headers = new Map<number, Record<string, string>>();
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', async () => {
      const given = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      );
      const { value }: { value: { ResourceName: string; ResourceRecordKey: string; kind: string }[] } =
        JSON.parse(body);
      const keys = value.map((each) => `${each.kind} ${each.ResourceName} ${each.ResourceRecordKey}`);
      const received = { id: given['webhook-id'] ?? '', headers: given, body, keys };
      seen.push(received);
      const status = await behave(received);
      if (status >= 200 && status < 300) taken.push(received);
      response.writeHead(status, headers.get(status) ?? {}).end();
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  t.after(() => void server.close());
  const bound = server.address();
  assert.ok(bound !== null && typeof bound === 'object');
  return {
    url: `http://127.0.0.1:${bound.port}/events`,
    seen,
    taken,
    headers,
    behave: (next: Behavior) => {
      behave = next;
    },
    keys: () => taken.flatMap(({ keys }) => keys),
  };
}

/** A clock that can be set, and a monotonic one that advances with it but is not set with it. */
export interface Clocks extends TestClock {
  elapsed(): number;
  /** Sets the clock, ahead or back. */
  jump(milliseconds: number): void;
}

function clocks(): Clocks {
  const clock = testClock('2026-06-01T12:00:00Z');
  let jumped = 0;
  return {
    ...clock,
    elapsed: () => clock.now() - jumped,
    jump: (milliseconds) => {
      jumped += milliseconds;
      clock.advance(milliseconds);
    },
  };
}

/** A sleep that only its signal ends. */
export const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

interface SenderOptions {
  readonly store: World['store'];
  readonly clock: Pick<Clocks, 'now' | 'elapsed'>;
  /** Absent: the network. */
  readonly post?: Post;
  /** Absent: only its signal ends a sleep. */
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

/** The sender of a world, which looks for changes once per call. */
export function senderOf(t: TestContext, { store, clock, post, sleep }: SenderOptions) {
  const network = webhookPost();
  const paused: string[] = [];
  const troubles: unknown[] = [];
  const sender = new WebhookSender({
    ...{ store, post: post ?? network.post, random: () => 0 },
    ...{ now: () => clock.now(), elapsed: () => clock.elapsed() },
    sleep: sleep ?? ((_, signal) => untilAborted(signal)),
    onPaused: (_, why) => paused.push(why),
    onTrouble: (error) => troubles.push(error),
  });
  t.after(async () => {
    await sender.close();
    await network.close();
    assert.deepEqual(troubles, []);
  });
  /** Looks for changes, and waits until nothing more is being sent. */
  const send = async (): Promise<void> => {
    await sender.check();
    while (sender.busy > 0) await new Promise(setImmediate);
  };
  return { sender, send, paused };
}

export async function begin(t: TestContext, options: Partial<Parameters<typeof createWebhook>[1]> = {}) {
  const clock = clocks();
  const world = await makeWorld(sqliteEngine(), t, { clock });
  const receiver = await startReceiver(t);
  const made = await createWebhook(world.store, {
    ...{ url: receiver.url, role: 'idx', systems: [], bearer: null, privateHosts: true },
    ...{ resources: ['Property', 'Media'], ...options },
  });
  const stateOf = async () => (await world.store.webhooks.list()).find(({ id }) => id === made.webhook.id);
  return {
    ...world,
    ...senderOf(t, { store: world.store, clock }),
    receiver,
    clock,
    stateOf,
    id: made.webhook.id,
    secret: made.secret,
  };
}
