/** I1: pages by key are in byte-wise order and neither overlap nor skip a row, whatever is written between them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { listing } from '../../support/builders.ts';
import { contractRuns, type Engine } from '../../support/engine.ts';
import { inScope } from '../../support/scope.ts';
import { makeWorld, type ReadPage, type World } from '../../support/world.ts';

/** In byte-wise order; JavaScript and the collations of languages would order them in another way. */
const KEYS = ['-', '0', '10', '2', 'A', 'Z', '_', 'a', 'aa', 'z', 'É', 'ß', 'é', '中', '\uffee', '😀', '😁'];

const bytes = (left: string, right: string): number => Buffer.compare(Buffer.from(left), Buffer.from(right));

const keysOf = ({ records }: ReadPage): string[] => records.map(({ ListingKey }) => String(ListingKey));

const after = (key: string) => ({ position: { kind: 'after-key', key } as const });

export function pagingContract(engine: Engine): void {
  test('keys are ordered by their bytes', async (t) => {
    const world = await makeWorld(engine, t);
    assert.deepEqual(KEYS.toSorted(bytes), KEYS);
    await world.write('Property', ...KEYS.toReversed().map((key) => listing(key)));
    assert.deepEqual(await world.keys('Property'), KEYS);
    assert.deepEqual(await world.keys('Property', "$filter=StandardStatus eq 'Active'"), KEYS);
    assert.deepEqual(await world.keys('Property', '$orderby=ListingKey desc'), KEYS.toReversed());
    for (const [index, key] of KEYS.entries()) {
      assert.deepEqual(await world.keys('Property', '', after(key)), KEYS.slice(index + 1), key);
      const beyond = `$filter=ListingKey gt '${encodeURIComponent(key)}'`;
      assert.deepEqual(await world.keys('Property', beyond), KEYS.slice(index + 1), key);
      assert.equal((await world.record('Property', key))?.ListingKey, key);
    }
  });

  test('a page reports whether a row follows, and its last key', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', listing('A'), listing('B'), listing('C', { StandardStatus: 'Withdrawn' }));
    for (const options of [
      '',
      '$filter=ListingKey ne null',
      '$select=ListingKey',
      '$select=ListingKey&$orderby=ListPrice',
    ]) {
      const viewer = { role: 'idx' };
      const first = await world.page('Property', options, { viewer, limit: 1 });
      assert.deepEqual([keysOf(first), first.more, first.last?.key], [['A'], true, 'A'], options);
      const second = await world.page('Property', options, { viewer, limit: 1, ...after('A') });
      assert.deepEqual([keysOf(second), second.more, second.last?.key], [['B'], false, 'B'], options);
      const third = await world.page('Property', options, { viewer, limit: 1, ...after('B') });
      assert.deepEqual([keysOf(third), third.more, third.last], [[], false, undefined], options);
      const none = await world.page('Property', options, { viewer, limit: 0 });
      assert.deepEqual([keysOf(none), none.last], [[], undefined], options);
    }
  });

  test('a token is valid even if its record was deleted, or never existed', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', ...['A', 'C', 'E'].map((key) => listing(key)));
    await world.store.remove('Property', ['C']);
    for (const options of ['', '$filter=ListingKey ne null']) {
      assert.deepEqual(await world.keys('Property', options, after('C')), ['E']);
      assert.deepEqual(await world.keys('Property', options, after('B')), ['E']);
      assert.deepEqual(await world.keys('Property', options, after('')), ['A', 'E']);
      assert.deepEqual(await world.keys('Property', options, after("E'; DROP TABLE x; --")), []);
    }
  });

  test('an offset counts rows in the requested order', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', ...KEYS.map((key) => listing(key)));
    assert.deepEqual(await world.keys('Property', '$skip=3&$top=2'), KEYS.slice(3, 5));
    assert.deepEqual(await world.keys('Property', '$skip=16'), KEYS.slice(16));
    assert.deepEqual(await world.keys('Property', '$skip=17'), []);
    const descending = '$orderby=ListingKey desc&$skip=1&$top=3';
    assert.deepEqual(await world.keys('Property', descending), KEYS.toReversed().slice(1, 4));
    const page = await world.page('Property', '$skip=15&$top=2');
    assert.deepEqual([page.rows, page.more], [2, false]);
    assert.equal((await world.page('Property', '$skip=15&$top=1')).more, true);
  });

  test('property: a walk returns each record that stays exactly once, in order', async () => {
    const change = fc.record({ insert: fc.boolean(), key: fc.constantFrom(...KEYS) });
    const walk = fc.record({
      at: fc.subarray(KEYS),
      limit: fc.integer({ min: 1, max: 4 }),
      between: fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 20 }),
      options: fc.constantFrom(
        '',
        '$filter=ListingKey ne null',
        '$select=ListingKey',
        '$expand=Media&$select=ListingKey',
      ),
    });
    const property = fc.asyncProperty(walk, ({ at, limit, between, options }) =>
      inScope(async (scope) => {
        const world = await makeWorld(engine, scope);
        if (at.length > 0) await world.write('Property', ...at.map((key) => listing(key)));
        await checkWalk(world, new Set(at), limit, between, options);
      }),
    );
    await fc.assert(property, { seed: 20260604, numRuns: contractRuns(engine, 40) });
  });
}

/** Walks a store that changes between the pages, next to a set of the expected keys. */
async function checkWalk(
  world: World,
  held: Set<string>,
  limit: number,
  between: readonly (readonly { insert: boolean; key: string }[])[],
  options: string,
): Promise<void> {
  const stayed = new Set(held);
  const given: string[] = [];
  const changes = [...between];
  for (let last: string | undefined; ; ) {
    const page = await world.page('Property', options, { limit, ...(last === undefined ? {} : after(last)) });
    const rest = [...held].filter((key) => last === undefined || bytes(key, last) > 0).toSorted(bytes);
    assert.deepEqual(keysOf(page), rest.slice(0, limit));
    assert.equal(page.more, rest.length > limit);
    given.push(...keysOf(page));
    if (!page.more) break;
    last = page.last?.key;
    for (const { insert, key } of changes.shift() ?? []) {
      if (insert) {
        await world.write('Property', listing(key));
        held.add(key);
      } else {
        await world.store.remove('Property', [key]);
        held.delete(key);
        stayed.delete(key);
      }
    }
  }
  assert.deepEqual(given, given.toSorted(bytes));
  assert.equal(new Set(given).size, given.length);
  assert.deepEqual(
    [...stayed].filter((key) => !given.includes(key)),
    [],
  );
}
