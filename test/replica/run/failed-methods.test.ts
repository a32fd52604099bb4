/** Which of the methods that a source offers is used after some of them failed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestFailure } from '../../../src/replica/http/failure.ts';
import { FailedMethods } from '../../../src/replica/run/failed-methods.ts';
import type { ChangeFeed, ChangeMethod } from '../../../src/replica/source/source.ts';

/** Events and entity events use the same positions. */
const feed = (way: ChangeMethod): ChangeFeed => ({
  way,
  isPushed: false,
  translatePosition: (known) => (way !== 'delta' && known.way !== 'delta' ? known.position : undefined),
  currentPosition: () => assert.fail('Nobody asks'),
  changesSince: () => assert.fail('Nobody asks'),
});

const FEEDS = (['events', 'delta', 'entity-event'] as const).map(feed);
const at = (way: ChangeMethod) => ({ way, position: '5' });
const cut = new RequestFailure('transient', 'It was cut');
const unoffered = new RequestFailure('rejected', 'It is not there');

test('the best method is used; if it is cut, a method that continues at its position replaces it, and not one that starts over', () => {
  const ways = new FailedMethods(() => 1);
  const best = (chain: ChangeMethod | undefined, now: number): ChangeMethod | undefined =>
    ways.best(FEEDS, chain && at(chain), now)?.way;
  assert.equal(best(undefined, 0), 'events');
  ways.recordFailure('events', cut, 0);
  assert.equal(best('events', 0), 'entity-event');
  assert.equal(best('entity-event', 0), 'entity-event');
  assert.equal(ways.best(FEEDS.slice(0, 2), at('events'), 0), undefined);
  assert.deepEqual(ways.suspension(FEEDS.slice(0, 2), 0), { until: 1000, reason: undefined });
  // A copy without a position has to start over with any method.
  assert.equal(best(undefined, 0), 'delta');
  assert.equal(best('delta', 0), 'delta');
  assert.equal(best('events', 1000), 'events');
});

test('a method that is not offered, or fails repeatedly, is replaced by the next', () => {
  const ways = new FailedMethods(() => 1);
  ways.recordFailure('events', unoffered, 0);
  assert.equal(ways.best(FEEDS, at('events'), 0)?.way, 'delta');
  assert.equal(ways.best(FEEDS, at('entity-event'), 3_599_999)?.way, 'delta');
  assert.equal(ways.best(FEEDS, at('entity-event'), 3_600_000)?.way, 'events');
  assert.equal(ways.reasonsAgainstBetter('delta'), 'It is not there');
  ways.recordSuccess('events');
  assert.equal(ways.reasonsAgainstBetter('delta'), undefined);
  for (let failures = 1; failures <= 6; failures++) {
    assert.equal(ways.best(FEEDS, at('events'), 0)?.way, failures === 1 ? 'events' : 'entity-event');
    ways.recordFailure('events', cut, 0);
  }
  assert.equal(ways.best(FEEDS, at('events'), 0)?.way, 'delta');
});

test('the second failure of every offered method is reported; that a method is not offered is reported at once', () => {
  const ways = new FailedMethods(() => 1);
  const [events = assert.fail()] = FEEDS;
  ways.recordFailure('events', cut, 0);
  assert.equal(ways.suspension([events], 0).reason, undefined);
  ways.recordFailure('events', cut, 0);
  assert.deepEqual(ways.suspension([events], 0), { until: 2000, reason: 'It was cut' });
  ways.recordSuccess('events');
  ways.recordFailure('events', unoffered, 0);
  assert.deepEqual(ways.suspension([events], 0), { until: 3_600_000, reason: 'It is not there' });
});

test('after a sequence has broken twice within hours, its method is not used for a while', () => {
  const ways = new FailedMethods(() => 1);
  ways.recordBreak('delta', 0);
  assert.equal(ways.best(FEEDS.slice(1, 2), at('delta'), 0)?.way, 'delta');
  ways.recordBreak('delta', 1000);
  assert.equal(ways.best(FEEDS.slice(1, 2), at('delta'), 60_999), undefined);
  assert.equal(ways.best(FEEDS.slice(1, 2), at('delta'), 61_000)?.way, 'delta');
});
