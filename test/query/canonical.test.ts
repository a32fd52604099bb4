import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalText } from '../../src/query/canonical.ts';
import type { Expression, Search } from '../../src/query/tree.ts';
import { collection, field, filter, text } from './odata/fixture.ts';

test('a filter has one canonical text, however it is written', () => {
  const expected: Record<string, string> = {
    "City eq 'Rome' and ListPrice gt 5": '(and (eq $0/City string:"Rome") (gt $0/ListPrice integer:5))',
    "( City  EQ 'Rome' ) AND ListPrice gt 5": '(and (eq $0/City string:"Rome") (gt $0/ListPrice integer:5))',
    'not (WaterfrontYN or City ne null)': '(not (or $0/WaterfrontYN (ne $0/City null:null)))',
    "City in ('a','b')": '(in $0/City string:"a" string:"b")',
    '-ListPrice add 1.5 lt 2': '(lt (add:decimal (negate $0/ListPrice) decimal:1.5) integer:2)',
    "contains(tolower(City),'\"') eq true": '(eq (contains() (tolower() $0/City) string:"\\"") boolean:true)',
    'ModificationTimestamp gt 2024-01-01': '(gt $0/ModificationTimestamp timestamp:"2024-01-01T00:00:00Z")',
    "cast(ListPrice,Edm.String) eq '5'": '(eq (cast:string $0/ListPrice) string:"5")',
    'cast(ListPrice,Edm.Byte) eq 5': '(eq (cast:integer,0,255 $0/ListPrice) integer:5)',
    "matchespattern(City,'a b')": '(matches $0/City "a b")',
    "matchespattern(City,'a b','i')": '(matches-any-case $0/City "a b")',
    'case(WaterfrontYN:1,true:2) eq 1':
      '(eq (case:integer (when $0/WaterfrontYN integer:1) (when boolean:true integer:2)) integer:1)',
    "geo.distance(Coordinates,geography'POINT(-1 2.5)') lt 5":
      '(lt (distance $0/Latitude,Longitude -1,2.5) integer:5)',
    "geo.intersects(Coordinates,geography'POLYGON((0 0,1 0,1 1,0 0))')":
      '(within $0/Latitude,Longitude 0,0 1,0 1,1 0,0)',
    'ListAgent/MemberKey ne null': '(ne $0/ListAgent/MemberKey null:null)',
    'Media/any(m:m/Order eq 1)': '(any $1:$0/Media (eq $1/Order integer:1))',
    'Media/any(photo:photo/Order eq 1)': '(any $1:$0/Media (eq $1/Order integer:1))',
    'Media/any()': '(any $1:$0/Media)',
    "Appliances/all(a:a ne 'x')": '(all $1:$0/Appliances (ne $1 string:"x"))',
    'Media/$count($filter=Order gt 1) eq 2': '(eq (count $1:$0/Media (gt $1/Order integer:1)) integer:2)',
  };
  for (const [source, canonical] of Object.entries(expected)) {
    assert.equal(canonicalText(filter(source)), canonical, source);
  }
});

test('expressions that only the native language has also have a canonical text', () => {
  const like: Expression = {
    kind: 'like',
    operand: field('City'),
    pattern: [{ kind: 'any' }, { kind: 'text', text: '*"' }, { kind: 'one' }],
  };
  assert.equal(canonicalText(like), '(like $0/City * "*\\"" ?)');
});

test('points and polygons are literals like others', () => {
  const corner = { longitude: 1, latitude: 2 };
  assert.equal(canonicalText({ kind: 'literal', type: 'point', value: corner }), '(point 1,2)');
  assert.equal(
    canonicalText({ kind: 'literal', type: 'polygon', value: [corner, corner] }),
    '(polygon 1,2 1,2)',
  );
});

test('a search has a canonical text', () => {
  const search = (source: string): Search => collection(`$search=${source}`).search ?? assert.fail(source);
  assert.equal(
    canonicalText(search('pool (view OR "sea side") NOT noisy')),
    '(search-and (word "pool") (search-or (word "view") (phrase "sea side")) (search-not (word "noisy")))',
  );
  assert.notEqual(canonicalText(search('a')), canonicalText(search('"a"')));
});

test('a text that looks like canonical syntax differs from that syntax', () => {
  const one: Expression = { kind: 'in', operand: field('City'), values: [text('a" string:"b')] };
  const two: Expression = { kind: 'in', operand: field('City'), values: [text('a'), text('b')] };
  assert.notEqual(canonicalText(one), canonicalText(two));
});
