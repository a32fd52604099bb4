import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseResourcePath } from '../../../src/query/odata/resource-path.ts';
import { processorTime } from '../../support/processor-time.ts';
import { collection, filter, refusal, schema } from './fixture.ts';

const LONGEST = 16_384;
/** As often as fits into the longest URL. */
const full = (part: string): string => part.repeat(Math.floor(LONGEST / part.length));

/** The shortest of five runs, so that other load does not count. */
function milliseconds(run: () => unknown): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 5; round++) {
    const start = processorTime();
    run();
    least = Math.min(least, processorTime() - start);
  }
  return least;
}

test('nesting is limited, and the error has the position that exceeds the limit', () => {
  const deep = (open: string, inner: string, close: string, times: number) =>
    open.repeat(times) + inner + close.repeat(times);
  assert.deepEqual(filter(deep('(', 'WaterfrontYN', ')', 99)), filter('WaterfrontYN'));
  assert.deepEqual(
    refusal(() => filter(deep('(', 'true', ')', 100))),
    ['filterTooLarge', '$filter: more than 100 levels of nesting at position 101.'],
  );
  assert.equal(filter(deep('not (', 'true', ')', 49)).kind, 'not');
  assert.equal(filter(`1${' add 1'.repeat(98)} eq 1`).kind, 'compare');
  assert.deepEqual(
    refusal(() => filter(`1${' add 1'.repeat(99)} eq 1`)),
    ['filterTooLarge', '$filter: more than 100 levels of nesting at position 1.'],
  );
});

