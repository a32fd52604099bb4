/** Word search: an index of words finds the same records as a scan of all texts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Search } from '../../../src/query/tree.ts';
import { listing, photo } from '../../support/builders.ts';
import { contractRuns, type Engine } from '../../support/engine.ts';
import { IDX, PRIVATE, type Viewer } from '../../support/views.ts';
import { type Json, makeWorld, TIME, type World } from '../../support/world.ts';

async function found(world: World, search: Search, viewer: Viewer = PRIVATE, resource = 'Property') {
  const request = await world.request(resource, '', { viewer });
  const ids = await world.store.ids({ ...request.query, search }, TIME);
  const all = await world.store.ids(request.query, TIME);
  const keys = await world.keys(resource, '', { viewer });
  const keyOf = new Map([...all].map((id, index) => [id, keys[index] ?? '']));
  assert.equal(await world.store.count({ ...request.query, search }, TIME), ids.length);
  return [...ids].map((id) => keyOf.get(id));
}

const word = (text: string): Search => ({ kind: 'word', text });
const phrase = (text: string): Search => ({ kind: 'phrase', text });
const not = (operand: Search): Search => ({ kind: 'search-not', operand });

/** Parts of texts, so that words, parts of words and phrases occur together. */
const PIECES = ['pool', 'Pool', 'whirlpool', 'sea', 'SEA', 'view', 'Åhus', 'åhus', 'a1', '12', 'éa'] as const;
const BETWEENS = [' ', ', ', '-', '\n', '. ', '/', "'"] as const;

const texts = fc
  .array(fc.tuple(fc.constantFrom(...PIECES), fc.constantFrom(...BETWEENS)), { maxLength: 5 })
  .map((parts) => parts.flat().join(''));

const records = fc.array(fc.record({ remarks: texts, city: texts, hidden: texts }), {
  minLength: 1,
  maxLength: 8,
});

const term: fc.Arbitrary<Search> = fc.oneof(
  fc.constantFrom(...PIECES, 'none', '!').map(word),
  fc
    .tuple(fc.constantFrom(...PIECES), fc.constantFrom(...PIECES))
    .map(([one, other]) => phrase(`${one} ${other}`)),
);

const search = fc.letrec<{ search: Search }>((tie) => ({
  search: fc.oneof(
    { depthSize: 'small' },
    term,
    tie('search').map(not),
    fc
      .tuple(
        fc.constantFrom('search-and', 'search-or'),
        fc.array(tie('search'), { minLength: 2, maxLength: 3 }),
      )
      .map(([kind, terms]): Search => ({ kind, terms })),
  ),
})).search;

const wordsIn = (text: string): string =>
  ` ${(text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).join(' ')} `;

function holds(search: Search, given: readonly string[]): boolean {
  switch (search.kind) {
    case 'word':
    case 'phrase': {
      const words = wordsIn(search.text);
      return words.trim() !== '' && given.some((text) => wordsIn(text).includes(words));
    }
    case 'search-and':
      return search.terms.every((each) => holds(each, given));
    case 'search-or':
      return search.terms.some((each) => holds(each, given));
    case 'search-not':
      return !holds(search.operand, given);
  }
}

export function searchContract(engine: Engine): void {
  test('property: a search finds the records whose texts have the words', async (context) => {
    const world = await makeWorld(engine, context);
    await fc.assert(
      fc.asyncProperty(records, fc.array(search, { minLength: 3, maxLength: 6 }), async (made, searches) => {
        await world.store.remove('Property', await world.keys('Property'));
        const stored = made.map(({ remarks, city, hidden }, index) => ({
          key: `K${index}`,
          fields: { PublicRemarks: remarks, City: city, PrivateRemarks: hidden },
        }));
        await world.write('Property', ...stored.map(({ key, fields }): Json => listing(key, fields)));
        for (const each of searches) {
          const seen = (hidden: boolean) =>
            stored
              .filter(({ key, fields: { PublicRemarks, City, PrivateRemarks } }) =>
                holds(each, [key, 'Active', PublicRemarks, City, ...(hidden ? [PrivateRemarks] : [])]),
              )
              .map(({ key }) => key);
          assert.deepEqual(await found(world, each), seen(true));
          assert.deepEqual(await found(world, each, IDX), seen(false));
        }
      }),
      { seed: 20260607, numRuns: contractRuns(engine, 25) },
    );
  });

  test('a search follows changes, hidden records, deletions and records written again', async (context) => {
    const world = await makeWorld(engine, context);
    await world.write('Property', listing('1', { City: 'Ely' }), listing('2', { City: 'Ely' }));
    assert.deepEqual(await found(world, word('ely')), ['1', '2']);
    await world.write('Property', listing('1', { City: 'Duluth' }));
    assert.deepEqual([await found(world, word('ely')), await found(world, word('duluth'))], [['2'], ['1']]);
    // A change that leaves every text the same.
    await world.write('Property', listing('1', { City: 'Duluth', ListPrice: 7 }));
    assert.deepEqual([await found(world, word('ely')), await found(world, word('duluth'))], [['2'], ['1']]);
    await world.write('Property', listing('2', { City: 'Ely', StandardStatus: 'Withdrawn' }));
    assert.deepEqual([await found(world, word('ely')), await found(world, word('ely'), IDX)], [['2'], []]);
    await world.store.remove('Property', ['2']);
    assert.deepEqual(await found(world, word('ely')), []);
    await world.write(
      'Property',
      listing('2', { City: 'Ely', Media: [photo('M', { ShortDescription: 'Ely' })] }),
    );
    assert.deepEqual(await found(world, word('ELY')), ['2']);
    assert.deepEqual(await found(world, word('ely'), PRIVATE, 'Media'), ['M']);
  });

  test('withheld values are found only by those who see them', async (context) => {
    const world = await makeWorld(engine, context);
    const withheld = { City: 'Ely', InternetAddressDisplayYN: false, PublicRemarks: 'Near the lake' };
    await world.write('Property', listing('1', withheld), listing('2', { City: 'Ely' }));
    assert.deepEqual(
      [await found(world, word('ely')), await found(world, word('ely'), IDX)],
      [['1', '2'], ['2']],
    );
    assert.deepEqual(await found(world, word('lake'), IDX), ['1']);
    assert.deepEqual(await found(world, not(word('ely')), IDX), ['1']);
  });

  test('lists of values are searched, and no phrase spans two of them', async (context) => {
    const world = await makeWorld(engine, context);
    await world.write(
      'Property',
      listing('1', { Appliances: ['Gas Range', 'Oven'], City: 'Sea', PublicRemarks: 'View' }),
    );
    assert.deepEqual(await found(world, phrase('gas range')), ['1']);
    assert.deepEqual(await found(world, phrase('sea view')), []);
    assert.deepEqual(await found(world, phrase('view sea')), []);
  });

  test('a search for very many words, or for none, gets a response', async (context) => {
    const world = await makeWorld(engine, context);
    await world.write('Property', listing('1', { City: 'Ely' }), listing('2'));
    const terms = Array.from({ length: 500 }, (_, at) => word(`w${at}`));
    assert.deepEqual(await found(world, { kind: 'search-or', terms: [...terms, word('ely')] }), ['1']);
    assert.deepEqual(await found(world, word('"!"')), []);
    assert.deepEqual(await found(world, not(phrase(' - '))), ['1', '2']);
  });
}
