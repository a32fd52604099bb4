/** The timestamps that the records of a commit get, depending on the available milliseconds. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { timestampFromMicroseconds } from '../../../src/dictionary/index.ts';
import {
  allotTimestamps,
  PER_MILLISECOND,
  type TimestampRoom,
} from '../../../src/store/write/commit-timestamps.ts';
import { runsOf } from '../../support/runs.ts';

const NOON = Date.parse('2026-06-01T12:00:00Z');
const MILLISECOND = 1000;
const SLOT = MILLISECOND / PER_MILLISECOND;

const room = (fields: Partial<TimestampRoom> = {}): TimestampRoom => ({
  ...{ now: NOON + 500, promised: 0, last: undefined, isFilling: false, isGoingOn: false },
  ...fields,
});

const texts = (count: number, fields: Partial<TimestampRoom> = {}): string[] =>
  allotTimestamps(count, room(fields)).map((moment) => timestampFromMicroseconds(moment).slice(11));

/** The first, the second, and the last. */
const ends = (count: number, fields: Partial<TimestampRoom>): (string | undefined)[] => {
  const all = texts(count, fields);
  return [all[0], all[1], all.at(-1)];
};

describe('the timestamps of a commit', () => {
  it('of a few records end now, with a millisecond each', () => {
    assert.deepEqual(texts(1), ['12:00:00.500Z']);
    assert.deepEqual(texts(3), ['12:00:00.498Z', '12:00:00.499Z', '12:00:00.500Z']);
    assert.deepEqual(texts(0), []);
  });

  it('never fall on a whole second', () => {
    assert.deepEqual(texts(1, { now: NOON }), ['11:59:59.999Z']);
    assert.deepEqual(texts(3, { now: NOON + 1 }), ['11:59:59.998Z', '11:59:59.999Z', '12:00:00.001Z']);
  });

  it('of many records in an empty resource begin early enough for a thousand further commits of that size', () => {
    assert.deepEqual(ends(100, {}), ['11:58:20.500Z', '11:58:20.501Z', '11:58:20.599Z']);
    const first = allotTimestamps(1000, room());
    const last = first.at(-1) ?? 0;
    const next = allotTimestamps(1000, room({ now: NOON + 700, last, isFilling: true }));
    assert.equal(next[0], last + MILLISECOND, 'the next commit continues after the first');
    assert.equal((next.at(-1) ?? 0) - last, 1001 * MILLISECOND, 'one whole second is left out');
  });

  it('of many records begin ten minutes earlier for each thousand, if no reader has been promised otherwise', () => {
    const last = (NOON - 3_600_000) * MILLISECOND;
    assert.deepEqual(ends(1000, { last }), ['11:50:00.500Z', '11:50:00.501Z', '11:50:01.500Z']);
  });

  it('of six hundred commits that each move a thousand records in a tenth of a second are not ahead of the clock', () => {
    let last = (NOON - 3_600_000) * MILLISECOND;
    for (let now = NOON; now < NOON + 60_000; now += 100) {
      last = allotTimestamps(1000, room({ now, last })).at(-1) ?? Number.NaN;
      assert.ok(last <= now * MILLISECOND);
    }
  });

  it('are after the last promise, and after the last timestamp', () => {
    const promised = NOON + 100;
    assert.deepEqual(ends(300, { promised }), ['12:00:00.100Z', '12:00:00.101Z', '12:00:00.399Z']);
    const last = (NOON + 200) * MILLISECOND;
    assert.deepEqual(ends(300, { promised, last }), ['12:00:00.201Z', '12:00:00.202Z', '12:00:00.500Z']);
  });

  it('share milliseconds if there are too few, and no more of them than necessary', () => {
    const promised = NOON + 401;
    assert.deepEqual(texts(200, { promised }).slice(0, 4), [
      '12:00:00.401Z',
      '12:00:00.4011Z',
      '12:00:00.402Z',
      '12:00:00.4021Z',
    ]);
    assert.deepEqual(ends(1000, { promised }), ['12:00:00.401Z', '12:00:00.4011Z', '12:00:00.5009Z']);
  });

  it('lie ahead of the clock, ten in a millisecond, if no millisecond is left before it', () => {
    const now = NOON + 500;
    assert.deepEqual(ends(1000, { now, promised: now }), [
      '12:00:00.500Z',
      '12:00:00.5001Z',
      '12:00:00.5999Z',
    ]);
    assert.deepEqual(texts(2, { now: NOON, promised: NOON }), ['12:00:00.001Z', '12:00:00.0011Z']);
  });

  it('use the rest of a millisecond first', () => {
    const last = (NOON + 500) * MILLISECOND;
    assert.deepEqual(texts(1, { last }), ['12:00:00.5001Z']);
    assert.deepEqual(texts(3, { last: last + 7 * SLOT }), [
      '12:00:00.5008Z',
      '12:00:00.5009Z',
      '12:00:00.501Z',
    ]);
    assert.deepEqual(texts(1, { last, promised: NOON + 501, now: NOON + 501 }), ['12:00:00.501Z']);
  });

  it('are spread evenly over a requested span, as far as it is available', () => {
    const over = { from: NOON - 10_000, to: NOON - 1000 };
    assert.deepEqual(texts(3, { over }), ['11:59:50.001Z', '11:59:53.001Z', '11:59:56.001Z']);
    const last = (NOON - 4000) * MILLISECOND;
    assert.deepEqual(texts(3, { over, last }), ['11:59:56.001Z', '11:59:57.001Z', '11:59:58.001Z']);
    const promised = NOON - 500;
    assert.deepEqual(texts(2, { over, promised }), ['11:59:59.500Z', '11:59:59.501Z'], 'the promise is kept');
    const future = { from: NOON, to: NOON + 60_000 };
    assert.deepEqual(texts(2, { over: future }), ['12:00:00.001Z', '12:00:00.250Z']);
    const between = { from: over.from - 0.25, to: over.to + 0.75 };
    assert.deepEqual(texts(3, { over: between }), ['11:59:50.001Z', '11:59:53.001Z', '11:59:56.001Z']);
  });
});

