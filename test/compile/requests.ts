/** Requests for the golden statements: each kind of expression, plan, position and restriction once. */

import type { Position } from '../../src/compile/read.ts';
import type { Search } from '../../src/query/tree.ts';

export interface GoldenRequest {
  readonly plan: 'ids' | 'count' | 'page' | 'list' | 'record' | 'blocks' | 'facets';
  readonly query: string;
  readonly language?: 'odata' | 'native';
  readonly search?: Search;
  readonly resource?: string;
  readonly role?: string;
  readonly systems?: readonly string[];
  readonly position?: Position;
}

const FILTERS = [
  "City eq 'Rome'",
  "City ne 'Rome'",
  'ListPrice gt 4711',
  'ListPrice ge 4711 and ListPrice lt 4711.5',
  "not (ListPrice le 4711) or City eq null and StandardStatus in ('ActiveUnderContract',null)",
  'WaterfrontYN and not WaterfrontYN',
  'ListPrice eq BedroomsTotal',
  'ListPrice add 4711 sub BedroomsTotal mul 2 gt -LivingArea',
  'ListPrice div LivingArea gt 4711 and BedroomsTotal div 2 eq 1 and BedroomsTotal mod 4711 eq 0',
  'ListPrice divby BedroomsTotal eq 4711.25',
  "contains(City,'Rome') and startswith(City,'Rome') and endswith(City,'Rome')",
  "length(City) gt 4711 and indexof(City,'Rome') eq 1 and substring(City,1,2) eq 'Rome'",
  "tolower(trim(City)) eq toupper(concat(City,'Rome'))",
  "matchespattern(City,'^Rome','i')",
  'year(ListingContractDate) eq 4711 and month(OnMarketTimestamp) eq 2 and day(OnMarketTimestamp) eq 3',
  'hour(OnMarketTimestamp) eq 1 and minute(OnMarketTimestamp) eq 2 and second(OnMarketTimestamp) eq 3 and fractionalseconds(OnMarketTimestamp) lt 0.5',
  'date(OnMarketTimestamp) eq 2026-02-01 and time(OnMarketTimestamp) lt 10:20:30',
  'OnMarketTimestamp gt 2026-02-01 and ListingContractDate le 2026-02-02T10:00:00Z',
  "OnMarketTimestamp lt now() sub duration'P7D' and totalseconds(now() sub OnMarketTimestamp) gt 4711",
  'round(ListPrice) eq 4711 and floor(ListPrice) eq 1 and ceiling(ListPrice) eq 2',
  "cast(BedroomsTotal,Edm.String) eq 'Rome' and cast(City,Edm.Int32) eq 4711 and isof(City,Edm.String)",
  "case(BedroomsTotal gt 4711:'Rome',true:City) eq 'Moorhead'",
  "geo.distance(Coordinates,geography'POINT(4.711 44.76)') lt 4711",
  "geo.intersects(Coordinates,geography'POLYGON((4.711 1,2 1,2 2,4.711 1))')",
  "ListAgent/MemberCity eq 'Rome' and ListAgent/Office/OfficeCity ne 'Rome'",
  "ListAgentFullName eq 'Rome' and ListAgent eq null",
  "contains(tolower(ListAgentFullName),'rome') and startswith(ListAgent/Office/OfficeCity,'Rome')",
  "not contains(ListAgentFullName,'Rome') or length(ListAgent/MemberCity) ne 4711 or contains(City,ListAgentFullName)",
  "Appliances/any(a:a eq 'Rome') and Appliances/all(a:startswith(a,'Rome')) and Appliances/any()",
  "'Rome' in Appliances and Appliances/$count gt 4711",
  "Media/any(m:m/Order eq 4711 and m/MediaCategory eq 'Rome')",
  'Media/all(m:m/Order gt 4711) and not Rooms/any()',
  "Media/any(m:Rooms/any(r:r/RoomLevel eq 'Rome' and m/Order eq 4711))",
  "Media/$count($filter=MediaCategory eq 'Rome') gt 4711",
];

const NATIVE = [
  "City Eq 'Rome','Moorhead' And ListPrice Bt 4711,4712",
  "City Eq 'Rome*' Not PublicRemarks Eq '*lake?'",
  "City Eq regex('^Rome','i') Or City Eq range('Moorhead','Rome') Or City Eq contains('lake')",
  "all(Appliances) Eq 'Rome','Moorhead' And Appliances Ne NULL",
  "Location Eq radius('44.76 4.711',1.5) Or Location Eq rectangle('44 -4.711, 45 -85')",
  "Location Eq radius('20260101000000000000004711',1.5) Or Location Eq linestring('44 4.711, 45 4.711')",
  "Location Eq radius('LINESTRING(4.711 44, 4.711 45)',1.5) Or Location Eq radius('POINT(4.711 44)',1.5)",
  'ModificationTimestamp Ge hours(-24) And CloseDate Gt 2026-02-03',
  "tolower(City) Eq 'rome' And (BedroomsTotal Add 4711) Mul 2 Ge 8",
];

const WORDS: Search = {
  kind: 'search-and',
  terms: [
    {
      kind: 'search-or',
      terms: [
        { kind: 'word', text: 'lake' },
        { kind: 'phrase', text: 'sea side' },
      ],
    },
    { kind: 'search-not', operand: { kind: 'word', text: 'noisy' } },
  ],
};

