import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  collection,
  compare,
  expanded,
  field,
  fieldOf,
  integer,
  navigationOf,
  refusal,
  resourceOf,
  restricted,
} from './fixture.ts';

test('expansions keep the requested name and their own options', () => {
  const query = collection(
    '$expand=Room,Media($select=Order,MediaURL;$filter=Order gt 2;$orderby=Order desc;$top=3;$skip=1;$count=true;$search=x),ListAgent(select=MemberKey;expand=Office)',
  );
  assert.equal(
    expanded(query),
    'Room:records[*] Media:records[Order,MediaURL] ListAgent:records[MemberKey](Office:records[*])',
  );
  const [room, media] = query.expansions;
  assert.equal(room?.navigation, navigationOf('Rooms'));
  assert.deepEqual(media?.query, {
    resource: resourceOf('Media').resource,
    filter: compare('gt', field('Order', { resource: 'Media' }), integer(2)),
    search: { kind: 'word', text: 'x' },
    order: [{ expression: field('Order', { resource: 'Media' }), descending: true }],
    selection: {
      all: false,
      fields: [fieldOf('Order', 'Media'), fieldOf('MediaURL', 'Media')],
      hidden: [],
    },
    computed: [],
    expansions: [],
    count: true,
    top: 3,
    skip: 1,
  });
  assert.equal(
    expanded(collection('$expand=Unit,OpenHouse,GreenBuildingVerification')),
    'Unit:records[*] OpenHouse:records[*] GreenBuildingVerification:records[*]',
  );
});

test('expansions may return references and counts', () => {
  const query = collection(
    '$expand=Media/$ref($top=1),Rooms/$count($filter=RoomLevel eq null),ListAgent/$ref',
  );
  assert.equal(expanded(query), 'Media:references[*] Rooms:count[*] ListAgent:references[*]');
  assert.deepEqual(query.expansions[1]?.query.filter, {
    kind: 'compare',
    operator: 'eq',
    left: field('RoomLevel', { resource: 'PropertyRooms' }),
    right: { kind: 'literal', type: 'null', value: null },
  });
});

test('a star means every navigation that is not named', () => {
  const { expansions } = collection('$expand=*,Media/$count', 'OpenHouse');
  assert.deepEqual(expansions.map(({ name, give }) => `${name}:${give}`).toSorted(), [
    'HistoryTransactional:records',
    'Listing:records',
    'Media:count',
    'OriginatingSystem:records',
    'ShowingAgent:records',
    'SocialMedia:records',
    'SourceSystem:records',
  ]);
  assert.ok(collection('$expand=*/$ref').expansions.every(({ give }) => give === 'references'));
  const teams = collection('$expand=*', 'Property', restricted).expansions.map(({ name }) => name);
  assert.ok(!teams.includes('ListTeam') && teams.includes('ListAgent'));
});

test('$levels repeats an expansion that leads back to its own resource', () => {
  assert.equal(
    expanded(collection('$expand=MainOffice($levels=3;$select=OfficeKey)', 'Office')),
    'MainOffice:records[OfficeKey](MainOffice:records[OfficeKey](MainOffice:records[OfficeKey]))',
  );
  assert.equal(
    expanded(collection('$expand=MainOffice($levels=max)', 'Office')).match(/MainOffice/g)?.length,
    5,
  );
  assert.equal(expanded(collection('$expand=ListAgent($levels=2)')), 'ListAgent:records[*]');
  const two = collection('$expand=*($levels=2)', 'PropertyRooms');
  const listing = two.expansions.find(({ name }) => name === 'Listing');
  assert.ok(listing);
  assert.ok(listing.query.expansions.some(({ name }) => name === 'Media'));
  assert.ok(listing.query.expansions.every(({ query }) => query.expansions.length === 0));
});

