import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  identifierOf,
  memberName,
  standardDictionary,
  textsOfIdentifier,
} from '../../src/dictionary/index.ts';

/** OData CSDL 17.2. */
const SIMPLE_IDENTIFIER = /^[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Pc}\p{Cf}]{0,127}$/u;

test('a value is named as in the dictionary, or by itself with invalid characters escaped', () => {
  const { lookups } = standardDictionary();
  const status = lookups.get('StandardStatus');
  const names: Record<string, string> = {
    'Active Under Contract': 'ActiveUnderContract',
    Active: 'Active',
  };
  for (const [value, name] of Object.entries(names)) assert.equal(memberName(status, value), name);
  for (const [value, name] of Object.entries({
    Ely: 'Ely',
    'Saint Louis': 'Saint_x0020_Louis',
    '55731': '_x0035_5731',
    'Åland (1/2)': 'Åland_x0020__x0028_1_x002F_2_x0029_',
    a_x0020_b: 'a_x005F_x0020_b',
    '_xF020-': '_x005F_xF020_x002D_',
    a_b: 'a_b',
    '🏡': '_xD83C__xDFE1_',
  })) {
    assert.equal(identifierOf(value), name);
    assert.ok(textsOfIdentifier(name).includes(value), value);
  }
  for (const { values } of lookups.values()) {
    const members = [...values.values()].map(({ value }) => memberName(lookups.get(''), value));
    assert.equal(new Set(members).size, values.size);
  }
});

test('every text has an identifier, no two have the same, and each short one can be decoded', () => {
  const texts = fc.string({
    unit: fc.constantFrom(...'aB_x0 20F-é漢🏡.\u0301'),
    minLength: 1,
    maxLength: 12,
  });
  fc.assert(
    fc.property(texts, texts, (one, other) => {
      const name = identifierOf(one);
      assert.match(name, SIMPLE_IDENTIFIER);
      assert.ok(textsOfIdentifier(name).includes(one));
      assert.equal(name === identifierOf(other), one === other);
    }),
    { seed: -1925716133, numRuns: 500 },
  );
  for (const long of ['x'.repeat(129), ' '.repeat(50), 'x'.repeat(300)]) {
    assert.match(identifierOf(long), SIMPLE_IDENTIFIER);
    assert.notEqual(identifierOf(long), identifierOf(`${long}y`));
  }
});