const SINGLE_WORDS: Search = {
  kind: 'search-and',
  terms: [
    { kind: 'word', text: 'Lake' },
    { kind: 'phrase', text: 'noisy!' },
  ],
};

const ordered = '$select=ListingKey&$orderby=ListPrice desc,City';

export const REQUESTS: readonly GoldenRequest[] = [
  ...FILTERS.map((filter): GoldenRequest => ({ plan: 'ids', query: `$filter=${filter}` })),
  ...NATIVE.map((query): GoldenRequest => ({ plan: 'ids', language: 'native', query })),
  { plan: 'ids', query: '', search: WORDS },
  { plan: 'ids', query: '', search: WORDS, role: 'idx', resource: 'Media' },
  { plan: 'ids', query: '$filter=ListPrice gt 4711', search: SINGLE_WORDS },
  { plan: 'ids', query: '', search: SINGLE_WORDS, role: 'idx' },
  { plan: 'ids', role: 'idx', query: "$filter=City eq 'Rome' or not (City gt 'Rome')&$orderby=City" },
  { plan: 'ids', role: 'idx', systems: ['Rome', 'Moorhead'], query: '$filter=Media/any(m:m/Order eq 4711)' },
  // An index finds the candidates of the first three: one index has everything of the fourth, and two a part of the fifth.
  ...[
    "$filter=City eq 'Rome' and 4711 lt ListPrice and BedroomsTotal ge 3&$orderby=ModificationTimestamp desc",
    "$filter=City in ('Rome','Moorhead') and (contains(Directions,'lake') or City ne 'Rome')",
    '$filter=ListPrice gt 4711&$orderby=OnMarketTimestamp desc',
    '$filter=ListPrice gt 4711 and StandardStatus ne null&$orderby=LivingArea',
    "$filter=City eq 'Rome' and PostalCode eq '4711' and OnMarketTimestamp ne null",
  ].map((query): GoldenRequest => ({ plan: 'ids', query })),
  { plan: 'ids', role: 'idx', query: "$filter=City eq 'Rome' and Appliances/any(a:a eq 'Rome')" },
  { plan: 'ids', resource: 'Media', role: 'idx', query: '$filter=Order gt 4711' },
  { plan: 'ids', resource: 'Media', query: '$filter=Order gt 4711&$orderby=Order desc' },
  { plan: 'ids', resource: 'Lookup', query: "$filter=contains(LookupValue,'Rome')" },
  { plan: 'ids', resource: 'Office', query: "$filter=OfficeName eq 'Rome'" },
  { plan: 'count', query: '' },
  { plan: 'count', role: 'idx', systems: ['Rome'], query: '$filter=ListPrice gt 4711' },
  { plan: 'facets', query: "$filter=City eq 'Rome'" },
  { plan: 'facets', role: 'idx', systems: ['Rome'], query: '' },
  { plan: 'page', query: '$select=ListingKey,City,ListPrice' },
  {
    plan: 'page',
    role: 'idx',
    query: '$select=ListingKey,City',
    position: { kind: 'after-key', key: '4711' },
  },
  {
    plan: 'page',
    query: "$select=ListingKey&$filter=City eq 'Rome'",
    position: { kind: 'after-key', key: '4711' },
  },
  { plan: 'page', query: ordered },
  { plan: 'page', query: ordered, position: { kind: 'after-row', values: [4711, 'Rome'], key: '4711' } },
  { plan: 'page', query: ordered, position: { kind: 'after-row', values: [null, null], key: '4711' } },
  { plan: 'page', query: '$select=ListingKey&$orderby=City', position: { kind: 'offset', skip: 4711 } },
  { plan: 'list', role: 'idx', query: '$select=ListingKey,City&$orderby=City' },
  { plan: 'blocks', resource: 'Office', role: 'idx', query: '' },
  // Only the URL of a file that the service stores is signed.
  { plan: 'list', resource: 'Media', role: 'idx', query: '$select=MediaKey,MediaURL' },
  { plan: 'page', resource: 'EntityEvent', role: 'idx', query: '$filter=EntityEventSequence gt 4711' },
  {
    plan: 'page',
    resource: 'EntityEvent',
    role: 'idx',
    systems: ['M00000571'],
    query: '',
    position: { kind: 'after-key', key: '4711' },
  },
  {
    plan: 'page',
    resource: 'EntityEvent',
    query: '$select=ResourceName&$orderby=EntityEventSequence desc',
    position: { kind: 'after-row', values: [4711], key: '4711' },
  },
  {
    plan: 'page',
    resource: 'EntityEvent',
    query: "$filter=EntityEventSequence le 4711 and ResourceName eq 'Rome'&$orderby=ResourceRecordKey",
    position: { kind: 'after-row', values: ['Rome'], key: '4711' },
  },
  { plan: 'count', resource: 'EntityEvent', query: '$filter=EntityEventSequence in (4711,4712)' },
  { plan: 'record', resource: 'EntityEvent', role: 'idx', query: '' },
  {
    plan: 'record',
    role: 'idx',
    query: '$select=ListingKey,City,Appliances&$expand=Media($select=MediaKey;$top=1)',
  },
];
