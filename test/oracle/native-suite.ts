import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Engine } from '../support/engine.ts';
import { Coverage } from './coverage.ts';
import { expectedNative, makeNativeQuery, type NativeQuery, writeNativeQuery } from './native-query.ts';
import { makeRandom, PLAIN } from './random.ts';
import { smallerFilters } from './shrink.ts';
import { FUNCTIONS } from './term.ts';
import { emptyTally, isWhole, runTrial, seeds, type Trial, useBench, walkingOf } from './trial.ts';

const ELSEWHERE = new Set([
  ...['contains', 'startswith', 'endswith', 'now', 'mindatetime', 'maxdatetime'],
  ...['totaloffsetminutes', 'totalseconds'],
]);
const EXPECTED = [
  ...FUNCTIONS.filter((name) => !ELSEWHERE.has(name)).map((name) => `call ${name}`),
  ...['Eq', 'Ne', 'Gt', 'Ge', 'Lt', 'Le', 'Bt'].map((operator) => `operator ${operator}`),
  ...['add', 'sub', 'mul', 'div', 'mod'].map((operator) => `arithmetic ${operator}`),
  ...['string', 'integer', 'decimal', 'boolean', 'date', 'timestamp'].map((type) => `field ${type}`),
  ...['null', 'literal', 'beyond', 'wildcards', 'regex', 'part', 'range'].map((kind) => `right ${kind}`),
  ...['circle', 'around', 'point', 'multipoint', 'linestring', 'wkt line', 'wkt lines'].map(
    (shape) => `shape ${shape}`,
  ),
  ...['polygon', 'rectangle', 'wkt'].map((shape) => `shape ${shape}`),
  ...['Edm.String', 'Edm.Int64', 'Edm.Decimal'].map((name) => `cast ${name}`),
  ...[
    'condition comparison',
    'condition every',
    'condition place',
    'over a list',
    'kind element',
    'kind negate',
  ],
  ...['depth 0', 'depth 1', 'depth 2', 'negated', 'word And', 'word Or', 'word Not'],
  ...['field joined', 'field custom', 'order', 'order descending', 'role idx', 'role private', 'one system'],
];
const LEAST = 5;

function note(coverage: Coverage, { filter, order, viewer }: NativeQuery): void {
  if (filter !== undefined) coverage.filter(filter);
  for (const { descending } of order) coverage.add(descending ? 'order descending' : 'order');
  coverage.add(`role ${viewer.role}`);
  if (viewer.system !== undefined) coverage.add('one system');
}

function* smaller(query: NativeQuery): Generator<NativeQuery> {
  if (query.filter !== undefined && query.order.length > 0) yield { ...query, order: [] };
  for (const index of query.order.keys()) yield { ...query, order: query.order.toSpliced(index, 1) };
  if (query.filter === undefined) return;
  yield { ...query, filter: undefined };
  for (const filter of smallerFilters(query.filter)) yield { ...query, filter };
}

/** Tests random native queries against the definition of the language. */
export function nativeOracle(engine: Engine): void {
  const bench = useBench(engine);
  test('random native queries return the rows that the definition of the language implies', async () => {
    const { world, now, catalogueOf } = bench();
    const [tally, coverage] = [emptyTally(), new Coverage()];
    for (const seed of seeds(engine)) {
      const query = makeNativeQuery(seed, world, now, catalogueOf);
      const written = writeNativeQuery(query, makeRandom(-seed));
      note(coverage, query);
      const trialOf = (asked: NativeQuery): Trial => {
        const { filter, order } = asked === query ? written : writeNativeQuery(asked, PLAIN);
        return {
          resource: 'Property',
          viewer: asked.viewer,
          text: `_filter=${filter} _orderby=${order}`,
          bind: (subject) => subject.bindNative(filter, order, asked.viewer),
          expect: () => expectedNative(asked, world, now),
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
    assert.ok(tally.unsure < count * 2, `${tally.unsure} records are left open`);
  });
}
