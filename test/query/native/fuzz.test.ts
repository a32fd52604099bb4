import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { PlatError } from '../../../src/errors/index.ts';
import { processorTime } from '../../support/processor-time.ts';
import { runsOf } from '../../support/runs.ts';
import { bound } from './fixture.ts';

const SEEDS = [
  "City Eq 'Fargo','Moor*' And (ListPrice Bt 1,2.5 Or BedroomsTotal Ge 3 Mul 2) Not PoolPrivateYN Eq true",
  'tolower(trim(City)) Eq startswith(\'x\') Or "General Description"."Garage" Ne NULL',
  "Location Eq polygon('35 -68, 35 -67, 36 -67') And ModificationTimestamp Gt 2026-01-31T10:00:00.5-06:00",
  "CloseDate Bt days(-7),now() And cast(ListPrice,'character') Eq '1' And City Eq regex('^a(b|c)*$','i')",
  'length(City) Add -(BedroomsTotal Sub 2) Div 3 Gt -(5) And (Not (CloseDate Eq 2026-01-31))',
  "Location Ne wkt('SRID=4326;MULTIPOLYGON(((1 2,3 4,5 6,1 2)))') Or all(Appliances) Eq 'Oven',range('A','B')",
];
const PIECES = [
  ...[
    '(',
    ')',
    ',',
    "'",
    '"',
    '\\',
    '-',
    '.',
    ' ',
    '\n',
    '*',
    '?',
    '0',
    '9',
    '2026-01-01',
    'T10:00',
    '1.5E9',
    '🏡',
  ],
  ...[
    'City',
    'ListPrice',
    'Eq',
    'And',
    'Or',
    'Not',
    'Bt',
    'Add',
    'Div',
    'NULL',
    'true',
    'tolower(',
    "'x'",
    'now()',
  ],
];

const MILLISECONDS = 5;

/** The shortest of several runs, so that a pause of the machine does not count. */
function timeOf(filter: string): number {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 5 && least > MILLISECONDS; tries += 1) {
    const start = processorTime();
    read(filter);
    least = Math.min(least, processorTime() - start);
  }
  return least;
}

/** Asserts that a text gives a tree or an error with a message for users. */
function read(filter: string): PlatError | undefined {
  try {
    bound(filter);
    return undefined;
  } catch (error) {
    if (!(error instanceof PlatError)) throw error;
    return error;
  }
}

const mutation = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  cut: fc.nat({ max: 6 }),
  put: fc.oneof(fc.constantFrom(...PIECES), fc.constant('')),
});
const RUNS = runsOf(5000);

const mutated = fc
  .tuple(fc.constantFrom(...SEEDS), fc.array(mutation, { minLength: 1, maxLength: 5 }))
  .map(([seed, mutations]) =>
    mutations.reduce((text, { at, cut, put }) => {
      const place = Math.floor(at * text.length);
      return text.slice(0, place) + put + text.slice(place + cut);
    }, seed),
  );

describe('any text', () => {
  it('accepts the seeds', () => {
    assert.deepEqual(
      SEEDS.map(read),
      SEEDS.map(() => undefined),
    );
  });

  it('is parsed or rejected quickly, with an explanation', () => {
    let refused = 0;
    fc.assert(
      fc.property(mutated, (filter) => {
        const error = read(filter);
        if (error !== undefined) {
          refused += 1;
          assert.ok([400, 501].includes(error.status), error.message);
          assert.equal(error.target, '_filter');
          assert.ok(error.message.startsWith('_filter: '));
          assert.equal(error.sparkql[0]?.message, error.message);
        }
        assert.ok(timeOf(filter) < MILLISECONDS, filter);
      }),
      { seed: 99, numRuns: RUNS },
    );
    assert.ok(refused > RUNS * 0.4 && refused < RUNS, `${refused} of ${RUNS} were refused`);
  });
});

describe('texts that are made to be slow', () => {
  const KILOBYTES = 16_000;
  const fill = (piece: string): string => piece.repeat(Math.floor(KILOBYTES / piece.length));
  const list = (count: number, piece: string, between: string): string =>
    Array.from({ length: count }, () => piece).join(between);
  const bombs: readonly (readonly [string, string])[] = [
    ['parentheses', fill('(')],
    ['closed parentheses', `${'('.repeat(8000)}City${')'.repeat(8000)} Eq 'x'`],
    ['parentheses on the right', `City Eq ${fill('(')}`],
    ['minus signs', `ListPrice Gt ${fill('-')}5`],
    ['negated parentheses', `ListPrice Gt ${fill('-(')}`],
    ['functions', fill('trim(')],
    ['arguments', `concat(City${fill(",'x'")}) Eq 'x'`],
    ['values', `BedroomsTotal Eq ${fill('1,')}1`],
    ['conditions', `${fill('City Eq NULL Or ')}City Eq NULL`],
    ['unknown names', list(75, 'ListPrise Eq 1', ' And ')],
    ['values of a wrong type', list(75, `City Eq ${list(80, '1', ',')}`, ' Or ')],
    ['sums', `${list(200, 'ListPrice', ' Add ')} Eq 1`],
    ['products', `ListPrice Eq ${list(200, '1.0E99', ' Mul ')}`],
    ['small products', `ListPrice Eq ${list(200, '1.0E-99', ' Mul ')}`],
    ['digits', `ListPrice Eq ${'9'.repeat(7900)} Mul ${'9'.repeat(7900)}`],
    ['wildcards', `City Eq '${fill('*')}'`],
    ['backslashes', `City Eq '${fill('\\')}`],
    ['a quote without end', `City Eq '${fill('x')}`],
    ['double quotes', fill('"')],
    ['a group without end', `"${fill('x')}`],
    ['groups of a pattern', `City Eq regex('${fill('(')}')`],
    ['classes of a pattern', `City Eq regex('${fill('[[:alpha:]')}')`],
    ['letters of a pattern', `City Eq regex('${fill(String.raw`\pL`)}')`],
    ['repetitions in a pattern', list(75, "City Eq regex('x{999}')", ' Or ')],
    ['points', `Location Eq polygon('${fill('1 2,')}1 2')`],
    ['rings', `Location Eq wkt('POLYGON(${fill('(1 2,3 4,5 6,1 2),')}(1 2,3 4,5 6,1 2))')`],
    ['parentheses of a shape', `Location Eq wkt('POLYGON(${fill('(')}')`],
    ['spaces', `City${fill(' ')}Eq 'x'`],
    ['one long name', `City${fill('x')} Eq 1`],
  ];
  for (const [title, filter] of bombs) {
    it(title, () => {
      const time = timeOf(filter);
      assert.ok(time < MILLISECONDS, `${time} ms`);
    });
  }
});
