import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Engine } from '../support/engine.ts';
import { Coverage } from './coverage.ts';
import { expected, makeQuery, type Query, writeQuery } from './odata-query.ts';
import { makeRandom, PLAIN } from './random.ts';
import { smallerTerms } from './shrink.ts';
import { CASTS, FUNCTIONS } from './term.ts';
import { emptyTally, isWhole, runTrial, seeds, type Trial, useBench, walkingOf } from './trial.ts';

/** dayofyear and dayofweek exist only in the native language. */
const CALLED = FUNCTIONS.filter((name) => name !== 'dayofyear' && name !== 'dayofweek');
const KINDS = [
  ...[
    'literal',
    'field',
    'element',
    'compare',
    'in',
    'member',
    'has',
    'and',
    'or',
    'not',
    'arithmetic',
    'negate',
  ],
  ...['call', 'cast', 'isof', 'case', 'matches', 'distance', 'within', 'absent', 'any', 'all', 'count'],
];
const TYPES = ['string', 'integer', 'decimal', 'boolean', 'date', 'timestamp', 'time', 'duration'];
const OPERATORS = ['eq', 'ne', 'gt', 'ge', 'lt', 'le'];
const ARITHMETIC = ['add', 'sub', 'mul', 'div', 'divby', 'mod'];
const EXPECTED = [
  ...KINDS.map((kind) => `kind ${kind}`),
  ...TYPES.map((type) => `literal ${type}`),
  ...TYPES.map((type) => `compare ${type}`),
  ...TYPES.filter((type) => type !== 'time' && type !== 'duration').map((type) => `field ${type}`),
  ...OPERATORS.map((operator) => `compare ${operator}`),
  ...ARITHMETIC.map((operator) => `arithmetic ${operator}`),
  ...CALLED.map((name) => `call ${name}`),
  ...Object.keys(CASTS)
    .filter((name) => name !== 'Edm.Duration' && name !== 'Edm.Boolean')
    .map((name) => `cast ${name}`),
  ...['literal null', 'steps 0', 'steps 1', 'steps 2', 'scope 0', 'scope 1', 'scope 2', 'scope 3'],
  ...[
    'field joined',
    'field custom',
    'any over values',
    'any over records',
    'all over values',
    'all over records',
  ],
  ...['any with filter', 'count over values', 'count over records', 'count with filter'],
  ...['arithmetic date sub duration', 'arithmetic timestamp add duration', 'arithmetic duration add date'],
  ...['arithmetic date sub timestamp', 'arithmetic timestamp sub date', 'arithmetic duration mul decimal'],
  ...[
    'order',
    'order descending',
    'role idx',
    'role private',
    'one system',
    'alias',
    'computed',
    'other resource',
  ],
];
const LEAST = 5;

function note(coverage: Coverage, { filter, order, viewer, resource }: Query, text: string): void {
  if (filter !== undefined) coverage.term(filter);
  for (const { term, descending } of order) {
    coverage.term(term);
    coverage.add(descending ? 'order descending' : 'order');
  }
  coverage.add(`role ${viewer.role}`);
  if (viewer.system !== undefined) coverage.add('one system');
  if (resource !== 'Property') coverage.add('other resource');
  if (text.includes('&@p')) coverage.add('alias');
  if (text.includes('$compute=')) coverage.add('computed');
}

function* smaller(query: Query): Generator<Query> {
  if (query.filter !== undefined && query.order.length > 0) yield { ...query, order: [] };
  for (const index of query.order.keys()) yield { ...query, order: query.order.toSpliced(index, 1) };
  if (query.filter === undefined) return;
  yield { ...query, filter: undefined };
  for (const filter of smallerTerms(query.filter)) yield { ...query, filter };
}

/** Tests random OData queries against the standard. */
export function odataOracle(engine: Engine): void {
  const bench = useBench(engine);
  test('random OData queries return the rows that the standard implies', async () => {
    const { world, now, catalogueOf } = bench();
    const [tally, coverage] = [emptyTally(), new Coverage()];
    for (const seed of seeds(engine)) {
      const query = makeQuery(seed, world, now, catalogueOf);
      const written = writeQuery(query, makeRandom(-seed));
      note(coverage, query, written);
      const trialOf = (asked: Query): Trial => {
        const text = asked === query ? written : writeQuery(asked, PLAIN);
        return {
          resource: asked.resource,
          viewer: asked.viewer,
          text: decodeURIComponent(text.replaceAll('+', ' ')),
          bind: (subject) => subject.bindOData(text, asked.resource, asked.viewer),
          expect: () => expected(asked, world, now),
        };
      };
      await runTrial(seed, query, tally, bench(), trialOf, smaller, walkingOf(seed));
    }
    assert.equal(
      tally.failures.length,
      0,
      `${tally.failures.length} queries differ:\n${tally.failures.join('\n')}`,
    );
    if (!isWhole(engine)) return;
    assert.deepEqual(coverage.rarer(EXPECTED, LEAST), []);
    const count = seeds(engine).length;
    assert.ok(
      tally.selective > count * 0.6,
      `only ${tally.selective} of ${count} queries match some records and not all`,
    );
    assert.ok(tally.open < count * 0.01, `${tally.open} of ${count} orders are left open`);
    assert.ok(tally.unsure < count * 2, `${tally.unsure} records are left open`);
  });
}
