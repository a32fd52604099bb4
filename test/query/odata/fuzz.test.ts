import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PlatError } from '../../../src/errors/index.ts';
import { parseResourcePath } from '../../../src/query/odata/resource-path.ts';
import { processorTime } from '../../support/processor-time.ts';
import { runsOf } from '../../support/runs.ts';
import { anyCharacter } from '../any-character.ts';
import { collection, filter, schema } from './fixture.ts';
import { print } from './print.ts';
import { conditions } from './trees.ts';

const SEED = 20_260_314;
const FILTERS = runsOf(5_000);
const OTHERS = runsOf(2_000);
/** The time limit of one text, on a machine without other load. */
const BOUND = 5;

const PIECES = [
  ...'()[]{},:;/$@\'"-+.*= \t\0😀é',
  "''",
  ' and ',
  ' or ',
  'not ',
  ' eq ',
  ' in (',
  ' has ',
  ' div ',
  'any(x:',
  'all(x:x',
  '$it/',
  '$count',
  '$filter(',
  'null',
  'true',
  '1e309',
  '-0',
  '2024-02-30',
  '23:59:60',
  'case(',
  'cast(',
  "duration'",
  "geography'POINT(",
  'Media/',
  'Appliances',
  'ListAgent/',
  'Coordinates',
  'City',
  '@p',
];

/** A change of a text: the position, the number of characters that are removed or repeated, and an insertion. */
const change = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.nat(12),
  twice: fc.boolean(),
  put: fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: anyCharacter, maxLength: 2 })),
});

interface Change {
  readonly at: number;
  readonly length: number;
  readonly twice: boolean;
  readonly put: string;
}

function changed(text: string, changes: readonly Change[]): string {
  let result = text;
  for (const { at, length, twice, put } of changes) {
    const start = Math.floor(at * result.length);
    const cut = result.slice(start, start + length);
    result = result.slice(0, start) + put + (twice ? cut + cut : '') + result.slice(start + length);
  }
  return result;
}

const mutated = (texts: fc.Arbitrary<string>) =>
  fc
    .tuple(texts, fc.array(change, { minLength: 1, maxLength: 4 }))
    .map(([text, changes]) => changed(text, changes));

/** Reads a text, which must be accepted or rejected with an error of the catalogue in time. */
function readsSoon(text: string, read: (text: string) => unknown): boolean {
  let took = Number.POSITIVE_INFINITY;
  let taken = true;
  // Other processes may delay one run, but not three.
  for (let round = 0; round < 3 && took > BOUND; round++) {
    const start = processorTime();
    try {
      read(text);
    } catch (error) {
      if (!(error instanceof PlatError))
        throw new Error(`fault at ${JSON.stringify(text)}`, { cause: error });
      taken = false;
    }
    took = Math.min(took, processorTime() - start);
  }
  assert.ok(took <= BOUND, `${took} ms: ${JSON.stringify(text)}`);
  return taken;
}

/** The number of accepted texts. Both outcomes must occur, or the texts prove nothing. */
function readAll(texts: readonly string[], read: (text: string) => unknown): void {
  const taken = texts.filter((text) => readsSoon(text, read)).length;
  assert.ok(taken > 0 && taken < texts.length, `${taken} of ${texts.length} were taken`);
}

test('a mutated filter is accepted or rejected in time', () => {
  const written = conditions(3, 0).map((tree) => print(tree, { space: ' ', upper: false }));
  readAll(fc.sample(mutated(written), { seed: SEED, numRuns: FILTERS }), (text) => filter(text));
});

test('mutated options are accepted or rejected in time', () => {
  const queries = fc.constantFrom(
    '$filter=City eq @p&@p=@q&@q=%27Rome%27',
    '$select=City,*,Media/MediaKey&$expand=Media($select=Order;$filter=Order gt 1;$orderby=Order desc;$top=2)',
    '$expand=*($levels=2),ListAgent($expand=Office($levels=max)),Rooms/$count($filter=true;$search=a),Media/$ref',
    '$orderby=ListPrice desc,Media/$count,case(City eq null:1,true:2) asc',
    '$compute=ListPrice div LivingArea as A,A mul 2 as B&$filter=B gt 1&$select=A',
    '$search=(pool OR "sea side") AND NOT noisy&$top=5&$skip=10&$count=true&$skiptoken=x&$format=json',
  );
  readAll(fc.sample(mutated(queries), { seed: SEED, numRuns: OTHERS }), (text) => collection(text));
});

test('a mutated path is accepted or rejected in time', () => {
  const paths = fc.constantFrom(
    "Property('a')/Media('b')/MediaURL/$value",
    'Property/a%2Fb/Room/$count',
    'Property(ListingKey=@k)/ListAgent/Office',
    'EntityEvent(5)',
    '$metadata',
  );
  readAll(fc.sample(mutated(paths), { seed: SEED, numRuns: OTHERS }), (text) =>
    parseResourcePath(text, schema),
  );
});
