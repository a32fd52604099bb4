/** Every feature of `$filter` and `$orderby`, with the exact rows that the service returns (docs/odata.md). */
import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { startTestService } from '../../support/service.ts';
import { asker } from './asker.ts';
import { fillListings } from './odata-listings.ts';

const service = await startTestService({ after }, { fill: fillListings });
const feed = asker(service, 'api', await service.key('api'));

/** The keys that each filter returns; further options may follow the filter. */
type Table = Readonly<Record<string, readonly string[]>>;

function returnsKeys(title: string, table: Table): void {
  test(title, async () => {
    for (const [filter, keys] of Object.entries(table)) {
      assert.deepEqual(await feed.keys(`Property?$filter=${filter}`), keys, filter);
    }
  });
}

suite('comparisons', () => {
  returnsKeys('of numbers, texts, dates, timestamps and booleans', {
    'ListPrice eq 250000': ['1'],
    'ListPrice eq 250000.00': ['1'],
    'ListPrice ne 250000': ['2', '3', '4', '5'],
    'ListPrice gt 99999.5': ['1', '2', '5'],
    'ListPrice ge 99999.5': ['1', '2', '3', '5'],
    'ListPrice lt 2.5e5': ['3'],
    'ListPrice le 250000': ['1', '3'],
    "City eq 'Coeur d''Alene'": ['3'],
    "City gt 'Zug'": ['2'],
    'ListingContractDate eq 2024-02-29': ['3'],
    'OnMarketTimestamp eq 2026-04-01T12:20:30.25%2B02:00': ['1'],
    'OnMarketTimestamp ge 2025-12-31T23:59:59Z': ['1', '2'],
    'OnMarketTimestamp lt 2025-12-31': ['3'],
    'WaterfrontYN eq true': ['1'],
    WaterfrontYN: ['1'],
    'not WaterfrontYN': ['2'],
    '250000 eq ListPrice': ['1'],
    "ListingKey in ('1','5','7')": ['1', '5'],
    'BedroomsTotal in (2,3,null)': ['1', '3', '4'],
  });
  returnsKeys('with null, and of a boolean field alone', {
    'City eq null': ['4'],
    'City ne null': ['1', '2', '3', '5'],
    'ListPrice gt null': [],
    'null eq null': ['1', '2', '3', '4', '5'],
    'not (ListPrice gt 250000)': ['1', '3', '4'],
    'not (WaterfrontYN)': ['2'],
    'WaterfrontYN and null': [],
    'WaterfrontYN or null': ['1'],
    "not (WaterfrontYN and City eq 'Bremen')": ['2', '3', '4', '5'],
    '-BedroomsTotal lt -3': ['2', '5'],
  });
  returnsKeys('with the precedence of the grammar, and operators in any case', {
    "City eq 'Zug' or City eq 'Bremen' and BedroomsTotal gt 3": ['5'],
    "(City eq 'Zug' or City eq 'Bremen') and BedroomsTotal lt 4": ['1'],
    '2 add 3 mul 2 eq 8 and BedroomsTotal gt 4': ['5'],
    'NOT (BedroomsTotal LE 3) AND BedroomsTotal NE NULL': ['2', '5'],
    'Not (BedroomsTotal Le 3) aNd BedroomsTotal nE null': ['2', '5'],
    "CONTAINS(ToLower(City),'rem')": ['1'],
    'BedroomsTotal le 3 eq WaterfrontYN': ['1', '2'],
  });
});

