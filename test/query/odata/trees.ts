/** Random condition trees over listings. */
import fc, { type Arbitrary } from 'fast-check';
import type { Collection, Expression, Scope, ValueType } from '../../../src/query/tree.ts';
import {
  boolean,
  call,
  compare,
  date,
  decimal,
  field,
  integer,
  LOCATION,
  NULL,
  navigationOf,
  records,
  seconds,
  text,
  time,
  timestamp,
  values,
  variable,
} from './fixture.ts';

type Make = (depth: number, scope: Scope) => Arbitrary<Expression>;

/** Arbitraries are cached, since each is built from all smaller ones. */
function kept(make: Make): Make {
  const made = new Map<string, Arbitrary<Expression>>();
  return (depth, scope) => {
    const key = `${depth} ${scope}`;
    const known = made.get(key) ?? make(depth, scope);
    made.set(key, known);
    return known;
  };
}

const agent = [navigationOf('ListAgent')];
const pick = (...choices: readonly Expression[]): Arbitrary<Expression> => fc.constantFrom(...choices);
const wholes = fc.integer({ min: -1_000_000, max: 1_000_000 }).map(integer);
const decimals = fc.integer({ min: -99_999, max: 99_999 }).map((number) => decimal(number / 8));
const texts = fc.string({ unit: 'grapheme', maxLength: 8 }).map(text);
const days = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((day) => date(day.toISOString().slice(0, 10)));
const moments = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((moment) => timestamp(moment.toISOString().replace('.000Z', 'Z')));
const durations = fc.integer({ min: -9_999, max: 9_999 }).map((number) => seconds(number / 4));
const points = fc
  .tuple(fc.integer({ min: -180, max: 180 }), fc.integer({ min: -90, max: 90 }))
  .map(([longitude, latitude]) => ({ longitude, latitude }));

const scopesOf = (scope: Scope): readonly Scope[] => Array.from({ length: scope }, (_, index) => index + 1);

const numbers: Make = kept((depth, scope) => {
  const leaves = fc.oneof(
    wholes,
    decimals,
    pick(
      field('ListPrice'),
      field('BedroomsTotal'),
      ...scopesOf(scope).map((inner) => field('Order', { resource: 'Media', scope: inner })),
    ),
  );
  if (depth === 0) return leaves;
  const below = numbers(depth - 1, scope);
  const arithmetic = fc
    .tuple(fc.constantFrom('add', 'sub', 'mul', 'div', 'divby', 'mod'), below, below)
    .map(([operator, left, right]): Expression => {
      const whole = numberType(left) === 'integer' && numberType(right) === 'integer' && operator !== 'divby';
      return { kind: 'arithmetic', operator, type: whole ? 'integer' : 'decimal', left, right };
    });
  const negated = below
    .filter(({ kind }) => kind !== 'literal')
    .map((operand): Expression => ({ kind: 'negate', type: numberType(operand), operand }));
  return fc.oneof(
    leaves,
    arithmetic,
    negated,
    strings(depth - 1, scope).map((operand) => call('length', 'integer', operand)),
    dates(depth - 1, scope).map((operand) => call('year', 'integer', operand)),
    below.map((operand) => call('round', numberType(operand), operand)),
    points.map((to): Expression => ({ kind: 'distance', location: LOCATION, to })),
    // Only $this and the listing can be named inside.
    numbers(0, 0).map((right): Expression => {
      const order = field('Order', { resource: 'Media', scope: scope + 1 });
      return { kind: 'count', over: media(0), variable: scope + 1, predicate: compare('gt', order, right) };
    }),
    fc.tuple(conditions(depth - 1, scope), below).map(([when, result]): Expression => {
      // biome-ignore lint/suspicious/noThenProperty: the tree has that name.
      return { kind: 'case', type: numberType(result), branches: [{ when, then: result }] };
    }),
  );
});

