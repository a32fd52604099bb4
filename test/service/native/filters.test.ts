/** Every feature of `_filter`, with the exact rows that the service returns (docs/native-filter.md). */
import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { CUSTOM_FIELDS, CUSTOM_LOOKUPS } from 'plat-demo';
import { listing } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import { fillListings } from '../reso/odata-listings.ts';
import { nativeAsker } from './asker.ts';

const service = await startTestService({ after }, { fill: fillListings });
const api = nativeAsker(service, 'api', await service.key('api'));

/** The keys that each filter returns. */
type Table = Readonly<Record<string, readonly string[]>>;

function returnsKeys(title: string, table: Table): void {
  test(title, async () => {
    for (const [filter, keys] of Object.entries(table)) {
      assert.deepEqual(await api.keys(`listings?_filter=${encodeURIComponent(filter)}`), keys, filter);
    }
  });
}

suite('conditions', () => {
  returnsKeys('on numbers, texts, dates, timestamps and booleans', {
    'ListPrice Eq 250000': ['1'],
    'ListPrice Ne 250000': ['2', '3', '4', '5'],
    'ListPrice Gt 99999.5': ['1', '2', '5'],
    'ListPrice Ge 99999.5': ['1', '2', '3', '5'],
    'ListPrice Lt 250000': ['3'],
    'ListPrice Le 250000': ['1', '3'],
    'BedroomsTotal Bt 2,4': ['1', '2', '3'],
    "City Eq 'Coeur d\\'Alene'": ['3'],
    "City Ne 'Zug'": ['1', '2', '3', '4'],
    'ListingContractDate Eq 2024-02-29': ['3'],
    'ListingContractDate Bt 2024-01-01,2025-12-31': ['2', '3'],
    'OnMarketTimestamp Gt 2025-12-31T23:59:59Z': ['1'],
    'OnMarketTimestamp Ge 2025-12-31T18:59:59-05:00': ['1', '2'],
    'OnMarketTimestamp Lt 2025-12-31': ['3'],
    'WaterfrontYN Eq true': ['1'],
    'WaterfrontYN Ne true': ['2', '3', '4', '5'],
    "ListAgentId Eq 'A2'": ['2'],
    "Id Eq '1','5','9'": ['1', '5'],
  });
  returnsKeys('on NULL, lists of values and multi-valued fields', {
    'City Eq NULL': ['4'],
    'City Ne NULL': ['1', '2', '3', '5'],
    "City Eq 'Zug','Bremen'": ['1', '5'],
    "City Ne 'Zug','Bremen'": ['2', '3', '4'],
    "Appliances Eq 'Dishwasher'": ['1', '5'],
    "Appliances Ne 'Dishwasher'": ['2', '3', '4'],
    "Appliances Eq 'Oven','Cooktop'": ['1', '2'],
    "all(Appliances) Eq 'Dishwasher','Oven'": ['1'],
    'Appliances Eq NULL': ['3', '4'],
    "StandardStatus Eq 'ActiveUnderContract'": ['2'],
    "ListAgentFullName Eq 'Agent A2'": ['2'],
  });
  returnsKeys('combined by And, Or and Not in any case, with parentheses', {
    "City Eq 'Zug' Or City Eq 'Bremen' And BedroomsTotal Gt 3": ['5'],
    "(City Eq 'Zug' Or City Eq 'Bremen') And BedroomsTotal Lt 4": ['1'],
    "ListPrice GT 100000 NOT City EQ 'Zug'": ['1', '2'],
    "ListPrice Gt 100000 And (Not City Eq 'Zug')": ['1', '2'],
    "Not (City Eq 'Zug' Or City Eq 'Bremen')": ['2', '3', '4'],
    "Not (Not City Eq 'Zug')": ['5'],
    "Not (Not (Not City Eq 'Zug'))": ['5'],
    '': ['1', '2', '3', '4', '5'],
  });
});