test('an invalid expansion is rejected', () => {
  const wrong: Record<string, [string, string]> = {
    '$expand=Medai': [
      'fieldUnknown',
      '$expand: Property has no field Medai at position 1. Did you mean Media?',
    ],
    '$expand=ListTeam': ['fieldUnknown', '$expand: Property has no field ListTeam at position 1.'],
    '$expand=Media($select=Foo)': ['fieldUnknown', '$expand: Media has no field Foo at position 15.'],
    '$expand=Media,Media': [
      'optionRepeated',
      'The query option Media inside $expand is given more than once.',
    ],
    '$expand=*,*': ['optionRepeated', 'The query option BuyerAgent inside $expand is given more than once.'],
    '$expand=ListAgent/Office': [
      'optionInvalid',
      '$expand is "ListAgent/Office", but takes expansions of expansions in parentheses: ListAgent($expand=Office).',
    ],
    '$expand=ListAgent/*': [
      'optionInvalid',
      '$expand is "ListAgent/*", but takes expansions of expansions in parentheses: ListAgent($expand=*).',
    ],
    '$expand=City/Name': [
      'typeMismatch',
      '$expand: City is a field (use $select), not a navigation, at position 1.',
    ],
    '$expand=Media,City': [
      'typeMismatch',
      '$expand: City is a field (use $select), not a navigation, at position 7.',
    ],
    '$expand=ListAgent/$count': [
      'typeMismatch',
      '$expand: ListAgent leads to one record, so it has no $count at position 1.',
    ],
    '$expand=ListAgent($filter=true)': [
      'optionsConflict',
      '$filter and $expand=ListAgent cannot be combined: ListAgent leads to one record.',
    ],
    '$expand=ListAgent($orderby=MemberKey)': [
      'optionsConflict',
      '$orderby and $expand=ListAgent cannot be combined: ListAgent leads to one record.',
    ],
    '$expand=Media($fliter=true)': [
      'optionUnknown',
      'The query option $fliter inside $expand is not known. Did you mean $filter?',
    ],
    '$expand=Media($skiptoken=1)': [
      'optionUnknown',
      'The query option $skiptoken inside $expand is not known.',
    ],
    '$expand=Media($top=1;top=2)': [
      'optionRepeated',
      'The query option $top inside $expand is given more than once.',
    ],
    '$expand=Media(@a=1;@a=2)': [
      'optionRepeated',
      'The query option @a inside $expand is given more than once.',
    ],
    '$expand=Media/$count($top=1)': ['optionUnknown', 'The query option $top inside $expand is not known.'],
    '$expand=Media($top=1': ['syntax', '$expand: found the end at position 13, expected ")" or ";".'],
    '$expand=Media()': ['syntax', '$expand: found ) at position 7, expected an option, such as $select=….'],
    '$expand=Media($select)': ['syntax', '$expand: found ) at position 14, expected "=" after select.'],
    '$expand=*/$count': ['syntax', '$expand: found $count at position 3, expected $ref after */.'],
    '$expand=$ref': [
      'syntax',
      '$expand: found $ref at position 1, expected an expansion, such as Media, or *.',
    ],
    '$expand=Media/$ref/x': ['syntax', '$expand: found / at position 11, expected "," or the end.'],
    '$expand=Media($levels=6)': ['filterTooLarge', '$expand: more than 5 levels at position 1.'],
    '$expand=$value': [
      'notImplemented',
      '$expand: a media stream at position 1 is not provided by this service.',
    ],
    '$expand=@Core.X': [
      'notImplemented',
      '$expand: the annotation @Core.X at position 1 is not provided by this service.',
    ],
    '$expand=Media/Ns.Photo': [
      'notImplemented',
      '$expand: the type cast Ns.Photo at position 7 is not provided by this service.',
    ],
    '$expand=Media($filter=$it/City eq null)': [
      'notImplemented',
      '$expand: $it, the outer record, inside an expansion at position 15 is not provided by this service.',
    ],
    '$expand=Media($filter=Order eq City)': [
      'fieldUnknown',
      "$expand: Media has no field City at position 24 (write 'City' for a string).",
    ],
  };
  for (const [query, error] of Object.entries(wrong)) {
    assert.deepEqual(
      refusal(() => collection(query, 'Property', restricted)),
      error,
      query,
    );
  }
});

test('aliases in an expansion refer to its records', () => {
  const { expansions } = collection('$expand=Media($filter=@o gt @n;@o=$this/Order;$top=1)&@n=3');
  const order = field('Order', { resource: 'Media' });
  assert.deepEqual(expansions[0]?.query.filter, compare('gt', order, integer(3)));
});
