import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  and,
  any,
  call,
  city,
  collection,
  compare,
  count,
  expectFilters,
  field,
  filter,
  integer,
  NULL,
  navigationOf,
  oneOf,
  price,
  records,
  refusal,
  restricted,
  text,
  values,
  variable,
} from './fixture.ts';

const order = (scope = 1) => field('Order', { resource: 'Media', scope });

test('paths lead through related records', () => {
  const agent = [navigationOf('ListAgent')];
  const broker = [navigationOf('ListOffice'), navigationOf('OfficeBroker', 'Office')];
  expectFilters({
    "ListAgent/MemberCity eq 'Rome'": compare(
      'eq',
      field('MemberCity', { resource: 'Member', via: agent }),
      text('Rome'),
    ),
    "ListOffice/OfficeBroker/MemberCity eq 'Rome'": compare(
      'eq',
      field('MemberCity', { resource: 'Member', via: broker }),
      text('Rome'),
    ),
    "$it/City eq 'Rome'": compare('eq', city, text('Rome')),
    "$this/City eq 'Rome'": compare('eq', city, text('Rome')),
  });
});

test('lambdas test each record, and may use the variables around them', () => {
  expectFilters({
    'Media/any(m:m/Order eq 1)': any(records('Media'), 1, compare('eq', order(), integer(1))),
    'Media/ANY(m : m/Order eq 1)': any(records('Media'), 1, compare('eq', order(), integer(1))),
    'Media/any()': any(records('Media'), 1),
    'Room/any()': any(records('Rooms'), 1),
    'Media/all(m:m/Order lt BedroomsTotal)': {
      kind: 'all',
      over: records('Media'),
      variable: 1,
      predicate: compare('lt', order(), field('BedroomsTotal')),
    },
    'ListOffice/Media/any()': any(
      records('Media', { resource: 'Office', via: [navigationOf('ListOffice')] }),
      1,
    ),
    'OpenHouses/any(o:o/Media/any(m:m/MediaKey eq o/OpenHouseKey and City eq $it/PostalCity))': any(
      records('OpenHouses'),
      1,
      any(
        records('Media', { scope: 1, resource: 'OpenHouse' }),
        2,
        and(
          compare(
            'eq',
            field('MediaKey', { resource: 'Media', scope: 2 }),
            field('OpenHouseKey', { resource: 'OpenHouse', scope: 1 }),
          ),
          compare('eq', city, field('PostalCity')),
        ),
      ),
    ),
    // A variable takes precedence over a field of the same name, and sibling lambdas share a scope.
    'Media/any(City:City/Order eq 1) and Media/any(m:m/Order eq 1)': and(
      any(records('Media'), 1, compare('eq', order(), integer(1))),
      any(records('Media'), 1, compare('eq', order(), integer(1))),
    ),
  });
});

test('lambdas test each value of a multi-valued lookup', () => {
  expectFilters({
    "Appliances/any(a:a eq 'Cooktop')": any(
      values('Appliances'),
      1,
      compare('eq', variable(1), text('Cooktop')),
    ),
    "Appliances/all(a:startswith(a,'C'))": {
      kind: 'all',
      over: values('Appliances'),
      variable: 1,
      predicate: call('startswith', 'boolean', variable(1), text('C')),
    },
    'Appliances/any(a:Heating/any(h:h eq a))': any(
      values('Appliances'),
      1,
      any(values('Heating'), 2, compare('eq', variable(2), variable(1))),
    ),
    'OpenHouses/any(o:o/Listing/Appliances/any())': any(
      records('OpenHouses'),
      1,
      any(values('Appliances', { scope: 1, via: [navigationOf('Listing', 'OpenHouse')] }), 2),
    ),
  });
});

