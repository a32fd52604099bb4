/** Filters and computed values at the edges of their types: exact rows, the same on every engine. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RecordRequest } from '../../../src/compile/read.ts';
import { listing } from '../../support/builders.ts';
import type { Engine } from '../../support/engine.ts';
import { makeWorld, nativeShape, TIME } from '../../support/world.ts';

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

  test('letters beyond ASCII change their case as Unicode has it, and count as one character', async (t) => {
    const { write, keys } = await makeWorld(engine, t);
    const cities = ['PLAIN', 'Élan', '\u212aelvin', 'Stra\u00dfe', '\u00e6on Z', '', null];
    await write('Property', ...cities.map((City, at) => listing(String(at), { City })));
    for (const [filter, found] of Object.entries({
      "tolower(City) eq 'plain'": '0',
      "contains(tolower(City),'élan')": '1',
      "tolower(City) eq 'kelvin'": '2',
      "startswith(toupper(City),'ST')": '3',
      "toupper(City) eq 'ÆON Z'": '4',
      "toupper(City) eq 'PLAIN' or endswith(tolower(City),'n z')": '04',
      "not contains(tolower(City),'a')": '245',
      'tolower(City) eq null': '6',
      "substring(City,1,2) eq 'la'": '1',
      "substring(City,4) eq 'N' or substring(City,4,9) eq 'ße'": '03',
      "substring(City,-1) eq 'n'": '12',
      "substring(City,9) eq '' and substring(City,0,0) eq ''": '012345',
      "substring(City,4000000000,1) eq '' and substring(City,1,4000000000) ne ''": '01234',
    })) {
      assert.equal((await keys('Property', `$filter=${filter}`)).join(''), found, filter);
    }
  });

  test('arithmetic beyond the range of numbers is null, in filters, orders and results; below it, zero', async (t) => {
    const { write, rows, keys } = await makeWorld(engine, t);
    await write(
      'Property',
      listing('1', { ListPrice: 2, Latitude: 1e-8 }),
      listing('2', { ListPrice: 0, Latitude: 0 }),
      listing('3', { ListPrice: 1e11, Latitude: 10 }),
    );
    const huge = [
      'ListPrice mul 1e300 mul 1e8',
      '-1e308 sub ListPrice mul 1e307',
      '1e307 mul ListPrice add 1.7e308',
    ];
    const results = { A: [null, 0, null], B: [-1.2e308, -1e308, null], C: [null, 1.7e308, null] };
    const computed = `$compute=${huge.map((each, at) => `${each} as ${'ABC'[at]}`).join(',')}&$select=A,B,C`;
    const found = await rows('Property', computed);
    for (const [name, expected] of Object.entries(results))
      assert.deepEqual(
        found.map((row) => row[name]),
        expected,
        name,
      );
    const filters: Table = {
      'ListPrice mul 1e308 gt 0': [],
      'ListPrice mul 1e308 eq null': ['1', '3'],
      'not (ListPrice mul 1e308 eq null)': ['2'],
      'ListPrice mul 1e308 sub ListPrice mul 1e308 eq 0': ['2'],
      '1e308 mul 10 eq null': ['1', '2', '3'],
      '1e308 div Latitude gt 1': ['3'],
      'Latitude mul 1e-320 eq 0': ['1', '2'],
      'Latitude div 1e300 div 1e30 eq 0': ['1', '2', '3'],
      'ListPrice div Latitude eq null': ['2'],
      'ListPrice divby Latitude eq 1e10': ['3'],
    };
    for (const [filter, expected] of Object.entries(filters))
      assert.deepEqual(await keys('Property', `$filter=${filter}`), expected, filter);
    assert.deepEqual(await keys('Property', '$orderby=ListPrice mul 1e308 desc'), ['2', '1', '3']);
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

  test('a number has the text of the whole record in selections of both interfaces and among computed values', async (t) => {
    const custom = { resource: 'Property', name: 'Share', group: 'A', label: 'B', type: 'decimal(34,17)' };
    const settings = { declarations: { customFields: [custom] } };
    const { write, request, store } = await makeWorld(engine, t, { settings });
    const values = {
      Share: [1e-5, 1e-7, -1e-6, 0.001, 0.1 + 0.2, 123456789012.12, 12.5, 450000, 0, 1e15],
      DistanceToBusNumeric: [1e15, 1234567890123456, Number.MAX_SAFE_INTEGER, -1e15, 7],
    };
    const whole = await request('Property');
    const selected = await request('Property', '$select=ListingKey,Share,DistanceToBusNumeric');
    const shape = nativeShape(whole.query, { select: ['DistanceToBusNumeric'] });
    const customFields = nativeShape(whole.query, { expansions: ['CustomFields'] });
    const computed = await request('Property', '$compute=Share as A,DistanceToBusNumeric as B&$select=A,B');
    const inText = async (asked: Omit<RecordRequest, 'key'>, key: string, text: string) => {
      const body = Buffer.from((await store.record({ ...asked, key }, TIME)) ?? []).toString();
      assert.match(body, new RegExp(`${RegExp.escape(text)}[,}]`));
    };
    for (const [name, numbers] of Object.entries(values)) {
      for (const [at, number] of numbers.entries()) {
        const key = `${name}${at}`;
        await write('Property', listing(key, { [name]: number }));
        for (const asked of [whole, selected]) await inText(asked, key, `"${name}":${number}`);
        await inText(computed, key, `"${name === 'Share' ? 'A' : 'B'}":${number}`);
        if (name === 'Share') await inText({ ...whole, shape: customFields }, key, `"B":${number}`);
        else await inText({ ...whole, shape }, key, `"${name}":${number}`);
      }
    }
  });
}
