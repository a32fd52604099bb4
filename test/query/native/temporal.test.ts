import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ClockFunction } from '../../../src/query/native/functions.ts';
import type { Clock } from '../../../src/query/native/nodes.ts';
import { clockText, timestampOf } from '../../../src/query/native/temporal.ts';

const clock = (name: ClockFunction, count: number): Clock => ({
  kind: 'clock',
  type: ['now', 'seconds', 'minutes', 'hours'].includes(name) ? 'datetime' : 'date',
  function: name,
  count,
  position: 1,
});
const from = (now: string, name: ClockFunction, count = 0): string | undefined =>
  clockText(new Date(now), clock(name, count));

describe('functions of the clock', () => {
  const saturday = '2026-03-14T15:09:26.500Z';
  const wednesday = '2026-03-18T23:59:59Z';
  const cases: readonly (readonly [string, ClockFunction, number, string])[] = [
    [saturday, 'now', 0, '2026-03-14T15:09:26.500Z'],
    [saturday, 'seconds', -27, '2026-03-14T15:08:59.500Z'],
    [saturday, 'minutes', 60, '2026-03-14T16:09:26.500Z'],
    [saturday, 'hours', -16, '2026-03-13T23:09:26.500Z'],
    [saturday, 'days', 0, '2026-03-14'],
    [saturday, 'days', -7, '2026-03-07'],
    [wednesday, 'days', 1, '2026-03-19'],
    [saturday, 'months', 1, '2026-04-14'],
    ['2026-01-31T12:00:00Z', 'months', 1, '2026-02-28'],
    ['2024-01-31T12:00:00Z', 'months', 1, '2024-02-29'],
    ['2026-03-31T12:00:00Z', 'months', -13, '2025-02-28'],
    ['2024-02-29T12:00:00Z', 'years', 1, '2025-02-28'],
    ['2024-02-29T12:00:00Z', 'years', -4, '2020-02-29'],
    [wednesday, 'weekdays', 0, '2026-03-18'],
    [wednesday, 'weekdays', 1, '2026-03-19'],
    [wednesday, 'weekdays', 3, '2026-03-23'],
    [wednesday, 'weekdays', 5, '2026-03-25'],
    [wednesday, 'weekdays', -3, '2026-03-13'],
    [wednesday, 'weekdays', -8, '2026-03-06'],
    [saturday, 'weekdays', 0, '2026-03-16'],
    [saturday, 'weekdays', 1, '2026-03-16'],
    [saturday, 'weekdays', 5, '2026-03-20'],
    [saturday, 'weekdays', -1, '2026-03-13'],
    [saturday, 'weekdays', -5, '2026-03-09'],
  ];
  for (const [now, name, count, expected] of cases) {
    it(`${name}(${count}) at ${now}`, () => assert.equal(from(now, name, count), expected));
  }

  it('end at the first and the last year', () => {
    assert.equal(from(saturday, 'years', 7973), '9999-03-14');
    assert.equal(from(saturday, 'years', 7974), undefined);
    assert.equal(from(saturday, 'years', -2025), '0001-03-14');
    assert.equal(from(saturday, 'years', -2026), undefined);
    assert.equal(from(saturday, 'months', 1e15), undefined);
    assert.equal(from(saturday, 'seconds', 1e300), undefined);
  });

  it('count weekdays as a loop over the days does', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 1, max: 300 }), (start, count) => {
        const day = new Date(start * 86_400_000);
        fc.pre(day.getUTCDay() !== 0 && day.getUTCDay() !== 6);
        const now = day.toISOString();
        for (let left = count; left > 0; ) {
          day.setUTCDate(day.getUTCDate() + 1);
          if (day.getUTCDay() !== 0 && day.getUTCDay() !== 6) left -= 1;
        }
        assert.equal(from(now, 'weekdays', count), day.toISOString().slice(0, 10));
      }),
      { seed: 3, numRuns: 200 },
    );
  });
});

describe('timestamps', () => {
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['2026-01-31T10:22', '2026-01-31T10:22:00Z'],
    ['2026-01-31T10:22:15.100Z', '2026-01-31T10:22:15.100Z'],
    ['2026-01-31T10:22:15.1-0100', '2026-01-31T11:22:15.100Z'],
    ['2026-01-31T00:00:00+01:00', '2026-01-30T23:00:00Z'],
    ['2026-01-31T10:22:15.0001Z', '2026-01-31T10:22:15.0001Z'],
    ['2026-01-31T10:22:15.0000001Z', '2026-01-31T10:22:15.0000001Z'],
    ['2026-01-31T10:22:15.12345670Z', '2026-01-31T10:22:15.1234567Z'],
    ['2026-01-31T10:22:15.0000Z', '2026-01-31T10:22:15Z'],
    ['2026-02-29T10:22', undefined],
    ['2026-01-31T24:00', undefined],
    ['0001-01-01T00:00:00+01:00', undefined],
  ];
  for (const [literal, text] of cases) it(literal, () => assert.equal(timestampOf(literal), text));
});