describe('for any available milliseconds', () => {
  const millisecond = fc.integer({ min: -5000, max: 5000 }).map((at) => NOON + at);
  const rooms = fc.record({
    now: millisecond,
    promised: fc.oneof(fc.constant(0), millisecond),
    last: fc.option(
      fc
        .tuple(millisecond, fc.integer({ min: 0, max: PER_MILLISECOND - 1 }))
        .map(([at, slot]) => at * 1000 + slot * SLOT),
      { nil: undefined },
    ),
    isFilling: fc.boolean(),
    isGoingOn: fc.boolean(),
    over: fc.option(
      fc.tuple(millisecond, fc.nat(20_000)).map(([from, length]) => ({ from, to: from + length })),
      { nil: undefined },
    ),
  });
  const counts = fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 90, max: 3000 }));

  it('timestamps increase after the last one and the promise, none is a whole second, and at most ten share a millisecond', () => {
    fc.assert(
      fc.property(counts, rooms, (count, given) => {
        // A store's clock is never before its promises and timestamps (commit-timestamps.ts).
        const now = Math.max(given.now, given.promised, Math.floor((given.last ?? 0) / 1000));
        const moments = allotTimestamps(count, { ...given, now });
        assert.equal(moments.length, count);
        let before = given.last ?? Number.NEGATIVE_INFINITY;
        for (const moment of moments) {
          assert.ok(moment > before, `${moment} after ${before}`);
          assert.ok(moment >= given.promised * 1000);
          assert.notEqual(Math.floor(moment / 1000) % 1000, 0);
          before = moment;
        }
        const each = Map.groupBy(moments, (moment) => Math.floor(moment / 1000));
        const most = Math.max(...[...each.values()].map(({ length }) => length));
        assert.ok(most <= PER_MILLISECOND);
        const first = Math.max(
          given.promised,
          given.last === undefined ? now - 10_000 : Math.floor(given.last / 1000) + 1,
        );
        let free = 0;
        for (let at = first; at <= now; at++) if (at % 1000 !== 0) free++;
        if (free >= count) {
          assert.equal(most, 1, 'each has a millisecond of its own if there are enough');
          assert.ok((moments.at(-1) ?? 0) <= now * 1000, 'none is ahead of the clock');
        }
        if (free > 0 && free * PER_MILLISECOND >= count) assert.ok((moments.at(-1) ?? 0) < (now + 1) * 1000);
        assert.ok((moments.at(-1) ?? 0) < (now + 2 + Math.ceil(count / (PER_MILLISECOND - 1))) * 1000);
      }),
      { seed: 21, numRuns: runsOf(1500) },
    );
  });
});
