/** A small listing resource for tests of the native language. */
import assert from 'node:assert/strict';
import { type Dictionary, type Field, makeLookup, type Resource } from '../../../src/dictionary/index.ts';
import { PlatError } from '../../../src/errors/index.ts';
import { bindFilter } from '../../../src/query/native/filter.ts';
import { type NativeNames, resourceNames } from '../../../src/query/native/names.ts';
import { makeSchema } from '../../../src/query/schema.ts';
import type { Expression, FieldReference, Literal, Location, ValueType } from '../../../src/query/tree.ts';

export const NOW = new Date('2026-03-14T15:09:26.500Z');

const make = (name: string, type: Field['type'], rest: Partial<Field> = {}): Field => ({
  resource: 'Property',
  name,
  nativeName: name,
  type,
  collection: false,
  class: 'open',
  ...rest,
});
const TEXT = { kind: 'string' } as const;
const COORDINATE = { kind: 'decimal', precision: 12, scale: 8 } as const;
const PRICE = { kind: 'decimal', precision: 14, scale: 2 } as const;

const FIELDS = [
  make('ListingKey', TEXT),
  make('City', TEXT),
  make('StandardStatus', TEXT, { lookup: 'StandardStatus' }),
  make('ListAgentKey', TEXT, { nativeName: 'ListAgentId' }),
  make('ListPrice', PRICE),
  make('BedroomsTotal', { kind: 'integer' }),
  make('PoolPrivateYN', { kind: 'boolean' }),
  make('CloseDate', { kind: 'date' }),
  make('ModificationTimestamp', { kind: 'timestamp' }),
  make('Appliances', TEXT, { collection: true, lookup: 'Appliances' }),
  make('Heating', TEXT, { collection: true }),
  make('Latitude', COORDINATE),
  make('Longitude', COORDINATE),
  make('PrivateRemarks', TEXT, { class: 'private' }),
  make('MAIN_Garage', TEXT, { custom: { section: 'Main', group: 'General Description', label: 'Garage' } }),
  make('MAIN_Secret', TEXT, {
    class: 'private',
    custom: { section: 'Main', group: 'General Description', label: 'Secret' },
  }),
];

const property: Resource = {
  name: 'Property',
  key: 'ListingKey',
  always: true,
  otherNames: [],
  fields: new Map(FIELDS.map((field) => [field.name, field])),
  fieldAliases: new Map(),
  navigations: new Map(),
  searchedBy: [],
};

const dictionary: Dictionary = {
  resources: new Map([['Property', property]]),
  lookups: new Map([
    ['StandardStatus', makeLookup('StandardStatus', true, [{ value: 'Coming Soon', legacy: 'ComingSoon' }])],
    ['Appliances', makeLookup('Appliances', false, [{ value: 'Gas Range', legacy: 'GasRange' }])],
  ]),
};

export const schema = makeSchema(dictionary, {
  resource: () => true,
  field: (field) => field.class === 'open',
});
export const names: NativeNames = resourceNames('listings', schema.of('Property'), schema);

export function fieldNamed(name: string): Field {
  const field = property.fields.get(name);
  assert.ok(field, `the fixture has no field ${name}`);
  return field;
}

/** The tree's reference to a field. */
export function ref(name: string): FieldReference {
  const field = fieldNamed(name);
  return { kind: 'field', type: field.type.kind, scope: 0, via: [], field };
}

export const text = (value: string): Literal => ({ kind: 'literal', type: 'string', value });
export const whole = (value: number): Literal => ({ kind: 'literal', type: 'integer', value });
export const decimal = (value: number): Literal => ({ kind: 'literal', type: 'decimal', value });
export const date = (value: string): Literal => ({ kind: 'literal', type: 'date', value });
export const timestamp = (value: string): Literal => ({ kind: 'literal', type: 'timestamp', value });
export const boolean = (value: boolean): Literal => ({ kind: 'literal', type: 'boolean', value });
export const NULL: Literal = { kind: 'literal', type: 'null', value: null };

type ComparisonOperator = 'eq' | 'ne' | 'gt' | 'ge' | 'lt' | 'le';
export const compare = (operator: ComparisonOperator, left: Expression, right: Expression): Expression => ({
  kind: 'compare',
  operator,
  left,
  right,
});
export const and = (...terms: Expression[]): Expression => ({ kind: 'and', terms });
export const or = (...terms: Expression[]): Expression => ({ kind: 'or', terms });
export const not = (operand: Expression): Expression => ({ kind: 'not', operand });

/** The predicate for any member of a multi-valued field. */
export const anyOf = (name: string, predicate?: Expression, variable = 1): Expression => ({
  kind: 'any',
  over: { kind: 'values', scope: 0, via: [], field: fieldNamed(name) },
  variable,
  ...(predicate === undefined ? {} : { predicate }),
});
export const member = (scope = 1, type: ValueType = 'string'): Expression => ({
  kind: 'variable',
  type,
  scope,
});

export const location: Location = {
  kind: 'location',
  scope: 0,
  via: [],
  latitude: fieldNamed('Latitude'),
  longitude: fieldNamed('Longitude'),
};

export const bound = (filter: string): Expression | undefined => bindFilter(filter, names, { now: NOW });

/** The error that a call throws, which must be one with a message for users. */
export function errorFrom(run: () => unknown): PlatError {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof PlatError, `not an error of plat's: ${String(error)}`);
    return error;
  }
  return assert.fail('it was taken');
}

export const errorOf = (filter: string): PlatError => errorFrom(() => bound(filter));
