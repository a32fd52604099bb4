/** Refused query options: status, code and message with the position and what is expected. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startTestService } from '../../support/service.ts';
import { asker } from './asker.ts';
import { fillMarket } from './market.ts';

const service = await startTestService({ after }, { fill: fillMarket });
const feed = asker(service, 'api', await service.key('api'));

/** Valid OData that this service does not implement, by request, with the name in the message. */
const NOT_IMPLEMENTED = {
  'Property?$filter=ListPrice gt INF': '$filter: the number INF at position 14',
  'Property?$filter=ListPrice eq NaN': '$filter: the number NaN at position 14',
  "Property?$filter=City eq binary'AA=='": '$filter: binary data at position 9',
  "Property?$filter=org.reso.metadata.Property/City eq 'x'":
    '$filter: the type cast org.reso.metadata.Property at position 1',
  "Property?$filter=ListAgent/org.reso.metadata.Member/MemberCity eq 'x'":
    '$filter: the type cast org.reso.metadata.Member at position 11',
  'Property?$filter=org.reso.Function(City)': '$filter: the function org.reso.Function at position 1',
  "Property?$filter=Media('1')/Order eq 1": '$filter: the function or key Media(…) at position 1',
  "Property?$filter=@Core.Description eq 'x'": '$filter: the annotation @Core.Description at position 1',
  "Property?$filter=$root/Property('1')/City eq 'x'": '$filter: $root at position 1',
  'Property?$filter=geo.length(Coordinates) gt 1': '$filter: the function geo.length at position 1',
  "Property?$filter=hassubset(AccessibilityFeatures,['x'])": '$filter: the function hassubset at position 1',
  "Property?$filter=hassubsequence(AccessibilityFeatures,['x'])":
    '$filter: the function hassubsequence at position 1',
  "Property?$filter=City in [['a']]": '$filter: a list inside a list at position 10',
  'Property?$filter=Media/$filter(Order gt 1)/all(m:m/Order gt 2)':
    '$filter: all after $filter at position 27',
  "Property?$filter=matchespattern(City,'(?=a)')":
    "$filter: '(?=a)' as a regular expression (invalid or unsupported Perl syntax: `(?=…) at position 21",
  "Property?$filter=matchespattern(City,'a','m')": '$filter: the flags "m" of matchespattern at position 25',
  "Property?$expand=Media($filter=$it/City eq 'x')":
    '$expand: $it, the outer record, inside an expansion at position 15',
  'Property?$apply=groupby((City))': '$apply: this option',
  'Property?$index=5': '$index: this option',
  'Property?$schemaversion=1': '$schemaversion: this option',
  'Property?$id=x': '$id: this option',
  $batch: 'path: $batch',
  $all: 'path: $all',
  '$crossjoin(Property,Media)': 'path: $crossjoin',
  '$entity?$id=x': 'path: $entity',
  'Property/$ref': 'path: $ref',
  "Property('1001')/ListAgent/$ref": 'path: $ref',
  'Property/$each': 'path: $each',
  "Property/$filter(City eq 'x')": 'path: $filter',
  'Property?$filter=cast(City,Edm.Foo) eq 1': '$filter: cast to the type Edm.Foo at position 1',
  "Property('1001')/$value": 'path: $value',
};

test('valid OData that this service does not implement gets 501 and is named', async () => {
  for (const [request, what] of Object.entries(NOT_IMPLEMENTED)) {
    const message = `${what} is not provided by this service.`;
    assert.deepEqual(await feed.error(request), [501, 'notImplemented', message], request);
  }
});

