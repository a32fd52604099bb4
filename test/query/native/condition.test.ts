import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Expression } from '../../../src/query/tree.ts';
import {
  and,
  anyOf,
  boolean,
  bound,
  compare,
  date,
  decimal,
  member,
  NULL,
  not,
  or,
  ref,
  text,
  timestamp,
  whole,
} from './fixture.ts';

const isIn = (operand: Expression, ...values: ReturnType<typeof text>[]): Expression => ({
  kind: 'in',
  operand,
  values,
});
const call = (fn: 'startswith' | 'endswith' | 'contains', operand: Expression, what: string): Expression => ({
  kind: 'call',
  type: 'boolean',
  function: fn,
  arguments: [operand, text(what)],
});
const likeF: Expression = {
  kind: 'like',
  operand: ref('City'),
  pattern: [{ kind: 'text', text: 'F' }, { kind: 'any' }],
};
const otherwise = (expression: Expression): Expression => compare('ne', expression, boolean(true));

function table(title: string, cases: readonly (readonly [string, Expression])[]): void {
  describe(title, () => {
    for (const [filter, expected] of cases) it(filter, () => assert.deepEqual(bound(filter), expected));
  });
}

it('an empty filter is no filter', () => {
  assert.equal(bound(''), undefined);
  assert.equal(bound('  '), undefined);
});

table('comparisons', [
  ["City Eq 'Fargo'", compare('eq', ref('City'), text('Fargo'))],
  ["City Ne 'Fargo'", compare('ne', ref('City'), text('Fargo'))],
  ["ListAgentId Eq '1'", compare('eq', ref('ListAgentKey'), text('1'))],
  ["Id Eq '1'", compare('eq', ref('ListingKey'), text('1'))],
  ['"General Description"."Garage" Eq \'2\'', compare('eq', ref('MAIN_Garage'), text('2'))],
  ['ListPrice Gt 100', compare('gt', ref('ListPrice'), decimal(100))],
  ['ListPrice Ge 100.5', compare('ge', ref('ListPrice'), decimal(100.5))],
  ['BedroomsTotal Lt 3', compare('lt', ref('BedroomsTotal'), whole(3))],
  ['BedroomsTotal Le -3', compare('le', ref('BedroomsTotal'), whole(-3))],
  ['PoolPrivateYN Eq true', compare('eq', ref('PoolPrivateYN'), boolean(true))],
  ['PoolPrivateYN Ne false', compare('ne', ref('PoolPrivateYN'), boolean(false))],
  ['City Eq NULL', compare('eq', ref('City'), NULL)],
  ['ListPrice Ne NULL', compare('ne', ref('ListPrice'), NULL)],
  [
    'ListPrice Bt 1,2.5',
    and(compare('ge', ref('ListPrice'), decimal(1)), compare('le', ref('ListPrice'), decimal(2.5))),
  ],
]);

table('dates and timestamps', [
  ['CloseDate Eq 2026-01-31', compare('eq', ref('CloseDate'), date('2026-01-31'))],
  // A timestamp means the day that it names in its own time zone.
  ['CloseDate Gt 2026-01-31T23:30:00-06:00', compare('gt', ref('CloseDate'), date('2026-01-31'))],
  [
    'ModificationTimestamp Ge 2026-01-31',
    compare('ge', ref('ModificationTimestamp'), timestamp('2026-01-31T00:00:00Z')),
  ],
  [
    'ModificationTimestamp Gt 2026-01-31T23:30-06:00',
    compare('gt', ref('ModificationTimestamp'), timestamp('2026-02-01T05:30:00Z')),
  ],
  [
    'ModificationTimestamp bt 2026-01-31T00:00:00Z,2026-02-01T00:00:00.250+0100',
    and(
      compare('ge', ref('ModificationTimestamp'), timestamp('2026-01-31T00:00:00Z')),
      compare('le', ref('ModificationTimestamp'), timestamp('2026-01-31T23:00:00.250Z')),
    ),
  ],
  [
    'ModificationTimestamp Bt 2026-01-31,2026-02-01T06:00:00',
    and(
      compare('ge', ref('ModificationTimestamp'), timestamp('2026-01-31T00:00:00Z')),
      compare('le', ref('ModificationTimestamp'), timestamp('2026-02-01T06:00:00Z')),
    ),
  ],
  [
    'ModificationTimestamp Lt maxdatetime()',
    compare('lt', ref('ModificationTimestamp'), timestamp('9999-12-31T23:59:59Z')),
  ],
]);