suite('functions', () => {
  returnsKeys('of texts, counting characters', {
    "contains(PublicRemarks,'pool')": ['1'],
    "startswith(City,'Å')": ['2'],
    "endswith(City,'men')": ['1'],
    'length(City) eq 3': ['5'],
    'length(PublicRemarks) eq 11': ['2'],
    "indexof(City,'g') eq 2": ['5'],
    "indexof(PublicRemarks,'kept') eq 7": ['2'],
    "substring(City,1) eq 'ug'": ['5'],
    "substring(City,1,2) eq 're'": ['1'],
    "tolower(City) eq 'zug'": ['5'],
    "toupper(City) eq 'ÅLAND'": ['2'],
    "trim(PublicRemarks) eq 'Sea view, 2 pools'": ['1'],
    "concat(concat(City,', '),StandardStatus) eq 'Zug, Pending'": ['5'],
    "matchespattern(ParcelNumber,'^[0-9]{3}-')": ['1'],
    "matchespattern(City,'^z','i')": ['5'],
  });
  returnsKeys('of dates and times, in UTC', {
    'year(ListingContractDate) eq 2024': ['3'],
    'month(ListingContractDate) eq 12': ['2'],
    'day(ListingContractDate) eq 29': ['3'],
    'hour(OnMarketTimestamp) eq 23': ['2'],
    'minute(OnMarketTimestamp) eq 59': ['2'],
    'second(OnMarketTimestamp) eq 30': ['1'],
    'fractionalseconds(OnMarketTimestamp) eq 0.25': ['1'],
    'date(OnMarketTimestamp) eq 2024-02-29': ['3'],
    'time(OnMarketTimestamp) lt 10:20:31': ['1', '3'],
    'totaloffsetminutes(OnMarketTimestamp) eq 0': ['1', '2', '3'],
    'OnMarketTimestamp gt mindatetime() and OnMarketTimestamp lt maxdatetime()': ['1', '2', '3'],
    "OnMarketTimestamp gt now() sub duration'P90D'": ['1'],
    'totalseconds(now() sub OnMarketTimestamp) lt 90 mul 86400': ['1'],
    "ListingContractDate add duration'P1D' eq 2026-01-01": ['2'],
    "OnMarketTimestamp sub 2025-12-31T00:00:00Z lt duration'PT24H'": ['2', '3'],
  });
  returnsKeys('of numbers, and arithmetic', {
    'ListPrice div LivingArea gt 2050': ['1'],
    'BedroomsTotal div 3 eq 1': ['1', '2'],
    'BedroomsTotal divby 4 eq 0.75': ['1'],
    'BedroomsTotal mod 4 eq 2': ['3', '5'],
    'ListPrice mul 2 eq 500000': ['1'],
    'ListPrice sub 50000 add 1 eq 200001': ['1'],
    '-(BedroomsTotal) eq -10': ['5'],
    'round(ListPrice divby 1000) eq 100': ['3'],
    'floor(ListPrice divby 1000) eq 99': ['3'],
    'ceiling(LivingArea divby 7) eq 18': ['1'],
    'LivingArea div 0 eq null': ['1', '2', '3', '4', '5'],
  });
  returnsKeys('cast, isof and case', {
    "cast(BedroomsTotal,Edm.String) eq '10'": ['5'],
    'cast(ParcelNumber,Edm.Int32) eq 9999': ['2'],
    'cast(ListPrice,Edm.Int32) eq 99999': ['3'],
    'isof(ListPrice,Edm.Decimal)': ['1', '2', '3', '5'],
    'isof(ListPrice,Edm.String)': [],
    "case(BedroomsTotal ge 4:'large',BedroomsTotal ge 3:'medium',true:'small') eq 'small'": ['3', '4'],
    'case(WaterfrontYN:BedroomsTotal) eq 3': ['1'],
  });
  returnsKeys('of geography', {
    "geo.distance(Coordinates,geography'SRID=4326;POINT(-85.62 44.76)') lt 1000": ['1'],
    "geo.distance(Coordinates,geography'POINT(-85.62 44.76)') lt 3000": ['1', '2'],
    "geo.distance(geography'POINT(-85.62 44.76)',Coordinates) ge 3000": ['5'],
    "geo.intersects(Coordinates,geography'POLYGON((-86 44,-85.61 44,-85.61 45,-86 45,-86 44))')": ['1'],
    "not geo.intersects(Coordinates,geography'POLYGON((-86 44,-85 44,-85 45,-86 45,-86 44))')": ['5'],
  });
});

suite('related records and lists', () => {
  returnsKeys('paths, where a missing record is null', {
    "ListAgent/MemberCity eq 'Bremen'": ['1'],
    "ListAgent/Office/OfficeCity eq 'Zug'": ['1'],
    'ListAgent eq null': ['3', '4', '5'],
    'ListAgent ne null': ['1', '2'],
    'ListAgent/MemberCity eq null': ['2', '3', '4', '5'],
    "ListOfficeName eq 'Office O1'": ['1'],
    "ListAgentFullName eq 'Agent A2'": ['2'],
  });
  returnsKeys('any and all over values', {
    "Appliances/any(a:a eq 'Dishwasher')": ['1', '5'],
    "Appliances/all(a:a eq 'Dishwasher')": ['3', '4', '5'],
    'Appliances/any()': ['1', '2', '5'],
    'not Appliances/any()': ['3', '4'],
    "Appliances/any(a:startswith(a,'Cook'))": ['2'],
    "'Oven' in Appliances": ['1'],
    "Appliances has 'Dishwasher,Oven'": ['1'],
    'Appliances/$count ge 2': ['1'],
  });
  returnsKeys('any and all over records, nested, too', {
    'Media/any(m:m/Order eq 2)': ['1'],
    "Media/all(m:m/MediaCategory eq 'Photo')": ['2', '3', '4', '5'],
    'OpenHouses/any(o:o/OpenHouseDate ge 2026-06-01)': ['1'],
    "Media/any(m:m/Order gt 2 and Rooms/any(r:r/RoomLevel eq 'Second' and m/MediaCategory eq 'Floor Plan'))":
      ['1'],
    'Media/any(m:m/Order eq $it/BedroomsTotal)': ['1'],
    "OpenHouses/any(o:o/Listing/City eq 'Åland')": ['2'],
    'Rooms/any(r:r/Listing/Media/any(m:m/Order eq 2))': ['1'],
    "Media/any(City:City/Order eq 1 and $it/City eq 'Bremen')": ['1'],
  });
  returnsKeys('counts, with and without a filter', {
    'Media/$count gt 1': ['1'],
    'Media/$count eq 0': ['3', '4', '5'],
    "Media/$count($filter=MediaCategory eq 'Photo') eq 2": ['1'],
    'Media/$filter(Order gt 2)/$count eq 1': ['1'],
    "Rooms/$filter(RoomLevel eq 'First')/any()": ['1'],
    'Media/$count add OpenHouses/$count eq 4': ['1'],
  });
  returnsKeys('$it', { "$it/City eq 'Zug'": ['5'], '$it/Media/$count gt 2': ['1'] });
});