/** Messages by status and code, and by request. */
const REFUSED = {
  '400 syntax': {
    'Property?$filter=$search(x)': '$filter: found $search at position 1, expected a field, $it or $this.',
    'Property?$filter=ListPrice gt':
      '$filter: found the end at position 13, expected a field, a value or a function.',
    'Property?$filter=ListPrice eq 1)':
      '$filter: found ) at position 15, expected an operator, such as eq or and, or the end.',
    'Property?$filter=(ListPrice eq 1': '$filter: found the end at position 16, expected ")" or an operator.',
    "Property?$filter=contins(City,'x')":
      '$filter: found the function contins at position 1, expected contains.',
    'Property?$filter=contains(City)': '$filter: found 1 argument at position 1, expected 2 for contains.',
    "Property?$filter=City like 'x'":
      '$filter: found like at position 6, expected an operator, such as eq or and, or the end.',
    'Property?$filter=ListPrice + 1 eq 2':
      '$filter: found 1 at position 13, expected an operator, such as eq or and, or the end.',
    'Property?$filter=City eq "x"':
      '$filter: found "x" at position 9, expected a value; a string must be in single quotes.',
    "Property?$filter=City == 'x'":
      '$filter: found = at position 6, expected an operator, such as eq or and, or the end.',
    'Property?$filter=ModificationTimestamp gt 2026-01-01T00:00:00':
      '$filter: found 2026-01-01T00:00:00 at position 26, expected a date and time with its zone, such as 2024-05-31T08:30:00Z (write + as %2B).',
    'Property?$filter=': '$filter: found the end at position 1, expected a field, a value or a function.',
    "Property?$filter=geo.distance(Coordinates,geography'POINT(1)') lt 1":
      "$filter: found 'POINT(1)' at position 35, expected a shape, such as SRID=4326;POINT(-122.4 37.7).",
    'Property?$filter=case(true) eq 1': '$filter: found ) at position 10, expected ":" after the condition.',
    "Property?$filter=City eq 'a' and":
      '$filter: found the end at position 16, expected a field, a value or a function.',
    'Property?$orderby=ListPrice down': '$orderby: found down at position 11, expected "," or the end.',
    'Property?$select=City,': '$select: found the end at position 6, expected a field or *.',
    'Property?$compute=1 add 1': '$compute: found the end at position 8, expected an operator or "as".',
    'Property?$search="a': '$search: found " at position 1, expected a word or a phrase in double quotes.',
    "Property('1001'": 'path: found the end at position 16, expected ")" or ",".',
  },
  '404 recordNotFound': {
    'Property/org.reso.Function()': 'There is no such Property record.',
    "Property('nope')": 'There is no such Property record.',
  },
  '400 fieldUnknown': {
    'Property?$filter=Lisprice eq 1':
      '$filter: Property has no field Lisprice at position 1. Did you mean ListPrice?',
    'Property?$filter=Media/any(m:Order eq 1)': '$filter: Property has no field Order at position 13.',
    'Property?$filter=Media/any(x:m/Order eq 1)': '$filter: Property has no field m at position 13.',
    "Property?$filter=ListAgent/MemberCty eq 'x'":
      '$filter: Member has no field MemberCty at position 11. Did you mean MemberCity?',
    'Property?$orderby=ListPrize':
      '$orderby: Property has no field ListPrize at position 1. Did you mean ListPrice?',
    'Property?$select=Cty': '$select: Property has no field Cty at position 1. Did you mean City?',
    'Property?$expand=Meda': '$expand: Property has no field Meda at position 1. Did you mean Media?',
  },
  '400 typeMismatch': {
    "Property?$filter=ListPrice eq 'x'":
      "$filter: ListPrice (a decimal) and 'x' (a string) cannot be compared (a decimal must be without quotes) at position 14.",
    'Property?$filter=contains(City,1)':
      '$filter: contains takes a string here, not an integer at position 15.',
    "Property?$filter=not City eq 'x'":
      '$filter: not (…) takes a condition, not City (a string) at position 5.',
    "Property?$filter=AccessibilityFeatures eq 'x'":
      '$filter: AccessibilityFeatures is a list; use AccessibilityFeatures/any(x: …), AccessibilityFeatures/all(x: …) or AccessibilityFeatures/$count at position 1.',
    'Property?$filter=ListingContractDate eq 2026-02-30':
      '$filter: 2026-02-30 is not a date of the years 0 to 9999 at position 24.',
    "Property?$filter=matchespattern(City,'(')": "$filter: '(' is not a regular expression at position 21.",
    'Property?$orderby=Media':
      '$orderby: Media is a list; use Media/any(x: …), Media/all(x: …) or Media/$count at position 1.',
    'Property?$expand=City': '$expand: City is a field (use $select), not a navigation, at position 1.',
  },
  '400 optionInvalid': {
    'Property?$expand=Media($top=x)': '$top is "x", but takes a whole number, 0 or more.',
    'Property?$compute=1 as City':
      '$compute is "City", but takes a new name after "as", which is not the name of a field of Property and occurs only once.',
    'Property?$top=-1': '$top is "-1", but takes a whole number, 0 or more.',
    'Property?$skip=a': '$skip is "a", but takes a whole number, 0 or more.',
    'Property?$count=yes': '$count is "yes", but takes true or false.',
  },
  '400 optionUnknown': {
    'Property?$expand=Media($foo=1)': 'The query option $foo inside $expand is not known.',
    'Property?$foo=1': 'The query option $foo is not known.',
    'Property?$levels=2': 'The query option $levels is not known.',
  },
  '400 optionRepeated': {
    'Property?$top=1&$top=2': 'The query option $top is given more than once.',
  },
  '404 resourceUnknown': {
    Propety: 'There is no resource Propety. Did you mean Property?',
  },
  '404 pathNotFound': {
    "Property('1001')/Cty": "There is nothing at Property('1001')/Cty.",
    "Property('1001')/Meda": "There is nothing at Property('1001')/Meda.",
  },
};

test('invalid options get an error with the position, what is expected, or the nearest name', async () => {
  for (const [kind, messages] of Object.entries(REFUSED)) {
    for (const [request, expected] of Object.entries(messages)) {
      const [status, code, message] = await feed.error(request);
      assert.deepEqual([`${status} ${code}`, message], [kind, expected], request);
    }
  }
});