// Stored times have at most six digits of a second, so that a finer bound lies between two of them.
table('times finer than a microsecond', [
  [
    'ModificationTimestamp Ge 2026-01-31T10:00:00.1234567Z',
    compare('ge', ref('ModificationTimestamp'), timestamp('2026-01-31T10:00:00.1234567Z')),
  ],
  [
    'ModificationTimestamp Eq 2026-01-31T10:00:00.1234567Z',
    compare('eq', ref('ModificationTimestamp'), timestamp('2026-01-31T10:00:00.1234567Z')),
  ],
  [
    'ModificationTimestamp Lt 2026-01-31T10:00:00.1234560Z',
    compare('lt', ref('ModificationTimestamp'), timestamp('2026-01-31T10:00:00.123456Z')),
  ],
]);

table('lists', [
  ["City Eq 'A','B'", isIn(ref('City'), text('A'), text('B'))],
  ["City Ne 'A','B'", not(isIn(ref('City'), text('A'), text('B')))],
  ["City Eq ('A')", compare('eq', ref('City'), text('A'))],
  ['BedroomsTotal Eq 1,2', isIn(ref('BedroomsTotal'), whole(1), whole(2))],
  ['ListPrice Eq 1,2.5', isIn(ref('ListPrice'), decimal(1), decimal(2.5))],
  ['CloseDate Eq days(-1),days(1)', isIn(ref('CloseDate'), date('2026-03-13'), date('2026-03-15'))],
  [
    "City Eq 'A','F*',startswith('G'),'B'",
    or(isIn(ref('City'), text('A'), text('B')), likeF, call('startswith', ref('City'), 'G')),
  ],
]);

table('lookups', [
  ["StandardStatus Eq 'Coming Soon'", isIn(ref('StandardStatus'), text('Coming Soon'), text('ComingSoon'))],
  ["StandardStatus Eq 'ComingSoon'", isIn(ref('StandardStatus'), text('ComingSoon'), text('Coming Soon'))],
  [
    "StandardStatus Ne 'ComingSoon'",
    not(isIn(ref('StandardStatus'), text('ComingSoon'), text('Coming Soon'))),
  ],
  ["StandardStatus Eq 'Other'", compare('eq', ref('StandardStatus'), text('Other'))],
  [
    "tolower(StandardStatus) Eq 'ComingSoon'",
    compare(
      'eq',
      { kind: 'call', type: 'string', function: 'tolower', arguments: [ref('StandardStatus')] },
      text('ComingSoon'),
    ),
  ],
  ["Appliances Eq 'GasRange'", anyOf('Appliances', isIn(member(), text('GasRange'), text('Gas Range')))],
]);

