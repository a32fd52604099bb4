/** The texts that the page Explore makes: conditions in both languages, completions, positions of errors, and CSV. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { complete } from '../../../packages/console/src/pages/explore/completion.ts';
import {
  conditionInWords,
  conditionsIn,
  conditionText,
  markedIn,
  narrowed,
  without,
} from '../../../packages/console/src/pages/explore/conditions.ts';
import type { FieldInfo, ResourceInfo } from '../../../packages/console/src/pages/explore/schema.ts';
import { csvOf } from '../../../packages/console/src/parts/csv.ts';

const field = (name: string, kind: FieldInfo['kind'], more: Partial<FieldInfo> = {}): FieldInfo => ({
  name,
  label: name,
  kind,
  isList: false,
  ...more,
});

const city = field('City', 'text');
const price = field('ListPrice', 'decimal');
const status = field('StandardStatus', 'text', { lookup: 'StandardStatus' });
const appliances = field('Appliances', 'text', { lookup: 'Appliances', isList: true });
const changed = field('ModificationTimestamp', 'timestamp');

const member: ResourceInfo = {
  name: 'Member',
  key: ['MemberKey'],
  fields: [field('MemberCity', 'text')],
  navigations: [],
  isSample: false,
};
const property: ResourceInfo = {
  name: 'Property',
  key: ['ListingKey'],
  fields: [city, price, status, appliances, changed],
  navigations: [{ name: 'ListAgent', isList: false, to: 'Member' }],
  isSample: false,
};
const schema = new Map([
  ['Property', property],
  ['Member', member],
]);

test('a condition is written in the language of each interface, with values escaped', () => {
  assert.equal(conditionText('reso', city, 'is', "Land O'Lakes"), "City eq 'Land O''Lakes'");
  assert.equal(conditionText('native', city, 'is', "Land* O'Lakes"), "City Eq 'Land\\* O\\'Lakes'");
  assert.equal(conditionText('reso', price, 'least', '5'), 'ListPrice ge 5');
  assert.equal(conditionText('native', price, 'empty', ''), 'ListPrice Eq NULL');
  assert.equal(conditionText('reso', appliances, 'isNot', 'Oven'), "not ('Oven' in Appliances)");
  assert.equal(conditionText('native', appliances, 'is', 'Oven'), "Appliances Eq 'Oven'");
  assert.equal(conditionText('reso', city, 'contains', 'a'), "contains(City,'a')");
  assert.equal(conditionText('native', city, 'begins', 'a'), "City Eq startswith('a')");
  const moment = conditionText('reso', changed, 'more', '2026-01-02T03:04');
  assert.equal(moment, 'ModificationTimestamp gt 2026-01-02T03:04:00Z');
});

test('a filter is split at its top-level conjunctions only, not inside literals, parentheses or disjunctions', () => {
  const filter = "City eq 'a and b''s' and (ListPrice gt 5 or ListPrice lt 2) and not (City eq 'c')";
  const parts = ["City eq 'a and b''s'", '(ListPrice gt 5 or ListPrice lt 2)', "not (City eq 'c')"];
  assert.deepEqual(conditionsIn('reso', filter), parts);
  assert.equal(without('reso', filter, parts[1] ?? ''), `${parts[0]} and ${parts[2]}`);
  assert.deepEqual(conditionsIn('reso', 'A eq 1 or B eq 2 and C eq 3'), ['A eq 1 or B eq 2 and C eq 3']);
  assert.equal(narrowed('reso', 'A eq 1 or B eq 2', 'C eq 3'), '(A eq 1 or B eq 2) and C eq 3');
  assert.equal(narrowed('native', "A Eq 'x\\' Or y'", 'C Eq 3'), "A Eq 'x\\' Or y' And C Eq 3");
  assert.deepEqual(conditionsIn('native', 'A Eq 1 Not B Eq 2'), ['A Eq 1 Not B Eq 2']);
  assert.equal(conditionInWords('ListPrice ge 300000', [price]), 'ListPrice is at least 300,000');
  assert.equal(conditionInWords('City eq null', [city]), 'City is empty');
  assert.equal(conditionInWords("contains(City,'a')", [city]), "contains(City,'a')");
});

test('an error is marked at the position that the service reports, counted in characters', () => {
  const filter = "City eq '🏠' and Cty eq 5";
  const message = '$filter: Property has no field Cty at position 17. Did you mean City?';
  const { from = 0, to = 0 } = markedIn(filter, message) ?? {};
  assert.equal(filter.slice(from, to), 'Cty');
  assert.equal(markedIn(filter, 'The service cannot be reached.'), undefined);
  assert.deepEqual(markedIn('City eq', '$filter: found the end at position 8, expected a value.'), {
    from: 7,
    to: 7,
  });
});

test('completion suggests fields, operators, lookup values and conjunctions where each may follow', () => {
  const next = (text: string, name: 'reso' | 'native' = 'reso') =>
    complete(name, text, text.length, property, schema, () => ['Active', "Owner's"]).suggestions.map((each) =>
      each.text.trim(),
    );
  assert.deepEqual(next('ListP'), ['ListPrice']);
  assert.deepEqual(next('ListAgent/'), ['ListAgent/MemberCity']);
  assert.deepEqual(next('ListPrice '), ['eq', 'ne', 'gt', 'ge', 'lt', 'le', 'in']);
  assert.deepEqual(next('City ', 'native'), ['Eq', 'Ne']);
  assert.deepEqual(next('StandardStatus eq '), ["'Active'", "'Owner''s'", 'null']);
  assert.deepEqual(next("StandardStatus in ('Active','O"), ["'Owner''s'"]);
  assert.deepEqual(next('ListPrice gt 5 '), ['and', 'or']);
  assert.deepEqual(next('ListPrice Gt 5 ', 'native'), ['And', 'Or', 'Not']);
  assert.deepEqual(next("City eq 'unfin"), []);
});

test('CSV quotes separators and quotes, and prefixes texts that a spreadsheet would run as formulas', () => {
  const rows = [
    { A: '=1+1', B: 'a "b", c', C: -5, D: null },
    { A: '@x', B: '-2', C: '+1 555', D: ['x', 'y'] },
  ];
  assert.equal(
    csvOf(['A', 'B', 'C', 'D'], rows),
    'A,B,C,D\r\n\'=1+1,"a ""b"", c",-5,\r\n\'@x,-2,\'+1 555,"[""x"",""y""]"\r\n',
  );
});