suite('patterns, functions and shapes', () => {
  returnsKeys('wildcards, startswith, endswith, contains, regex and range', {
    "City Eq 'B*'": ['1'],
    "City Eq '?ug'": ['5'],
    "City Ne '*e*'": ['2', '4', '5'],
    "PublicRemarks Eq '*😀*'": ['2'],
    "City Eq startswith('Å')": ['2'],
    "City Eq endswith('men'),contains('oeur')": ['1', '3'],
    "ParcelNumber Eq regex('^[0-9]{3}-')": ['1'],
    "City Eq regex('^z','i')": ['5'],
    "City Eq range('Bremen','Coeur')": ['1'],
  });
  returnsKeys('functions of fields, and arithmetic', {
    "tolower(City) Eq 'zug'": ['5'],
    "toupper(City) Eq 'ÅLAND'": ['2'],
    "trim(PublicRemarks) Eq 'Sea view, 2 pools'": ['1'],
    'length(City) Eq 3': ['5'],
    "indexof(City,'g') Eq 2": ['5'],
    "substring(City,1,2) Eq 're'": ['1'],
    "concat(City,'!') Eq 'Zug!'": ['5'],
    'year(ListingContractDate) Eq 2024': ['3'],
    'dayofweek(ListingContractDate) Eq 0': ['1'],
    'dayofyear(ListingContractDate) Eq 60': ['3'],
    'hour(OnMarketTimestamp) Eq 23': ['2'],
    'fractionalseconds(OnMarketTimestamp) Eq 0.25': ['1'],
    'date(OnMarketTimestamp) Eq 2024-02-29': ['3'],
    'time(OnMarketTimestamp) Lt 10:20:31': ['1', '3'],
    "cast(BedroomsTotal,'character') Eq '10'": ['5'],
    "cast(ParcelNumber,'integer') Eq 9999": ['2'],
    'ListPrice Div LivingArea Gt 2050': ['1'],
    'BedroomsTotal Mod 4 Eq 2': ['3', '5'],
    '(BedroomsTotal Add 1) Mul 2 Ge 10': ['2', '5'],
    'BedroomsTotal Eq 5 Sub 2': ['1'],
    'OnMarketTimestamp Gt days(-90)': ['1'],
    'OnMarketTimestamp Bt mindatetime(),now()': ['1', '2', '3'],
    'CloseDate Le years(-2)': ['3'],
  });
  returnsKeys('shapes', {
    "Location Eq radius('44.76 -85.62',0.5)": ['1'],
    "Location Eq radius('44.76 -85.62',2)": ['1', '2'],
    "Location Ne radius('44.76 -85.62',2)": ['3', '4', '5'],
    "Location Eq radius('POINT(-85.62 44.76)',0.5)": ['1'],
    "Location Ne radius('point ( -85.62  44.76 )',2)": ['3', '4', '5'],
    "Location Eq radius('MULTIPOINT(-85.62 44.76, (8.51 47.17))',0.5)": ['1', '5'],
    "Location Eq radius('LINESTRING(-86 44.76, -85 44.76)',0.01)": ['1'],
    "Location Eq radius('LINESTRING(-86 44.76, -85 44.76)',1)": ['1', '2'],
    "Location Eq radius('LINESTRING(-86 44.76, -85.63 44.76)',0.4)": [],
    "Location Eq radius('LINESTRING(-86 44.76, -85.63 44.76)',0.5)": ['1'],
    "Location Ne radius('MULTILINESTRING((-85.62 44, -85.62 45),(8.51 47, 8.51 47.1, 8.52 47.17))',0.6)": [
      '2',
      '3',
      '4',
    ],
    "Location Eq polygon('44 -86, 44 -85.61, 45 -85.61, 45 -86')": ['1'],
    "Location Eq rectangle('44 -86, 45 -85')": ['1', '2'],
    "Location Eq wkt('POLYGON((8 47, 9 47, 9 48, 8 48, 8 47))')": ['5'],
    "Location Eq wkt('POINT(8.51 47.17)')": ['5'],
    "Location Eq wkt('MULTIPOINT((8.51 47.17), (-85.62 44.76), (-85.6 44.76))')": ['1', '5'],
    "Location Eq linestring('44.76 -86, 44.76 -85, 44.8 -85.62')": ['1'],
    "Location Ne wkt('LINESTRING(-85.6 44, -85.6 45)')": ['1', '3', '4', '5'],
    "Location Eq wkt('SRID=4326;MULTILINESTRING((-85.63 44.765, -85.6 44.77), (8.51 47.17, 9 48))')": [
      '2',
      '5',
    ],
    "Location Eq radius('99999999999999999999999999',4000)": [],
    "Location Ne radius('99999999999999999999999999',4000)": ['1', '2', '3', '4', '5'],
  });
});