table('multi-valued fields', [
  ["Appliances Eq 'Oven'", anyOf('Appliances', compare('eq', member(), text('Oven')))],
  ["Appliances Ne 'Oven'", not(anyOf('Appliances', compare('eq', member(), text('Oven'))))],
  ["Appliances Eq 'Oven','Range'", anyOf('Appliances', isIn(member(), text('Oven'), text('Range')))],
  ['Appliances Eq NULL', not(anyOf('Appliances'))],
  ['Appliances Ne NULL', anyOf('Appliances')],
  [
    "Appliances Eq 'O*'",
    anyOf('Appliances', {
      kind: 'like',
      operand: member(),
      pattern: [{ kind: 'text', text: 'O' }, { kind: 'any' }],
    }),
  ],
  [
    'length(Appliances) Gt 5',
    anyOf(
      'Appliances',
      compare('gt', { kind: 'call', type: 'integer', function: 'length', arguments: [member()] }, whole(5)),
    ),
  ],
  [
    'length(Appliances) Add length(Heating) Bt 1,9',
    anyOf(
      'Appliances',
      anyOf(
        'Heating',
        and(
          ...(['ge', 'le'] as const).map((operator, index) =>
            compare(
              operator,
              {
                kind: 'arithmetic',
                type: 'integer',
                operator: 'add',
                left: { kind: 'call', type: 'integer', function: 'length', arguments: [member(1)] },
                right: { kind: 'call', type: 'integer', function: 'length', arguments: [member(2)] },
              },
              whole(index === 0 ? 1 : 9),
            ),
          ),
        ),
        2,
      ),
    ),
  ],
  [
    "all(Appliances) Eq 'Oven','Range'",
    and(
      anyOf('Appliances', compare('eq', member(), text('Oven'))),
      anyOf('Appliances', compare('eq', member(), text('Range'))),
    ),
  ],
  [
    "all(Appliances) Ne 'Oven','Range'",
    not(
      and(
        anyOf('Appliances', compare('eq', member(), text('Oven'))),
        anyOf('Appliances', compare('eq', member(), text('Range'))),
      ),
    ),
  ],
  ["all(City) Eq 'A'", compare('eq', ref('City'), text('A'))],
]);

table('text patterns', [
  ["City Eq 'F*'", likeF],
  ["City Ne 'F*'", otherwise(likeF)],
  [
    "City Eq '?a*b'",
    {
      kind: 'like',
      operand: ref('City'),
      pattern: [{ kind: 'one' }, { kind: 'text', text: 'a' }, { kind: 'any' }, { kind: 'text', text: 'b' }],
    },
  ],
  [
    String.raw`City Eq '100\*?'`,
    { kind: 'like', operand: ref('City'), pattern: [{ kind: 'text', text: '100*' }, { kind: 'one' }] },
  ],
  [String.raw`City Eq 'what\?'`, compare('eq', ref('City'), text('what?'))],
  [String.raw`City Eq 'a\b'`, compare('eq', ref('City'), text(String.raw`a\b`))],
  ["City Eq ''", compare('eq', ref('City'), text(''))],
  ["City Eq contains('x*')", call('contains', ref('City'), 'x*')],
  ["City Eq endswith('x')", call('endswith', ref('City'), 'x')],
  ["City Ne startswith('x')", otherwise(call('startswith', ref('City'), 'x'))],
  [
    "City Eq regex('^F.*o$','i')",
    { kind: 'matches', operand: ref('City'), pattern: '^F.*o$', ignoreCase: true },
  ],
  [
    "City Eq range('A','C')",
    and(compare('ge', ref('City'), text('A')), compare('le', ref('City'), text('C'))),
  ],
  [
    "City Ne range('A','C')",
    not(and(compare('ge', ref('City'), text('A')), compare('le', ref('City'), text('C')))),
  ],
]);

const a = compare('eq', ref('City'), text('A'));
const one = compare('eq', ref('BedroomsTotal'), whole(1));
const two = compare('eq', ref('BedroomsTotal'), whole(2));
table('joined conditions', [
  ["City Eq 'A' And BedroomsTotal Eq 1 Or BedroomsTotal Eq 2", or(and(a, one), two)],
  ["City Eq 'A' And (BedroomsTotal Eq 1 And BedroomsTotal Eq 2)", and(a, one, two)],
  ["City Eq 'A' Not BedroomsTotal Eq 1", and(a, not(one))],
  ["Not (City Eq 'A' Or BedroomsTotal Eq 1)", not(or(a, one))],
  ["Not (Not City Eq 'A')", not(not(a))],
  ["City Eq 'A' Not City Eq 'F*'", and(a, otherwise(likeF))],
  ["Not (City Eq 'A' Or City Eq 'F*')", otherwise(or(a, likeF))],
  ["Not (Not City Eq 'F*')", not(otherwise(likeF))],
  [
    'BedroomsTotal Bt 1,2 And BedroomsTotal Eq 1',
    and(compare('ge', ref('BedroomsTotal'), whole(1)), compare('le', ref('BedroomsTotal'), whole(2)), one),
  ],
]);
