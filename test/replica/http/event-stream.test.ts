import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventsOf, type ServerEvent } from '../../../src/replica/http/event-stream.ts';
import { testClock } from '../../support/clock.ts';

const IDLE_TIMEOUT = 45_000;
const never = new AbortController().signal;
/** A clock on which sleeps never end. */
const patient = { ...testClock(), sleep: () => new Promise<void>(() => undefined) };

async function* body(...pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

async function read(...pieces: readonly Uint8Array[]): Promise<ServerEvent[]> {
  const found: ServerEvent[] = [];
  for await (const events of eventsOf(body(...pieces), {
    clock: patient,
    idleTimeout: IDLE_TIMEOUT,
    signal: never,
  })) {
    found.push(...events);
  }
  return found;
}

const TEXT = [
  'retry: 2000\n\n:\n\n',
  'event: change\ndata: {"key":"Zoë"}\n\n',
  'event: position\r\nid: 7.x\r\ndata: a\r\ndata:b\r\n\r\n',
  ': a comment\rdata\rdata: \r\r',
  'event: unfinished\ndata: lost',
].join('');

const EVENTS = [
  { event: 'change', data: '{"key":"Zoë"}', id: '' },
  { event: 'position', data: 'a\nb', id: '7.x' },
  { event: 'message', data: '\n', id: '7.x' },
];

test('events are the same wherever the stream is split into pieces', async () => {
  const bytes = Buffer.from(`\uFEFF${TEXT}`);
  assert.deepEqual(await read(bytes), EVENTS);
  assert.deepEqual(await read(...[...bytes].map((byte) => Uint8Array.of(byte))), EVENTS);
  for (let size = 2; size < 20; size++) {
    const count = Math.ceil(bytes.length / size);
    const pieces = Array.from({ length: count }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
    assert.deepEqual(await read(...pieces), EVENTS, `pieces of ${size} bytes`);
  }
});

test('a stream that sends nothing for 45 s has failed; one that is aborted was stopped', async () => {
  const silent: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }),
  };
  const events = (signal: AbortSignal) =>
    eventsOf(silent, { clock: testClock(), idleTimeout: IDLE_TIMEOUT, signal }).next();
  await assert.rejects(events(never), {
    kind: 'transient',
    message: 'Nothing arrived for 45 s, not even a heartbeat',
  });
  await assert.rejects(events(AbortSignal.abort()), { kind: 'stopped' });
});

test('an event that does not end is rejected before it fills the memory', async () => {
  const piece = Buffer.alloc(100_000, 'x');
  async function* endless(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('data: ');
    for (;;) yield piece;
  }
  const events = eventsOf(endless(), { clock: patient, idleTimeout: IDLE_TIMEOUT, signal: never });
  await assert.rejects(events.next(), {
    kind: 'too-large',
    message: 'An event of the stream has more than 1048576 characters',
  });
});
