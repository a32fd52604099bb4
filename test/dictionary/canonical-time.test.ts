import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  canonicalDate,
  canonicalTimestamp,
  dayFrom,
  microsecondsOf,
  timestampFrom,
  timestampFromMicroseconds,
} from '../../src/dictionary/index.ts';
import { runsOf } from '../support/runs.ts';

const FIRST = Date.parse('0001-01-01T00:00:00.000Z');
const LAST = Date.parse('9999-12-31T23:59:59.999Z');
const moments = fc.integer({ min: FIRST, max: LAST });

const digits = (value: number, length: number): string => String(value).padStart(length, '0');

/** What JavaScript's calendar says about a day: it converts a day that does not exist to another one. */
function isCalendarDay(year: number, month: number, day: number): boolean {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

describe('canonicalDate', () => {
  it('accepts the days of the calendar unchanged', () => {
    for (const text of ['2024-02-29', '2000-02-29', '0001-01-01', '9999-12-31']) {
      assert.equal(canonicalDate(text), text);
    }
  });

  it('rejects everything else', () => {
    const others = [
      '2023-02-29',
      '1900-02-29',
      '0000-01-01',
      '2024-1-1',
      '2024-01-01T00:00:00Z',
      ' 2024-01-01',
      '',
    ];
    for (const text of others) assert.equal(canonicalDate(text), undefined, text);
  });

  it("agrees with JavaScript's calendar on every day that can be written", () => {
    const parts = fc.tuple(
      fc.integer({ min: 1, max: 9999 }),
      fc.integer({ min: 0, max: 13 }),
      fc.integer({ min: 0, max: 32 }),
    );
    fc.assert(
      fc.property(parts, ([year, month, day]) => {
        const text = `${digits(year, 4)}-${digits(month, 2)}-${digits(day, 2)}`;
        assert.equal(canonicalDate(text), isCalendarDay(year, month, day) ? text : undefined);
      }),
      { seed: 11, numRuns: runsOf(3000) },
    );
  });
});

describe('canonicalTimestamp', () => {
  const given: Record<string, string | undefined> = {
    '2024-05-31T10:20:30Z': '2024-05-31T10:20:30Z',
    '2024-05-31T10:20Z': '2024-05-31T10:20:00Z',
    '2024-05-31T10:20:30.5Z': '2024-05-31T10:20:30.500Z',
    '2024-05-31T10:20:30.000Z': '2024-05-31T10:20:30Z',
    '2024-05-31T10:20:30.0004Z': '2024-05-31T10:20:30.0004Z',
    '2024-05-31T10:20:30.1200Z': '2024-05-31T10:20:30.120Z',
    '2024-05-31T10:20:30.0000009Z': '2024-05-31T10:20:30Z',
    '2024-05-31T12:20:30.123456+02:00': '2024-05-31T10:20:30.123456Z',
    '2024-05-31T10:20:30.123999999999Z': '2024-05-31T10:20:30.123999Z',
    '2024-05-31T10:20:30+02:00': '2024-05-31T08:20:30Z',
    '2024-12-31T23:20:30-05:30': '2025-01-01T04:50:30Z',
    '2024-05-31T10:20:30-00:00': '2024-05-31T10:20:30Z',
    '0001-01-01T00:00:00Z': '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999Z': '9999-12-31T23:59:59.999Z',
    // No time zone, no time, no such day or time, another form.
    '2024-05-31T10:20:30': undefined,
    '2024-05-31': undefined,
    '2023-02-29T00:00:00Z': undefined,
    '2024-05-31T24:00:00Z': undefined,
    '2024-05-31T10:60:00Z': undefined,
    '2024-05-31T10:20:60Z': undefined,
    '2024-05-31T10:20:30.Z': undefined,
    '2024-05-31T10:20:30.1234567890123Z': undefined,
    '2024-05-31T10:20:30+0200': undefined,
    '2024-05-31T10:20:30+15:00': undefined,
    '2024-05-31T10:20:30+01:60': undefined,
    '2024-05-31t10:20:30z': undefined,
    '2024-05-31 10:20:30Z': undefined,
    '2024-05-31T10:20:30Z\n': undefined,
    // Outside the years 1 to 9999, before or after the offset is applied.
    '0000-12-31T23:59:59Z': undefined,
    '0001-01-01T00:00:00+00:01': undefined,
    '9999-12-31T23:59:59-00:01': undefined,
  };
  for (const [text, canonical] of Object.entries(given)) {
    it(`${JSON.stringify(text)} is ${canonical ?? 'none'}`, () =>
      assert.equal(canonicalTimestamp(text), canonical));
  }

  it('agrees with Date on every moment, whatever the offset and the number of digits', () => {
    const offsets = fc.integer({ min: -14 * 60, max: 14 * 60 });
    const finer = fc.stringMatching(/^\d{0,9}$/);
    fc.assert(
      fc.property(moments, offsets, finer, (moment, offset, rest) => {
        const local = moment + offset * 60_000;
        fc.pre(local >= FIRST && local <= LAST);
        const sign = offset < 0 ? '-' : '+';
        const size = Math.abs(offset);
        const zone = `${sign}${digits(Math.floor(size / 60), 2)}:${digits(size % 60, 2)}`;
        const text = new Date(local).toISOString().replace('Z', `${rest}${zone}`);
        const microseconds = moment * 1000 + Number(rest.slice(0, 3).padEnd(3, '0'));
        fc.pre(Number.isSafeInteger(microseconds));
        assert.equal(canonicalTimestamp(text), timestampFromMicroseconds(microseconds));
      }),
      { seed: 12, numRuns: runsOf(3000) },
    );
  });

  it('leaves a canonical timestamp unchanged', () => {
    fc.assert(
      fc.property(moments, (moment) => {
        assert.equal(canonicalTimestamp(timestampFrom(moment)), timestampFrom(moment));
      }),
      { seed: 13, numRuns: runsOf(2000) },
    );
  });

  it('rejects texts that only look like a timestamp', () => {
    const near = fc.stringMatching(/^\d{3,5}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(\.\d{0,4})?(Z|[+-]\d\d:\d\d)?$/);
    fc.assert(
      fc.property(near, (text) => {
        const canonical = canonicalTimestamp(text);
        if (canonical === undefined) return;
        assert.equal(Date.parse(canonical), Date.parse(text));
      }),
      { seed: 14, numRuns: runsOf(3000) },
    );
  });
});

describe('timestampFrom and dayFrom', () => {
  it('write milliseconds only if they are not zero', () => {
    assert.equal(timestampFrom(0), '1970-01-01T00:00:00Z');
    assert.equal(timestampFrom(1), '1970-01-01T00:00:00.001Z');
    assert.equal(timestampFrom(Date.UTC(2024, 4, 31, 10, 20, 30, 40)), '2024-05-31T10:20:30.040Z');
    assert.equal(dayFrom(Date.UTC(2024, 4, 31, 23, 59, 59, 999)), '2024-05-31');
    assert.equal(dayFrom(-1), '1969-12-31');
  });

  it('keep the order of time, without the Z', () => {
    fc.assert(
      fc.property(moments, fc.integer({ min: 1, max: 5000 }), (moment, later) => {
        fc.pre(moment + later <= LAST);
        const sortable = (at: number): string => timestampFrom(at).slice(0, -1);
        assert.ok(sortable(moment) < sortable(moment + later));
      }),
      { seed: 15, numRuns: runsOf(2000) },
    );
  });

  it('write microseconds with as many digits as necessary, and parse them', () => {
    assert.equal(timestampFromMicroseconds(0), '1970-01-01T00:00:00Z');
    assert.equal(timestampFromMicroseconds(1), '1970-01-01T00:00:00.000001Z');
    assert.equal(timestampFromMicroseconds(1_120_000), '1970-01-01T00:00:01.120Z');
    assert.equal(timestampFromMicroseconds(1_120_300), '1970-01-01T00:00:01.1203Z');
    const recent = fc.integer({ min: 0, max: Date.UTC(2200) * 1000 });
    fc.assert(
      fc.property(recent, fc.integer({ min: 1, max: 5000 }), (moment, later) => {
        const sortable = (at: number): string => timestampFromMicroseconds(at).slice(0, -1);
        assert.equal(microsecondsOf(timestampFromMicroseconds(moment)), moment);
        assert.ok(sortable(moment) < sortable(moment + later));
      }),
      { seed: 17, numRuns: runsOf(2000) },
    );
  });

  it('parse to the same moment', () => {
    fc.assert(
      fc.property(moments, (moment) => {
        assert.equal(Date.parse(timestampFrom(moment)), moment);
        assert.equal(canonicalDate(dayFrom(moment)), timestampFrom(moment).slice(0, 10));
      }),
      { seed: 16, numRuns: runsOf(2000) },
    );
  });
});