test('nested lambdas are limited', () => {
  const within = (times: number) =>
    `${Array.from({ length: times }, (_, index) => `Media/any(v${index}:`).join('')}true${')'.repeat(times)}`;
  assert.equal(filter(within(10)).kind, 'any');
  assert.deepEqual(
    refusal(() => filter(within(11))),
    ['filterTooLarge', '$filter: more than 10 lists inside each other at position 137.'],
  );
  const counts = (times: number) =>
    `Media/$count($filter=${'Order gt $it/Media/$count($filter='.repeat(times - 1)}true`;
  assert.deepEqual(refusal(() => filter(`${counts(11)}${')'.repeat(11)} gt 1`)).slice(0, 1), [
    'filterTooLarge',
  ]);
});

test('terms and values are limited', () => {
  const terms = (number: number) => Array(number).fill('1 eq 1').join(' or ');
  assert.equal(filter(terms(1_999)).kind, 'or');
  assert.deepEqual(
    refusal(() => filter(terms(2_000))),
    ['filterTooLarge', '$filter: more than 2000 terms at position 19991.'],
  );
  const list = (number: number) => `BedroomsTotal in (${Array(number).fill('1').join()})`;
  assert.equal(filter(list(2_000)).kind, 'in');
  assert.deepEqual(
    refusal(() => filter(list(2_001))),
    ['filterTooLarge', '$filter: more than 2000 values in a list at position 18.'],
  );
  assert.deepEqual(
    refusal(() => collection(`$search=${Array(2_001).fill('a').join('+')}`)),
    ['filterTooLarge', '$search: more than 2000 terms at position 4001.'],
  );
});

test('aliases and computed names count wherever they are used', () => {
  const doubled = (names: readonly string[]) =>
    names.map((name, index) => `@${name}=@${names[index + 1] ?? 'end'} and @${names[index + 1] ?? 'end'}`);
  const names = Array.from({ length: 30 }, (_, index) => `a${index}`);
  const [code, message] = refusal(() => collection(`$filter=@a0&${doubled(names).join('&')}&@end=true`));
  assert.deepEqual(
    [code, message.replace(/^@a\d+/, '@a')],
    ['filterTooLarge', '@a: more than 2000 terms at position 1.'],
  );
  const chain = names.map(
    (name, index) => `${names[index - 1] ?? 'ListPrice'} add ${names[index - 1] ?? 'ListPrice'} as ${name}`,
  );
  assert.equal(refusal(() => collection(`$compute=${chain.join()}`))[0], 'filterTooLarge');
  const long = Array.from({ length: 120 }, (_, index) => `@b${index}=-@b${index + 1}`);
  assert.deepEqual(refusal(() => collection(`$filter=@b0 eq 1&${long.join('&')}`))[0], 'filterTooLarge');
});

test('values count as often as aliases insert them, over the whole request', () => {
  const long = 'x'.repeat(1000);
  const reason = 'more than 131072 characters of values, each counted as often as it is used';
  const among = (times: number) => `$filter=City in (${Array(times).fill('@a').join()})&@a='${long}'`;
  assert.equal(collection(among(130)).filter?.kind, 'in');
  const [code, message] = refusal(() => collection(among(131)));
  assert.deepEqual([code, message], ['filterTooLarge', `@a: ${reason} at position 1.`]);
  const expansions = (times: number) =>
    `$expand=${['Media', 'Rooms', 'OpenHouses', 'UnitTypes']
      .map((name, index) => `${name}($filter=${Array(times).fill(`'${index}' eq @a`).join(' or ')})`)
      .join()}&@a='${long}'`;
  assert.equal(collection(expansions(30)).expansions.length, 4);
  assert.match(refusal(() => collection(expansions(40)))[1], new RegExp(reason));
  const ring = Array.from({ length: 100 }, (_, index) => `${index % 90} ${index % 45}`);
  const shape = `@a=geography'POLYGON((${[...ring, ring[0]].join()}))'`;
  const inside = (times: number) =>
    `$filter=${Array(times).fill('geo.intersects(Coordinates,@a)').join(' or ')}&${shape}`;
  assert.equal(collection(inside(80)).filter?.kind, 'or');
  assert.match(refusal(() => collection(inside(90)))[1], new RegExp(reason));
});

test('a list of lists is limited by the number of its values', () => {
  const path = `$filter=BedroomsTotal in [${Array(3).fill('@a').join()}]&@a=[${Array(700).fill('1').join()}]`;
  assert.deepEqual(
    refusal(() => collection(path)),
    ['filterTooLarge', '$filter: more than 2000 values in a list at position 18.'],
  );
});

test('terms are limited over the whole request as well', () => {
  const some = Array(1900).fill('1 eq 1').join(' or ');
  const path = `$filter=@a&$orderby=@a&$compute=@a as One&@a=${some}`;
  const reason = 'more than 5000 terms in all options, each counted as often as it is used';
  assert.match(refusal(() => collection(path))[1], new RegExp(reason));
  assert.equal(collection(`$filter=@a&$compute=@a as One&@a=${some}`).computed.length, 1);
});

test('expansions are limited', () => {
  assert.deepEqual(
    refusal(() => collection('$expand=*($levels=max)')),
    ['filterTooLarge', '$expand: more than 100 expansions at position 1.'],
  );
  const deep = (times: number) =>
    `$expand=${'Listing($expand=Media($expand=ChangedByMember($expand='.repeat(times)}`;
  assert.equal(refusal(() => collection(deep(100), 'OpenHouse'))[0], 'filterTooLarge');
});

test('the longest texts are accepted or rejected at once', () => {
  const filters: Record<string, string> = {
    parentheses: full('('),
    'closed parentheses': `${'('.repeat(8_000)}true${')'.repeat(8_000)}`,
    negations: full('not '),
    minus: full('-'),
    arrays: full('['),
    objects: full('{"a":'),
    calls: full('tolower('),
    cases: full('case('),
    'cases with results': full('case(true:'),
    casts: full('cast('),
    types: `cast(City,${full('Collection(')}`,
    lambdas: full('Media/any(m:'),
    filters: full('Media/$filter('),
    counts: full('Media/$count($filter='),
    conditions: full("City eq 'a' or ").slice(0, -4),
    sums: `1${full(' add 1').slice(6)}`,
    comparisons: `1${full(' eq 1').slice(5)}`,
    memberships: `1${full(' in 1').slice(5)}`,
    path: full('ListAgent/'),
    name: full('a'),
    'qualified name': `${full('a.')}a`,
    digits: full('1'),
    dashes: full('1-'),
    colons: full('10:'),
    exponents: full('1e'),
    'open string': `City eq '${full("''")}'`,
    'open array': `City in ["${full('\\"')}`,
    shape: `geo.distance(Coordinates,geography'${full('collection(')}')`,
    positions: `geo.distance(Coordinates,geography'linestring(${full('1 1,')}1 1)')`,
    pattern: `matchespattern(City,'${'('.repeat(8_000)}${')'.repeat(8_000)}')`,
    spaces: `City${full(' ')}eq null`,
    keys: full('a(1)'),
    aliases: full('@a '),
  };
  for (const [name, text] of Object.entries(filters)) {
    const took = milliseconds(() => {
      try {
        filter(text);
      } catch {
        refusal(() => filter(text));
      }
    });
    // Twice the limit, since a rejected text is read twice.
    assert.ok(took < 10, `${name}: ${took} ms`);
  }
  const queries: Record<string, string> = {
    'nested search': `$search=${full('(')}`,
    'negated search': `$search=${full('NOT ')}`,
    'search words': `$search=${full('a ')}`,
    'search keywords': `$search=${full('AND ')}`,
    'search quotes': `$search=${full('"')}`,
    'nested expansions': `$expand=${full('Media($expand=')}`,
    'many expansions': `$expand=${full('Media,')}`,
    'nested selections': `$select=${full('Media($select=')}`,
    'many selections': `$select=${full('City,')}City`,
    'many orders': `$orderby=${full('City,')}City`,
    'many computed': `$compute=${full('1 as A,')}`,
    'many aliases': `$filter=true&${full('@a=1&')}`,
    'many options': full('a=1&'),
  };
  for (const [name, text] of Object.entries(queries)) {
    const took = milliseconds(() => {
      try {
        collection(text);
      } catch {
        refusal(() => collection(text));
      }
    });
    assert.ok(took < 20, `${name}: ${took} ms`);
  }
  for (const path of [
    full('('),
    full('Property('),
    full('a/'),
    full("'"),
    `Property/a/${full('Listing/')}`,
  ]) {
    const took = milliseconds(() => refusal(() => parseResourcePath(path, schema)));
    assert.ok(took < 10, `${path.slice(0, 20)}: ${took} ms`);
  }
});