test('a filter above a limit gets 1041, an invalid one 1040, and an unsupported coordinate system 501', async () => {
  const faults: Readonly<Record<string, readonly [number, number, string]>> = {
    [Array(76).fill('BedroomsTotal Gt 1').join(' And ')]: [
      400,
      1041,
      '_filter: more than 75 conditions at position 1740.',
    ],
    [`BedroomsTotal Eq ${Array(201).fill('1').join()}`]: [
      400,
      1041,
      '_filter: more than 200 values in one condition at position 418.',
    ],
    "((( City Eq 'Zug')))": [400, 1041, '_filter: more than 2 levels of parentheses at position 10.'],
    'BedroomsTotal Eq 5 Div 0': [400, 1041, '_filter: Div by zero at position 24.'],
    "BedroomsTotal Eq 1 Add '2'": [400, 1041, '_filter: Add takes numbers, not a text at position 24.'],
    'trim(City) Add 2 Eq 1': [400, 1041, '_filter: Add takes numbers, not a text at position 12.'],
    "City Eq '*a*b*c*'": [400, 1041, '_filter: more than 3 wildcards in one condition at position 9.'],
    'Lisprice Eq 1': [
      400,
      1040,
      '_filter: listings has no field Lisprice at position 1. Did you mean ListPrice?',
    ],
    "City Eq 'Coeur d''Alene'": [
      400,
      1040,
      `_filter: found "'Alene'" at position 18, expected And, Or, Not or the end (a quote inside a text is written \\').`,
    ],
    "ListingKey Gt '1'": [
      400,
      1040,
      '_filter: Gt cannot compare with a text, only Eq and Ne can at position 12.',
    ],
    "Location Eq wkt('SRID=3857;POINT(1 2)')": [
      501,
      1040,
      '_filter: the coordinate system 3857 at position 13 is not provided by this service.',
    ],
  };
  for (const [filter, fault] of Object.entries(faults)) {
    assert.deepEqual(await api.fault(`listings?_filter=${encodeURIComponent(filter)}`), fault, filter);
  }
});

test('custom fields are filtered by group and name; a field that is hidden from the role is unknown', async () => {
  const market = await startTestService(
    { after },
    {
      settings: { declarations: { customFields: CUSTOM_FIELDS, lookups: CUSTOM_LOOKUPS } },
      fill: async ({ write }) => {
        await write(
          'Property',
          listing('1', {
            LakeLiving_DockType: 'Shared',
            Winter_HeatingCost: 1200.5,
            LakeLiving_Uses: ['Sailing'],
          }),
          listing('2', { LakeLiving_DockType: 'Floating', LakeLiving_Uses: ['Fishing', 'Sailing'] }),
          listing('3'),
        );
      },
    },
  );
  const all = nativeAsker(market, 'api', await market.key('api'));
  const idx = nativeAsker(market, 'api', await market.key('api', { role: 'idx' }));
  const expected: Table = {
    '"Lake Living"."Dock Type" Eq \'Shared\'': ['1'],
    '"Lake Living"."Dock Type" Ne \'Shared\'': ['2', '3'],
    '"Lake Living"."Dock Type" Eq NULL': ['3'],
    '"Lake Living"."Water Uses" Eq \'Fishing\'': ['2'],
    'length("Lake Living"."Dock Type") Gt 6': ['2'],
    '"Winter"."Heating Cost" Gt 1000': ['1'],
  };
  for (const [filter, keys] of Object.entries(expected)) {
    assert.deepEqual(await all.keys(`listings?_filter=${encodeURIComponent(filter)}`), keys, filter);
  }
  const hidden = encodeURIComponent('"Winter"."Heating Cost" Gt 1000');
  const unknown = encodeURIComponent('"Winter"."Heating Costs" Gt 1000');
  const [status, code] = await idx.fault(`listings?_filter=${hidden}`);
  assert.deepEqual([status, code], [400, 1040]);
  assert.deepEqual(await all.fault(`listings?_filter=${unknown}`), [
    400,
    1040,
    '_filter: listings has no field "Winter"."Heating Costs" at position 1. Did you mean "Winter"."Heating Cost"?',
  ]);
});
