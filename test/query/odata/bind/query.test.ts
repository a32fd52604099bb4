import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bindCount, bindSingle, parseQueryOptions } from '../../../../src/query/odata/index.ts';
import type { CollectionQuery } from '../../../../src/query/request.ts';
import {
  collection,
  compare,
  count,
  date,
  field,
  fieldOf,
  integer,
  navigationOf,
  records,
  refusal,
  resourceOf,
  restricted,
  schema,
} from '../fixture.ts';

/** The names that a query selects, in their order. */
const selected = ({ selection }: CollectionQuery): string =>
  selection.all ? '*' : selection.fields.map(({ name }) => name).join();

/** Expansions as text: the name asked, what is given, and what is selected and expanded inside. */
const expanded = ({ expansions }: CollectionQuery): string =>
  expansions
    .map(({ name, give, query }) => {
      const inner = expanded(query);
      return `${name}:${give}[${selected(query)}]${inner && `(${inner})`}`;
    })
    .join(' ');

test('a request without options asks for everything of every record', () => {
  assert.deepEqual(collection(''), {
    resource: resourceOf('Property').resource,
    order: [],
    selection: { all: true, fields: [], hidden: [] },
    computed: [],
    expansions: [],
    count: false,
  });
});

test('paging and counting', () => {
  const query = collection('$top=5&$skip=15&$count=true&$skiptoken=a%20b&$format=json&custom=1');
  assert.equal(query.top, 5);
  assert.equal(query.skip, 15);
  assert.equal(query.count, true);
  assert.equal(query.skipToken, 'a b');
  assert.equal(collection('$skiptoken=').skipToken, '');
  assert.equal(collection('$count=FALSE').count, false);
  assert.equal(collection('$top=0').top, 0);
});

test('an order has expressions and directions', () => {
  assert.deepEqual(collection('$orderby=ListPrice desc,City ASC, ListAgent/MemberCity').order, [
    { expression: field('ListPrice'), descending: true },
    { expression: field('City'), descending: false },
    {
      expression: field('MemberCity', { resource: 'Member', via: [navigationOf('ListAgent')] }),
      descending: false,
    },
  ]);
  assert.deepEqual(collection('$orderby=Media/$count desc,BedroomsTotal gt 3').order, [
    { expression: count(records('Media'), 1), descending: true },
    { expression: compare('gt', field('BedroomsTotal'), integer(3)), descending: false },
  ]);
  const wrong: Record<string, [string, string]> = {
    'ListPrice down': ['syntax', '$orderby: found down at position 11, expected "," or the end.'],
    'City,': ['syntax', '$orderby: found the end at position 6, expected a field, a value or a function.'],
    Foo: ['fieldUnknown', '$orderby: Property has no field Foo at position 1.'],
    "geography'POINT(0 0)'": ['typeMismatch', '$orderby: a point has no order at position 1.'],
  };
  for (const [order, error] of Object.entries(wrong)) {
    assert.deepEqual(
      refusal(() => collection(`$orderby=${order}`)),
      error,
      order,
    );
  }
});

test('a selection keeps its order and sets hidden fields apart', () => {
  assert.deepEqual(collection('$select=City,AccessCode,ListPrice,City', 'Property', restricted).selection, {
    all: false,
    fields: [fieldOf('City'), fieldOf('ListPrice')],
    hidden: [fieldOf('AccessCode')],
  });
  assert.equal(selected(collection('$select=*,City')), '*');
  // A navigation alone selects its link, and operations of a schema are none.
  assert.equal(selected(collection('$select=City,Media,Ns.*,Ns.Act,Ns.Fn(a,b)')), 'City');
});