test('collections can be counted, whole or filtered', () => {
  const second = compare('gt', order(), integer(2));
  const third = compare('lt', order(), integer(9));
  expectFilters({
    'Media/$count gt 5': compare('gt', count(records('Media'), 1), integer(5)),
    'Appliances/$count eq 0': compare('eq', count(values('Appliances'), 1), integer(0)),
    'Media/$count($filter=Order gt 2) ge 1': compare('ge', count(records('Media'), 1, second), integer(1)),
    'Media/$filter(Order gt 2)/$count ge 1': compare('ge', count(records('Media'), 1, second), integer(1)),
    'Media/$filter(Order gt 2)/$filter($this/Order lt 9)/any()': any(records('Media'), 1, and(second, third)),
    'Media/$filter(Order gt 2)/any(m:m/Order lt 9)': any(records('Media'), 1, and(second, third)),
    "Appliances/$count(filter=$this eq 'Cooktop') eq 1": compare(
      'eq',
      count(values('Appliances'), 1, compare('eq', variable(1), text('Cooktop'))),
      integer(1),
    ),
    // Inside the option, names without a prefix are those of the members, and $it is still the listing.
    'OpenHouses/$count($filter=Media/any(m:m/MediaKey eq $it/City)) eq 1': compare(
      'eq',
      count(
        records('OpenHouses'),
        1,
        any(
          records('Media', { scope: 1, resource: 'OpenHouse' }),
          2,
          compare('eq', field('MediaKey', { resource: 'Media', scope: 2 }), city),
        ),
      ),
      integer(1),
    ),
  });
});

test('aliases are replaced by their value wherever they are used', () => {
  const filtered = (query: string) => collection(query).filter;
  assert.deepEqual(
    filtered("$filter=City eq @c and ListPrice gt @p&@c='Rome'&@p=-5"),
    and(compare('eq', city, text('Rome')), compare('gt', price, integer(-5))),
  );
  assert.deepEqual(filtered('$filter=City in @c&@c=["a","b"]'), oneOf(city, text('a'), text('b')));
  assert.deepEqual(filtered("$filter=City in (@a,'b')&@a='a'"), oneOf(city, text('a'), text('b')));
  assert.deepEqual(filtered('$filter=@a gt @b&@a=ListPrice&@b=ListPrice'), compare('gt', price, price));
  assert.deepEqual(filtered('$filter=@m/City eq null&@m=$it'), compare('eq', city, NULL));
  assert.deepEqual(filtered('$filter=City eq @none'), compare('eq', city, NULL));
  // The value of an alias cannot use the variables of a lambda around it.
  assert.deepEqual(
    filtered('$filter=Media/any(City:City/MediaKey eq @a)&@a=City'),
    any(records('Media'), 1, compare('eq', field('MediaKey', { resource: 'Media', scope: 1 }), city)),
  );
});

test('aliases that cannot be resolved are rejected', () => {
  const wrong: Record<string, [string, string]> = {
    '$filter=City eq @a&@a=@b&@b=@a': [
      'syntax',
      '@b: found a name that refers to itself at position 1, expected a value.',
    ],
    '$filter=City eq @a&@a=1': [
      'typeMismatch',
      "$filter: City (a string) and an integer cannot be compared (write '1' for a string) at position 9.",
    ],
    '$filter=City eq @a&@a=Foo': ['fieldUnknown', '@a: Property has no field Foo at position 1.'],
    '$filter=true&@a=(': [
      'syntax',
      '@a: found the end at position 2, expected a field, a value or a function.',
    ],
    '$expand=Media($filter=MediaKey eq @a)&@a=City': [
      'notImplemented',
      '@a: an alias of the request that names fields, used inside an expansion, at position 1 is not provided by this service.',
    ],
    '$expand=Media($filter=MediaKey eq @a)&@a=$it/City': [
      'notImplemented',
      '@a: an alias of the request that names fields, used inside an expansion, at position 1 is not provided by this service.',
    ],
  };
  for (const [query, error] of Object.entries(wrong)) {
    assert.deepEqual(
      refusal(() => collection(query)),
      error,
      query,
    );
  }
});

