/** Queues of files by their host. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HostQueues } from '../../../src/replica/media/host-queues.ts';

const MINUTE = 60_000;

function filled(hosts: readonly string[], each = 10): HostQueues<string> {
  const lines = new HostQueues<string>();
  for (const host of hosts) for (let at = 0; at < each; at++) lines.add(host, `${host}${at}`);
  return lines;
}

/** Takes every job that has a slot. */
function taken(lines: HostQueues<string>, now = 0): string[] {
  const jobs: string[] = [];
  for (let next = lines.take(now); next !== undefined; next = lines.take(now)) jobs.push(next.job);
  return jobs;
}

test('a new host has one slot, and four after it delivered a file quickly', () => {
  const lines = filled(['a', 'b']);
  assert.deepEqual(taken(lines), ['a0', 'b0']);
  lines.recordDelivery('a', 100);
  assert.deepEqual(taken(lines), ['a1', 'a2', 'a3', 'a4']);
  lines.recordDelivery('a', MINUTE);
  assert.deepEqual(taken(lines), [], 'a host that has become slow has one slot again');
  assert.deepEqual([lines.running, lines.waiting], [4, 14]);
});

test('hosts that are new, slow or have failed share twelve slots, and a working host has its own', () => {
  const names = Array.from({ length: 20 }, (_, at) => `x${at}-`);
  const lines = filled(['good', ...names]);
  lines.take(0);
  lines.recordDelivery('good', 1);
  assert.deepEqual(
    taken(lines).toSorted(),
    [...names.slice(0, 12).map((name) => `${name}0`), 'good1', 'good2', 'good3', 'good4'].toSorted(),
  );
});

test('hosts alternate, and one that failed goes behind the others', () => {
  const lines = filled(['a', 'b', 'c'], 2);
  const [first] = [lines.take(0)];
  assert.equal(first?.job, 'a0');
  assert.deepEqual(lines.recordFailure('a', { now: 0, took: 1 }), []);
  assert.deepEqual(taken(lines, 5000), ['b0', 'c0', 'a1']);
});

test('a host that failed waits 1 s, then 2, 4 and 8; after five failures it is given up', () => {
  const lines = filled(['a'], 7);
  let now = 0;
  for (const wait of [1000, 2000, 4000, 8000]) {
    assert.equal(lines.take(now)?.host, 'a');
    assert.deepEqual(lines.recordFailure('a', { now, took: 1 }), []);
    assert.equal(lines.readyIn(now), wait);
    assert.equal(lines.take(now + wait - 1), undefined);
    now += wait;
  }
  lines.take(now);
  assert.deepEqual(lines.recordFailure('a', { now, took: 1 }), ['a5', 'a6']);
  assert.deepEqual([lines.isGivenUp('a'), lines.failuresOf('a'), lines.waiting], [true, 5, 0]);
});

test('a delivered file clears earlier failures', () => {
  const lines = filled(['a'], 9);
  for (let round = 0; round < 3; round++) {
    const now = round * MINUTE;
    lines.take(now);
    lines.recordFailure('a', { now, took: 1 });
  }
  lines.take(3 * MINUTE);
  lines.recordDelivery('a', 1);
  assert.deepEqual([lines.isGivenUp('a'), lines.failuresOf('a')], [false, 0]);
});

test('two failures that took long are enough to give a host up, and so is one long Retry-After', () => {
  const slow = filled(['a'], 4);
  slow.take(0);
  assert.deepEqual(slow.recordFailure('a', { now: 0, took: MINUTE }), []);
  slow.take(MINUTE);
  assert.deepEqual(slow.recordFailure('a', { now: MINUTE, took: MINUTE }), ['a2', 'a3']);

  const busy = filled(['a'], 3);
  busy.take(0);
  assert.deepEqual(busy.recordFailure('a', { now: 0, took: 1, retryAfter: 30_000 }), []);
  assert.equal(busy.readyIn(0), 30_000);
  busy.take(30_000);
  assert.deepEqual(busy.recordFailure('a', { now: 30_000, took: 1, retryAfter: 3_600_000 }), ['a2']);
});

test('a file that is not available does not count as a failure of its host', () => {
  const lines = filled(['a'], 8);
  for (let at = 0; at < 8; at++) {
    assert.equal(lines.take(0)?.job, `a${at}`);
    lines.recordResponse('a');
  }
  assert.equal(lines.isGivenUp('a'), false);
});