test('a selection that cannot be is refused', () => {
  const wrong: Record<string, [string, string]> = {
    '$select=Foo': ['fieldUnknown', '$select: Property has no field Foo at position 1.'],
    '$select=City,Lisprice': [
      'fieldUnknown',
      '$select: Property has no field Lisprice at position 6. Did you mean ListPrice?',
    ],
    '$select=City/Name': ['typeMismatch', '$select: City is a single value and has no Name at position 1.'],
    '$select=AccessCode/Name': ['fieldUnknown', '$select: Property has no field AccessCode at position 1.'],
    '$select=Media/MediaKey': [
      'optionsConflict',
      '$select and $expand do not go together: fields of Media are selected, but it is not expanded.',
    ],
    '$select=Media/Foo&$expand=Media': ['fieldUnknown', '$select: Media has no field Foo at position 7.'],
    '$select=Ns.Type/City': [
      'notImplemented',
      '$select: the type cast Ns.Type at position 1 is not provided by this service.',
    ],
    '$select=@Core.Messages': [
      'notImplemented',
      '$select: the annotation @Core.Messages at position 1 is not provided by this service.',
    ],
    '$select=Appliances($top=1)': [
      'notImplemented',
      '$select: options of an item at position 1 is not provided by this service.',
    ],
    '$select=': ['syntax', '$select: found the end at position 1, expected a field or *.'],
    '$select=City,,Media': ['syntax', '$select: found , at position 6, expected a field or *.'],
    '$select=City Media': ['syntax', '$select: found Media at position 6, expected "," or the end.'],
  };
  for (const [query, error] of Object.entries(wrong)) {
    assert.deepEqual(
      refusal(() => collection(query, 'Property', restricted)),
      error,
      query,
    );
  }
});