test('unknown and hidden names get the same error, with the nearest visible name', () => {
  const wrong: Record<string, string> = {
    'Lisprice eq 1': 'Property has no field Lisprice at position 1. Did you mean ListPrice?',
    // A name of the native interface suggests its counterpart, however different the two are.
    "ListAgentId eq '7'": 'Property has no field ListAgentId at position 1. Did you mean ListAgentKey?',
    "CoBuyerOfficeid eq '7'":
      'Property has no field CoBuyerOfficeid at position 1. Did you mean CoBuyerOfficeKey?',
    "Id eq '7'": 'Property has no field Id at position 1. Did you mean ListingKey?',
    "ListAgent/Id eq '7'": 'Member has no field Id at position 11. Did you mean MemberKey?',
    'BedsTotal gt 2': 'Property has no field BedsTotal at position 1. Did you mean BedroomsTotal?',
    "ListAgentName eq 'x'":
      'Property has no field ListAgentName at position 1. Did you mean ListAgentFullName?',
    'Photos/any()': 'Property has no field Photos at position 1. Did you mean Media?',
    'Units/any()': 'Property has no field Units at position 1. Did you mean UnitTypes?',
    'City eq null and listprice eq 1':
      'Property has no field listprice at position 18. Did you mean ListPrice?',
    'AccessCode eq null': 'Property has no field AccessCode at position 1.',
    'AccessCodes eq null': 'Property has no field AccessCodes at position 1.',
    'Latitude eq 1': 'Property has no field Latitude at position 1.',
    "geo.distance(Coordinates,geography'POINT(0 0)') lt 1":
      'Property has no field Coordinates at position 14.',
    'ListTeam/TeamKey eq null': 'Property has no field ListTeam at position 1.',
    'ListAgent/ListPrice eq 1': 'Member has no field ListPrice at position 11.',
    'Media/any(m:m/Oder eq 1)': 'Media has no field Oder at position 15. Did you mean Order?',
    'City eq Brannock': "Property has no field Brannock at position 9 (write 'Brannock' for a string).",
    'City eq Ctiy': 'Property has no field Ctiy at position 9. Did you mean City?',
    'x/City eq 1': 'Property has no field x at position 1.',
  };
  for (const [source, message] of Object.entries(wrong)) {
    const error = refusal(() => filter(source, 'Property', restricted));
    assert.deepEqual(error, ['fieldUnknown', `$filter: ${message}`], source);
  }
});

test('an invalid path is rejected at the segment with the error', () => {
  const wrong: Record<string, string> = {
    'Media/Order eq 1': 'Media is a list, so Order must be inside Media/any(x: …) at position 7',
    'City/$count eq 1': 'a single value has no $count at position 6',
    'City/any(x:true)': 'a single value has no any at position 6',
    'City/Name eq 1': 'a single value has no Name at position 6',
    'ListAgent/$count eq 1': 'ListAgent is one record, not a list, so it has no $count at position 11',
    '$it/any()': 'the record is one record, not a list, so it has no any at position 5',
    "Appliances/$count($filter=City eq 'x') eq 1":
      'City is named where only $this and variables have a value at position 27',
    'Appliances/any(a:a/Name eq 1)': 'a single value has no Name at position 20',
    'ListAgent eq ListAgent': 'ListAgent is a record; name one of its fields after a slash at position 1',
    '$it eq null': 'Property is a record; name one of its fields after a slash at position 1',
  };
  for (const [source, reason] of Object.entries(wrong)) {
    assert.deepEqual(
      refusal(() => filter(source)),
      ['typeMismatch', `$filter: ${reason}.`],
      source,
    );
  }
});

test('features of OData that this service does not support are named in the error', () => {
  const wrong: Record<string, string> = {
    'Foo.Bar/City eq 1': 'the type cast Foo.Bar at position 1',
    'ListAgent/Foo.Bar/MemberKey eq 1': 'the type cast Foo.Bar at position 11',
    'Media/Foo.Bar/any()': 'the type cast Foo.Bar at position 7',
    'City/@Core.Description eq 1': 'the annotation @Core.Description at position 6',
    '@Core.Description eq 1': 'the annotation @Core.Description at position 1',
    "Media('1')/Order eq 1": 'the function or key Media(…) at position 1',
    'Media/$filter(true)(1) eq 1': 'a key in an expression at position 20',
    'ListAgent/Foo.Bar() eq 1': 'the function or key Foo.Bar(…) at position 11',
    '$root/Property/City eq 1': '$root at position 1',
    'Media/$count($search=x) eq 1': '$search inside an expression at position 7',
    'Media/$filter(true)/all(m:true)': 'all after $filter at position 21',
  };
  for (const [source, what] of Object.entries(wrong)) {
    const message = `$filter: ${what} is not provided by this service.`;
    assert.deepEqual(
      refusal(() => filter(source)),
      ['notImplemented', message],
      source,
    );
  }
});

test('the error for a number as a string key of digits says how to write it', () => {
  assert.deepEqual(
    refusal(() => filter('ListingKey gt 100')),
    [
      'typeMismatch',
      "$filter: ListingKey (a string) and an integer cannot be compared (write '100' for a string) at position 15.",
    ],
  );
});
