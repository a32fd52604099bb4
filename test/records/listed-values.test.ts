/** Values of records as lists, whose positions the records of a page share. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { standardDictionary } from '../../src/dictionary/index.ts';
import { contentHasher } from '../../src/records/content-hash.ts';
import { ListedValues, type Places } from '../../src/records/rows.ts';

test('records that share positions have their own values, also after a further name has a position', () => {
  const places: Places = new Map();
  const names = ['City', 'ListPrice', 'PostalCode'];
  const one = new ListedValues(places);
  one.set('ListPrice', 1);
  assert.deepEqual(one.inOrder(names), [undefined, 1, undefined]);
  const other = new ListedValues(places);
  other.set('PostalCode', '97701');
  other.set('City', 'Bend');
  assert.deepEqual(other.inOrder(names), ['Bend', undefined, '97701']);
  assert.deepEqual(one.inOrder(names), [undefined, 1, undefined]);
  assert.deepEqual(other.toObject(), { PostalCode: '97701', City: 'Bend' });
  assert.equal(one.get('City'), undefined);
});

test('a record names those of its own values that a map lacks, also after a further name has a position', () => {
  const places: Places = new Map();
  const known = new Map([['City', 1]]);
  const one = new ListedValues(places);
  one.set('City', 'Bend');
  one.set('ListPrice', 1);
  assert.deepEqual(one.namesOutside(known), ['ListPrice']);
  const other = new ListedValues(places);
  other.set('City', 'Bend');
  assert.deepEqual(other.namesOutside(known), []);
  other.set('PostalCode', '97701');
  assert.deepEqual(other.namesOutside(known), ['PostalCode']);
  assert.deepEqual(other.namesOutside(new Map()), ['City', 'PostalCode']);
  assert.deepEqual(one.namesOutside(known), ['ListPrice']);
});

test('a list has the same hash as an object of its values', () => {
  const resource = standardDictionary().resources.get('Property');
  assert.ok(resource);
  const values = { PostalCode: '97701', ListingKey: '1', ListPrice: 250_000, Appliances: ['Oven', 'Range'] };
  const listed = new ListedValues(new Map());
  for (const [name, value] of Object.entries(values)) listed.set(name, value);
  const hash = contentHasher(resource, 'replica', new Map(Object.keys(values).map((name) => [name, 1])));
  assert.equal(hash(listed), hash(values));
  assert.notEqual(hash(listed), hash({ ...values, ListPrice: 1 }));
});
