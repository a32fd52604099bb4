import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type CustomFieldDeclaration,
  type Declarations,
  declare,
  standardDictionary,
} from '../../src/dictionary/index.ts';
import { PlatError } from '../../src/errors/index.ts';

const standard = standardDictionary();

const SNOW: CustomFieldDeclaration = {
  resource: 'Property',
  name: 'Winter_SnowRemoval',
  group: 'Winter',
  label: 'Snow Removal',
  type: 'string(50)',
};

/** The message of the error for a declaration. */
function refusal(declarations: Declarations): string {
  try {
    declare(standard, declarations);
  } catch (error) {
    assert.ok(error instanceof PlatError);
    assert.equal(error.code, 'usage');
    return error.message;
  }
  return assert.fail('it was taken');
}

const refusalOf = (field: Partial<CustomFieldDeclaration>): string =>
  refusal({ customFields: [{ ...SNOW, ...field }] });

describe('declared custom fields', () => {
  it('follow the fields of their resource', () => {
    const declared = declare(standard, {
      customFields: [
        SNOW,
        {
          resource: 'Property',
          name: 'LakeLiving_Uses',
          section: 'Details',
          group: 'Lake Living',
          label: 'Water Uses: Summer',
          type: 'string(50)[]',
          lookup: 'WaterUse',
          class: 'idx',
        },
      ],
      lookups: [{ lookup: 'WaterUse', values: ['Sailing'] }],
    });
    const fields = [...(declared.resources.get('Property')?.fields.values() ?? [])];
    assert.deepEqual(fields.slice(-2), [
      {
        resource: 'Property',
        name: 'Winter_SnowRemoval',
        nativeName: 'Winter_SnowRemoval',
        type: { kind: 'string', maxLength: 50 },
        collection: false,
        class: 'private',
        custom: { section: 'Main', group: 'Winter', label: 'Snow Removal' },
      },
      {
        resource: 'Property',
        name: 'LakeLiving_Uses',
        nativeName: 'LakeLiving_Uses',
        type: { kind: 'string', maxLength: 50 },
        collection: true,
        lookup: 'WaterUse',
        class: 'idx',
        custom: { section: 'Details', group: 'Lake Living', label: 'Water Uses: Summer' },
      },
    ]);
    const before = standard.resources.get('Property')?.fields;
    assert.equal(fields.length, (before?.size ?? 0) + 2);
    assert.equal(before?.has('Winter_SnowRemoval'), false);
    assert.equal(declared.resources.get('Member'), standard.resources.get('Member'));
  });

  it('may have the same local name in two resources, or in two groups of one', () => {
    const customFields = [SNOW, { ...SNOW, resource: 'Member' }, { ...SNOW, name: 'Other', group: 'Other' }];
    const declared = declare(standard, { customFields });
    for (const { resource, name } of customFields) {
      assert.ok(declared.resources.get(resource)?.fields.has(name));
    }
  });

  it('are rejected with the reason', () => {
    const named = 'The custom field Property.Winter_SnowRemoval: ';
    assert.equal(
      refusalOf({ resource: 'Proprety' }),
      'The custom field Winter_SnowRemoval is of resource Proprety, which does not exist.',
    );
    for (const name of ['constructor', 'toString', 'hasOwnProperty']) {
      assert.equal(
        refusalOf({ name }),
        `The custom field Property.${name}: its name is one that every object in JavaScript has.`,
      );
    }
    for (const name of ['', '1st', 'Snow Removal', 'Snow-Removal', '_Snow', 'Schnée', 'A'.repeat(129)]) {
      assert.equal(
        refusalOf({ name }),
        `The custom field Property.${name}: its name must begin with a letter and hold letters, digits and underscores, at most 128.`,
      );
    }
    for (const name of ['City', 'city', 'Rooms', 'ROOMS']) {
      assert.equal(refusalOf({ name }), `The custom field Property.${name}: the name is taken.`);
    }
    for (const text of [
      { group: '' },
      { group: ' ' },
      { group: 'A: B' },
      { group: 'A\u0000' },
      { label: '' },
      { label: 'Snow\nRemoval' },
      { label: 'Snow\ud800' },
      { label: 'Snow\ufffe' },
    ]) {
      assert.equal(
        refusalOf(text),
        `${named}it needs a group (without a colon) and a label, neither blank nor with control characters.`,
      );
    }
    for (const type of ['text', 'string(0)', 'integer(3)[]', 'decimal(2,3)']) {
      assert.equal(refusalOf({ type }), `${named}its type ${type} is not known.`);
    }
    assert.equal(refusalOf({ lookup: 'Snow' }), `${named}there is no lookup Snow.`);
    assert.equal(refusalOf({ type: 'date', lookup: 'AreaUnits' }), `${named}only a string has a lookup.`);
  });

  it('are rejected when two have the same name', () => {
    assert.equal(
      refusal({ customFields: [SNOW, { ...SNOW, name: 'winter_snowremoval', label: 'Other' }] }),
      'The custom field Property.winter_snowremoval: the name is taken.',
    );
    assert.equal(
      refusal({ customFields: [SNOW, { ...SNOW, name: 'Other' }] }),
      'The custom field Property.Other: Winter_SnowRemoval has its LocalName.',
    );
  });
});

describe('declared lookups', () => {
  it('add values to a lookup, once, and keep every spelling of the others', () => {
    const { lookups } = declare(standard, {
      lookups: [{ lookup: 'AreaUnits', values: ['Tatami', 'Square Feet', 'Tatami'] }],
    });
    const before = standard.lookups.get('AreaUnits');
    const after = lookups.get('AreaUnits');
    assert.ok(before && after);
    assert.deepEqual([...after.values.keys()], [...before.values.keys(), 'Tatami']);
    assert.deepEqual(after.values.get('Tatami'), { value: 'Tatami' });
    assert.deepEqual([...after.spellings], [...before.spellings, ['Tatami', 'Tatami']]);
    assert.equal(after.closed, false);
    assert.equal(before.values.has('Tatami'), false);
  });

  it('create a new lookup, even without values', () => {
    const { lookups } = declare(standard, {
      lookups: [
        { lookup: 'WaterUse', values: ['Sailing'] },
        { lookup: 'WaterUse', values: ['Fishing'] },
        { lookup: 'City', values: [] },
      ],
    });
    assert.deepEqual([...(lookups.get('WaterUse')?.values.keys() ?? [])], ['Sailing', 'Fishing']);
    assert.equal(lookups.get('City')?.values.size, 0);
  });

  it('are rejected for a closed lookup', () => {
    assert.equal(
      refusal({ lookups: [{ lookup: 'StandardStatus', values: ['Sold'] }] }),
      'The lookup StandardStatus is closed and accepts no further values.',
    );
  });

  it('are rejected when a name or value cannot be written', () => {
    const refused: [string, string[], string][] = [
      ['', ['a'], 'The lookup : "" is blank or contains control characters.'],
      ['WaterUse', ['Sailing', ''], 'The lookup WaterUse: "" is blank or contains control characters.'],
      ['WaterUse', ['\u0007'], 'The lookup WaterUse: "\\u0007" is blank or contains control characters.'],
    ];
    for (const [lookup, values, message] of refused) {
      assert.equal(refusal({ lookups: [{ lookup, values }] }), message);
    }
  });
});

it('nothing declared gives the standard dictionary', () => {
  assert.deepEqual(declare(standard, {}), standard);
});
