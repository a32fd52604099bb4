/** The standard dictionary as two keys see it, and short functions that build trees. */
import assert from 'node:assert/strict';
import { type Field, type Navigation, standardDictionary } from '../../../src/dictionary/index.ts';
import { type ErrorCode, PlatError } from '../../../src/errors/index.ts';
import { bindOptions, parseFilter, parseQueryOptions } from '../../../src/query/odata/query.ts';
import type { CollectionQuery } from '../../../src/query/request.ts';
import { makeSchema, type ResourceSchema, type Schema } from '../../../src/query/schema.ts';
import type {
  Collection,
  Comparison,
  ComparisonOperator,
  Expression,
  FieldReference,
  FunctionCall,
  FunctionName,
  Literal,
  Location,
  ValueType,
  Variable,
} from '../../../src/query/tree.ts';

const dictionary = standardDictionary();
export const schema = makeSchema(dictionary);
/** Without fields of the class `private`, without Latitude of a listing, and without teams. */
export const restricted = makeSchema(dictionary, {
  resource: ({ name }) => name !== 'Teams',
  field: (field) => field.class !== 'private' && field.name !== 'Latitude',
});

export function resourceOf(name: string, from: Schema = schema): ResourceSchema {
  const found = from.find(name);
  assert.ok(found, `no resource ${name}`);
  return found;
}

export const filter = (text: string, resource = 'Property', from = schema): Expression =>
  parseFilter(text, resourceOf(resource, from), from);

/** Binds the options of a query string on a collection. */
export const collection = (query: string, resource = 'Property', from = schema): CollectionQuery =>
  bindOptions('collection', parseQueryOptions(query), resourceOf(resource, from), from);

/** The tree of an expression of any type. */
export function expression(source: string): Expression | undefined {
  return collection(`$compute=${encodeURIComponent(source)} as Result`).computed[0]?.expression;
}

/** Asserts the tree of each text, as an expression of any type. */
export function expectExpressions(expected: Readonly<Record<string, Expression>>): void {
  for (const [source, tree] of Object.entries(expected)) assert.deepEqual(expression(source), tree, source);
}

/** Asserts the tree of each text, as a filter of listings. */
export function expectFilters(expected: Readonly<Record<string, Expression>>): void {
  for (const [source, tree] of Object.entries(expected)) assert.deepEqual(filter(source), tree, source);
}

/** The names that a query selects, in their order. */
export const selected = ({ selection }: CollectionQuery): string =>
  selection.all ? '*' : selection.fields.map(({ name }) => name).join();

/** Expansions as text: the requested name, what is returned, and what is selected and expanded inside. */
export const expanded = ({ expansions }: CollectionQuery): string =>
  expansions
    .map(({ name, give, query }) => {
      const inner = expanded(query);
      return `${name}:${give}[${selected(query)}]${inner && `(${inner})`}`;
    })
    .join(' ');

/** Runs what must be rejected, and returns the error's code and message. */
export function refusal(run: () => unknown): [ErrorCode, string] {
  try {
    run();
  } catch (error) {
    if (error instanceof PlatError) return [error.code, error.message];
    throw error;
  }
  return assert.fail('it was taken, and should have been refused');
}

export function fieldOf(name: string, resource = 'Property'): Field {
  const found = resourceOf(resource).findField(name);
  assert.ok(found.kind === 'visible', `no field ${name}`);
  return found.field;
}

export function navigationOf(name: string, resource = 'Property'): Navigation {
  const found = resourceOf(resource).findNavigation(name);
  assert.ok(found, `no navigation ${name}`);
  return found;
}

/** The record of a scope: 0, or the one of a lambda over records of a resource. */
export interface In {
  readonly scope?: number;
  readonly resource?: string;
  readonly via?: readonly Navigation[];
}

export function field(name: string, { scope = 0, resource = 'Property', via = [] }: In = {}): FieldReference {
  const found = fieldOf(name, resource);
  const { type } = found;
  const integer = type.kind === 'decimal' && type.scale === 0;
  return { kind: 'field', type: integer ? 'integer' : type.kind, scope, via, field: found };
}

export const city = field('City');
export const price = field('ListPrice');
export const beds = field('BedroomsTotal');
export const contracted = field('ListingContractDate');
export const modified = field('ModificationTimestamp');

export const variable = (scope: number, type: ValueType = 'string'): Variable => ({
  kind: 'variable',
  type,
  scope,
});

export const text = (value: string): Literal => ({ kind: 'literal', type: 'string', value });
export const integer = (value: number): Literal => ({ kind: 'literal', type: 'integer', value });
export const decimal = (value: number): Literal => ({ kind: 'literal', type: 'decimal', value });
export const seconds = (value: number): Literal => ({ kind: 'literal', type: 'duration', value });
export const boolean = (value: boolean): Literal => ({ kind: 'literal', type: 'boolean', value });
export const date = (value: string): Literal => ({ kind: 'literal', type: 'date', value });
export const timestamp = (value: string): Literal => ({ kind: 'literal', type: 'timestamp', value });
export const time = (value: string): Literal => ({ kind: 'literal', type: 'time', value });
export const NULL: Literal = { kind: 'literal', type: 'null', value: null };

export const compare = (operator: ComparisonOperator, left: Expression, right: Expression): Comparison => ({
  kind: 'compare',
  operator,
  left,
  right,
});

export const call = (
  name: FunctionName,
  type: ValueType,
  ...parameters: readonly Expression[]
): FunctionCall => ({ kind: 'call', type, function: name, arguments: parameters });

export const and = (...terms: readonly Expression[]): Expression => ({ kind: 'and', terms });
export const or = (...terms: readonly Expression[]): Expression => ({ kind: 'or', terms });
export const not = (operand: Expression): Expression => ({ kind: 'not', operand });
export const oneOf = (operand: Expression, ...values: readonly Literal[]): Expression => ({
  kind: 'in',
  operand,
  values,
});

export const values = (
  name: string,
  { scope = 0, resource = 'Property', via = [] }: In = {},
): Collection => ({
  kind: 'values',
  scope,
  via,
  field: fieldOf(name, resource),
});

export const records = (
  name: string,
  { scope = 0, resource = 'Property', via = [] }: In = {},
): Collection => ({
  kind: 'records',
  scope,
  via,
  navigation: navigationOf(name, resource),
});

export const any = (over: Collection, on: number, predicate?: Expression): Expression => ({
  kind: 'any',
  over,
  variable: on,
  ...(predicate && { predicate }),
});

export const count = (over: Collection, on: number, predicate?: Expression): Expression => ({
  kind: 'count',
  over,
  variable: on,
  ...(predicate && { predicate }),
});

export const LOCATION: Location = {
  kind: 'location',
  scope: 0,
  via: [],
  latitude: fieldOf('Latitude'),
  longitude: fieldOf('Longitude'),
};
