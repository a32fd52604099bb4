/** Filters and computed values at the edges of their types: exact rows, the same on every engine. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listing } from '../../support/builders.ts';
import type { Engine } from '../../support/engine.ts';
import { makeWorld } from '../../support/world.ts';

/** The keys that each filter finds. */
type Table = Readonly<Record<string, readonly string[]>>;

export function edgeValueContract(engine: Engine): void {
  const finds = (title: string, table: Table): void => {
    test(title, async (t) => {
      const { write, keys } = await makeWorld(engine, t);
      await write(
        'Property',
        listing('1', { CloseDate: '2024-02-29', OffMarketTimestamp: '2024-05-31T08:30:00.123456Z' }),
        listing('2', { CloseDate: null, OffMarketTimestamp: '2024-05-31T08:30:00.123Z' }),
        listing('3', { CloseDate: null, OffMarketTimestamp: null }),
      );
      for (const [filter, found] of Object.entries(table)) {
        assert.deepEqual(await keys('Property', `$filter=${filter}`), found, filter);
      }
    });
  };

  finds('a bound with more digits than a timestamp lies between two timestamps', {
    'OffMarketTimestamp lt 2024-05-31T08:30:00.1234567Z': ['1', '2'],
    'OffMarketTimestamp le 2024-05-31T08:30:00.1234567Z': ['1', '2'],
    'OffMarketTimestamp gt 2024-05-31T08:30:00.1234567Z': [],
    'OffMarketTimestamp ge 2024-05-31T08:30:00.1234559Z': ['1'],
    '2024-05-31T08:30:00.1234567Z gt OffMarketTimestamp': ['1', '2'],
    'OffMarketTimestamp ge 2024-05-31T10:30:00.1230001%2B02:00': ['1'],
    'OffMarketTimestamp lt 2024-05-31T10:30:00.1230001%2B02:00': ['2'],
    'OffMarketTimestamp eq 2024-05-31T08:30:00.1234567Z': [],
    'OffMarketTimestamp ne 2024-05-31T08:30:00.1234567Z': ['1', '2', '3'],
    'OffMarketTimestamp eq 2024-05-31T08:30:00.123456000Z': ['1'],
    'OffMarketTimestamp in (2024-05-31T08:30:00.1234567Z,2024-05-31T08:30:00.1230Z)': ['2'],
    'time(OffMarketTimestamp) lt 08:30:00.1234567': ['1', '2'],
    'time(OffMarketTimestamp) ge 08:30:00.1230001': ['1'],
  });

  finds('an operation on null is null, and a condition that is null finds nothing', {
    'null add null': [],
    'null mod 2': [],
    'case(true:null)': [],
    'case(CloseDate eq null:null,true:null)': [],
    'round(null)': [],
    'not (floor(null))': [],
    '(null add null) eq null': ['1', '2', '3'],
    '(CloseDate sub null) eq null': ['1', '2', '3'],
    '(now() sub null) eq null': ['1', '2', '3'],
    'not ((CloseDate add null) ne null)': ['1', '2', '3'],
    'ceiling(null) eq null and CloseDate ne null': ['1'],
    'case(true:CloseDate sub null) eq null': ['1', '2', '3'],
  });

  test('a value that is computed from null, or is outside the range of its type, is null', async (t) => {
    const { write, rows } = await makeWorld(engine, t);
    await write('Property', listing('1', { CloseDate: '2024-02-29', ListPrice: 1e10 }));
    const computed = [
      'CloseDate sub null as A',
      'case(true:null) as B',
      'cast(ListPrice mul 1e13,Edm.Int64) as C',
      'cast(ListPrice mul -1e13,Edm.Int64) as D',
      "cast('99999999999999999999',Edm.Int64) as E",
      'cast(ListPrice,Edm.Int64) as F',
    ];
    const [row] = await rows('Property', `$compute=${computed.join(',')}&$select=A,B,C,D,E,F`);
    assert.deepEqual(row, { ListingKey: '1', A: null, B: null, C: null, D: null, E: null, F: 1e10 });
  });
}