test('expansions keep the name that was asked and their own options', () => {
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

test('expansions give references and counts', () => {
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

test('a star stands for every navigation that is not named', () => {
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

test('a selection leads into expansions', () => {
  assert.equal(
    expanded(collection('$select=City,Media/MediaURL,Media/Order&$expand=Media,ListAgent')),
    'Media:records[MediaURL,Order] ListAgent:records[*]',
  );
  assert.equal(
    expanded(collection('$select=Media/MediaURL&$expand=Media($select=Order)')),
    'Media:records[Order,MediaURL]',
  );
  assert.equal(
    expanded(collection('$select=ListAgent/Office/OfficeName&$expand=ListAgent($expand=Office)')),
    'ListAgent:records[](Office:records[OfficeName])',
  );
  assert.equal(expanded(collection('$select=Rooms/RoomKey&$expand=Room')), 'Room:records[RoomKey]');
});

test('an expansion that cannot be is refused', () => {
  const wrong: Record<string, [string, string]> = {
    '$expand=Medai': [
      'fieldUnknown',
      '$expand: Property has no field Medai at position 1. Did you mean Media?',
    ],
    '$expand=ListTeam': ['fieldUnknown', '$expand: Property has no field ListTeam at position 1.'],
    '$expand=Media($select=Foo)': ['fieldUnknown', '$expand: Media has no field Foo at position 15.'],
    '$expand=Media,Media': ['optionRepeated', 'The query option Media inside $expand stands more than once.'],
    '$expand=*,*': ['optionRepeated', 'The query option BuyerAgent inside $expand stands more than once.'],
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
      '$expand: City is a field, which $select names, and leads to no other record at position 1.',
    ],
    '$expand=Media,City': [
      'typeMismatch',
      '$expand: City is a field, which $select names, and leads to no other record at position 7.',
    ],
    '$expand=ListAgent/$count': [
      'typeMismatch',
      '$expand: ListAgent leads to one record, so it has no $count at position 1.',
    ],
    '$expand=ListAgent($filter=true)': [
      'optionsConflict',
      '$filter and $expand=ListAgent do not go together: ListAgent leads to one record.',
    ],
    '$expand=ListAgent($orderby=MemberKey)': [
      'optionsConflict',
      '$orderby and $expand=ListAgent do not go together: ListAgent leads to one record.',
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
      'The query option $top inside $expand stands more than once.',
    ],
    '$expand=Media(@a=1;@a=2)': [
      'optionRepeated',
      'The query option @a inside $expand stands more than once.',
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
      '$expand: Media has no field City at position 24.',
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

test('aliases of an expansion speak of its records', () => {
  const { expansions } = collection('$expand=Media($filter=@o gt @n;@o=$this/Order;$top=1)&@n=3');
  const order = field('Order', { resource: 'Media' });
  assert.deepEqual(expansions[0]?.query.filter, compare('gt', order, integer(3)));
});

test('computed names stand for their expression', () => {
  const perArea = {
    kind: 'arithmetic',
    operator: 'div',
    type: 'decimal',
    left: field('ListPrice'),
    right: field('LivingArea'),
  } as const;
  const twice = {
    kind: 'arithmetic',
    operator: 'mul',
    type: 'decimal',
    left: perArea,
    right: integer(2),
  } as const;
  const query = collection(
    '$compute=ListPrice div LivingArea as PerArea,PerArea mul 2 as Twice&$filter=PerArea gt 9&$orderby=Twice desc&$select=City,Twice',
  );
  assert.deepEqual(query.filter, compare('gt', perArea, integer(9)));
  assert.deepEqual(query.order, [{ expression: twice, descending: true }]);
  assert.deepEqual(query.computed, [{ name: 'Twice', expression: twice }]);
  assert.equal(selected(query), 'City');
  const names = (options: string) => collection(options).computed.map(({ name }) => name);
  assert.deepEqual(names('$compute=1 as A,2 as B'), ['A', 'B']);
  assert.deepEqual(names('$compute=1 as A,2 as B&$select=*'), ['A', 'B']);
  assert.deepEqual(names('$compute=1 as A,2 as B&$select=City'), []);
  const media = collection('$expand=Media($compute=Order add 1 as Next;$filter=Next gt 1)').expansions[0]
    ?.query;
  assert.deepEqual(
    media?.computed.map(({ name }) => name),
    ['Next'],
  );
});

test('computed names that cannot be are refused', () => {
  const taken = (name: string) =>
    `$compute is "${name}", but takes a new name after "as", which no field of Property has and which stands once.`;
  const wrong: Record<string, [string, string]> = {
    '$compute=1 as City': ['optionInvalid', taken('City')],
    '$compute=1 as Media': ['optionInvalid', taken('Media')],
    '$compute=1 as A,2 as A': ['optionInvalid', taken('A')],
    '$compute=B as A,1 as B': ['fieldUnknown', '$compute: Property has no field B at position 1.'],
    '$compute=A as A': ['fieldUnknown', '$compute: Property has no field A at position 1.'],
    '$compute=1': ['syntax', '$compute: found the end at position 2, expected an operator or "as".'],
    '$compute=1 as': ['syntax', '$compute: found the end at position 5, expected a name after "as".'],
    '$compute=1 as A.B': ['syntax', '$compute: found A.B at position 6, expected a name after "as".'],
    '$compute=1 as A&$expand=Media($filter=A eq 1)': [
      'fieldUnknown',
      '$expand: Media has no field A at position 15.',
    ],
    '$compute=AccessCode as A': ['fieldUnknown', '$compute: Property has no field AccessCode at position 1.'],
  };
  for (const [query, error] of Object.entries(wrong)) {
    assert.deepEqual(
      refusal(() => collection(query, 'Property', restricted)),
      error,
      query,
    );
  }
  // The name of a hidden field is as free as any other, or it would tell that the field exists.
  const free = collection('$compute=1 as AccessCode&$select=AccessCode', 'Property', restricted);
  assert.deepEqual(
    [free.computed, free.selection.hidden],
    [[{ name: 'AccessCode', expression: integer(1) }], []],
  );
});

test('options that this service has not are named', () => {
  for (const name of ['apply', 'deltatoken', 'id', 'index', 'schemaversion']) {
    const message = `$${name}: this option is not provided by this service.`;
    assert.deepEqual(
      refusal(() => collection(`$${name}=1`)),
      ['notImplemented', message],
    );
  }
});

test('a single record takes only what speaks of one record', () => {
  const single = (query: string) => bindSingle(parseQueryOptions(query), resourceOf('Property'), schema);
  const query = single('$select=City&$expand=Media($top=1)&$compute=1 as One&$format=json');
  assert.equal(`${selected(query)} ${expanded(query)}`, 'City Media:records[*]');
  for (const option of [
    'filter=true',
    'orderby=City',
    'search=x',
    'count=true',
    'top=1',
    'skip=1',
    'skiptoken=x',
  ]) {
    const [name] = option.split('=');
    const message = `The request is malformed: $${name} does not apply to a single record.`;
    assert.deepEqual(
      refusal(() => single(`$${option}`)),
      ['requestMalformed', message],
    );
  }
});

test('a count takes what limits it', () => {
  const counted = (query: string) => bindCount(parseQueryOptions(query), resourceOf('Property'), schema);
  const query = counted('$filter=ListingContractDate gt 2024-01-01&$search=x&@unused=1');
  assert.deepEqual(query.filter, compare('gt', field('ListingContractDate'), date('2024-01-01')));
  assert.deepEqual(query.search, { kind: 'word', text: 'x' });
  assert.deepEqual(
    refusal(() => counted('$top=1')),
    ['requestMalformed', 'The request is malformed: $top does not apply to a count.'],
  );
});
