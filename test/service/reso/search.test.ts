/** `$search` (OData 4.01 protocol, 11.2.6.6): its matches, which never come from values that the key may not see (I4). */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { listing, member, photo } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import { asker } from './asker.ts';

const service = await startTestService(
  { after },
  {
    fill: async ({ write }) => {
      await write('Member', member('A1', { MemberFullName: 'Pool Walker' }));
      const media = [
        photo('M1', { ShortDescription: 'The pool at night' }),
        photo('M2', { ShortDescription: 'A kitchen' }),
      ];
      await write(
        'Property',
        listing('1', { PublicRemarks: 'A POOL and a sea view.', City: 'Zug', Media: media }),
        listing('2', {
          PublicRemarks: 'Noisy; near the pool and the whirlpools',
          City: 'Bremen',
          ListAgentKey: 'A1',
        }),
        listing('3', { PublicRemarks: 'By the sea', PrivateRemarks: 'pool is broken', City: 'Århus' }),
        listing('4', {
          PublicRemarks: 'Side of the hill, sea',
          StreetName: 'Hidden Lane',
          InternetAddressDisplayYN: false,
          AccessibilityFeatures: ['Accessible Doors'],
        }),
      );
    },
  },
);
const feed = asker(service, 'replication', await service.key('replication'));
const idx = asker(service, 'api', await service.key('api', { role: 'idx' }));

test('$search finds words, phrases and combinations of them in any text field, ignoring case', async () => {
  const expected: Readonly<Record<string, readonly string[]>> = {
    pool: ['1', '2', '3'],
    'POOL sea': ['1', '3'],
    'pool AND NOT noisy': ['1', '3'],
    'noisy OR hill': ['2', '4'],
    '"sea view"': ['1'],
    '"view Zug"': [],
    '"zug view"': [],
    århus: ['3'],
    doors: ['4'],
    '(zug OR bremen) pool': ['1', '2'],
    'NOT sea': ['2'],
    // Whole words only.
    whirlpool: [],
    whirlpools: ['2'],
    nothing: [],
  };
  for (const [search, keys] of Object.entries(expected)) {
    assert.deepEqual(await feed.keys(`Property?$search=${encodeURIComponent(search)}`), keys, search);
  }
});

test('$search can be combined with $filter, $orderby, $count and paging, and used in an expansion', async () => {
  const path = 'Property?$search=pool&$orderby=City&$count=true&$select=ListingKey&$top=1';
  const { rows, count } = await feed.page(path);
  assert.deepEqual([rows, count], [[{ ListingKey: '2' }], 3]);
  assert.deepEqual(await feed.walk(path), [['2'], ['1'], ['3']]);
  assert.deepEqual(await feed.keys("Property?$search=sea&$filter=City ne 'Zug'"), ['3', '4']);
  assert.equal((await feed.get('Property/$count?$search=sea')).text, '3');
  const expanded = await feed.page(
    'Property?$expand=Media($search=pool;$select=MediaKey)&$select=ListingKey&$top=1',
  );
  assert.deepEqual(expanded.rows, [{ ListingKey: '1', Media: [{ MediaKey: 'M1' }] }]);
  assert.deepEqual(await feed.keys('Property/1/Media?$search=kitchen'), ['M2']);
});

test('I4 $search does not search hidden fields or withheld values', async () => {
  assert.deepEqual(await feed.keys('Property?$search="hidden lane"'), ['4']);
  assert.deepEqual(await idx.keys('Property?$search="hidden lane"'), []);
  assert.deepEqual(await idx.keys('Property?$search=pool'), ['1', '2']);
  assert.deepEqual(await idx.keys('Property?$search=NOT pool'), ['3', '4']);
});

test('$search does not search the agent fields of a listing', async () => {
  assert.deepEqual(await feed.keys('Property?$search=walker'), []);
  assert.deepEqual(await feed.keys("Property?$filter=contains(ListAgentFullName,'Walker')"), ['2']);
});