function numberType(expression: Expression): ValueType {
  switch (expression.kind) {
    case 'count':
      return 'integer';
    case 'distance':
      return 'decimal';
    default:
      return 'type' in expression ? expression.type : 'boolean';
  }
}

const strings: Make = kept((depth, scope) => {
  const leaves = fc.oneof(
    texts,
    pick(
      field('PublicRemarks'),
      field('UnparsedAddress'),
      field('MemberLastName', { resource: 'Member', via: agent }),
    ),
  );
  if (depth === 0) return leaves;
  const below = strings(depth - 1, scope);
  return fc.oneof(
    leaves,
    below.map((operand) => call('tolower', 'string', operand)),
    fc.tuple(below, below).map(([left, right]) => call('concat', 'string', left, right)),
    fc
      .tuple(below, fc.nat(9))
      .map(([operand, start]) => call('substring', 'string', operand, integer(start))),
    numbers(depth - 1, scope).map((operand): Expression => ({ kind: 'cast', type: 'string', operand })),
  );
});

const dates: Make = kept((depth, scope) => {
  const leaves = fc.oneof(days, pick(field('ListingContractDate')));
  if (depth === 0) return leaves;
  return fc.oneof(
    leaves,
    timestamps(depth - 1, scope).map((operand) => call('date', 'date', operand)),
  );
});

const timestamps: Make = kept((depth, scope) => {
  const leaves = fc.oneof(moments, pick(field('ModificationTimestamp'), call('now', 'timestamp')));
  if (depth === 0) return leaves;
  return fc.oneof(
    leaves,
    fc.tuple(timestamps(depth - 1, scope), durations).map(
      ([left, right]): Expression => ({
        kind: 'arithmetic',
        operator: 'sub',
        type: 'timestamp',
        left,
        right,
      }),
    ),
  );
});

const OPERATORS = ['eq', 'ne', 'gt', 'ge', 'lt', 'le'] as const;

function media(scope: Scope): Collection {
  return records('Media', { scope });
}

/** Conditions of a depth that may use lambda variables up to a scope. */
export const conditions: Make = kept((depth, scope) => {
  const leaves = pick(field('WaterfrontYN'), field('NewConstructionYN'), boolean(true), boolean(false));
  if (depth === 0) return leaves;
  const below = conditions(depth - 1, scope);
  const pair = (make: Make) => {
    const side = make(depth - 1, scope);
    return fc
      .tuple(
        fc.constantFrom(...OPERATORS),
        side,
        fc.oneof({ weight: 9, arbitrary: side }, { weight: 1, arbitrary: fc.constant(NULL) }),
      )
      .map(([operator, left, right]) => compare(operator, left, right));
  };
  const lambda = fc
    .tuple(fc.constantFrom('any', 'all'), conditions(depth - 1, scope + 1))
    .map(([kind, predicate]): Expression => ({ kind, over: media(0), variable: scope + 1, predicate }));
  const appliance = texts.map(
    (member): Expression => ({
      kind: 'any',
      over: values('Appliances'),
      variable: scope + 1,
      predicate: compare('eq', variable(scope + 1), member),
    }),
  );
  return fc.oneof(
    leaves,
    pair(numbers),
    pair(strings),
    pair(dates),
    pair(timestamps),
    pair(conditions),
    fc
      .tuple(fc.constantFrom('and', 'or'), fc.array(below, { minLength: 2, maxLength: 4 }))
      .map(([kind, terms]): Expression => ({ kind, terms })),
    below.map((operand): Expression => ({ kind: 'not', operand })),
    fc
      .tuple(strings(depth - 1, scope), fc.array(texts, { maxLength: 3 }))
      .map(([operand, list]): Expression => ({ kind: 'in', operand, values: list })),
    fc
      .tuple(strings(depth - 1, scope), strings(depth - 1, scope))
      .map(([left, right]) => call('contains', 'boolean', left, right)),
    timestamps(depth - 1, scope).map((operand) =>
      compare('lt', call('time', 'time', operand), time('08:30:00')),
    ),
    lambda,
    appliance,
  );
});