suite('literals', () => {
  returnsKeys('of enumerations: plain, qualified and legacy', {
    "StandardStatus eq 'Active Under Contract'": ['2'],
    "StandardStatus eq 'ActiveUnderContract'": ['2'],
    "StandardStatus eq org.reso.metadata.enums.StandardStatus'ActiveUnderContract'": ['2'],
    "StandardStatus ne 'ActiveUnderContract'": ['1', '3', '4', '5'],
    "StandardStatus has org.reso.metadata.enums.StandardStatus'Pending'": ['5'],
    "StandardStatus in ('Closed','Pending')": ['3', '5'],
    "not (City has 'Zug')": ['1', '2', '3'],
    "not (City eq 'Zug')": ['1', '2', '3', '4'],
    "(City has 'Zug') eq null": ['4'],
    'City has null or not (City has null)': [],
    "Appliances/any(a:a eq org.reso.metadata.enums.Appliances'Cooktop')": ['2'],
  });
  returnsKeys('as parameter aliases', {
    'ListPrice gt @p and City in @c&@p=300000&@c=[\'Zug\',"Åland"]': ['2', '5'],
    'ListPrice gt @p&@p=@q&@q=400000': ['5'],
    "@x and BedroomsTotal gt 3&@x=not (City eq 'Zug')": ['2'],
    'City eq @none': ['4'],
  });
});

test('$orderby orders by fields and expressions, null lowest, and by key among equals', async () => {
  const orders: Table = {
    'ListPrice desc,City': ['5', '2', '1', '3', '4'],
    City: ['4', '1', '3', '5', '2'],
    'Media/$count desc': ['1', '2', '3', '4', '5'],
    'ListAgent/MemberCity desc': ['1', '2', '3', '4', '5'],
    "geo.distance(Coordinates,geography'POINT(-85.6 44.77)')": ['3', '4', '2', '1', '5'],
    'length(City) desc,ListingKey desc': ['3', '1', '2', '5', '4'],
    'case(BedroomsTotal eq null:0,true:BedroomsTotal) asc': ['4', '3', '1', '2', '5'],
    '@by desc&@by=BedroomsTotal mod 4': ['1', '3', '5', '2', '4'],
    'WaterfrontYN desc,ListPrice': ['1', '2', '4', '3', '5'],
  };
  for (const [order, keys] of Object.entries(orders)) {
    assert.deepEqual(await feed.keys(`Property?$orderby=${order}`), keys, order);
    const pages = await feed.walk(`Property?$orderby=${order}`, { prefer: 'odata.maxpagesize=2' });
    assert.deepEqual(pages.flat(), keys, `paged: ${order}`);
  }
});

test('values of $compute can be used in $filter, $orderby and $select', async () => {
  const rows = async (options: string) => (await feed.page(`Property?${options}`)).rows;
  assert.deepEqual(
    await rows(
      '$compute=ListPrice div LivingArea as PerArea,PerArea mul 2 as Twice&$filter=PerArea gt 1500&$orderby=PerArea&$select=Twice,PerArea,City',
    ),
    [
      { City: 'Åland', PerArea: 2000, Twice: 4000 },
      { City: 'Bremen', PerArea: 2083.3333333333335, Twice: 4166.666666666667 },
    ],
  );
  assert.deepEqual(
    await rows(
      "$compute=concat(City,'!') as Loud,year(ListingContractDate) as Year,WaterfrontYN or null as Wet,Media/$count as Photos&$select=Loud,Year,Wet,Photos&$top=4",
    ),
    [
      { ListingKey: '1', Loud: 'Bremen!', Year: 2026, Wet: true, Photos: 3 },
      { ListingKey: '2', Loud: 'Åland!', Year: 2025, Wet: null, Photos: 1 },
      { ListingKey: '3', Loud: "Coeur d'Alene!", Year: 2024, Wet: null, Photos: 0 },
      { ListingKey: '4', Loud: null, Year: null, Wet: null, Photos: 0 },
    ],
  );
});
