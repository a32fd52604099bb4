/** EntityEvent (RESO RCP-27) on the public surfaces: the requests of RESO's runner when it observes, and those of a follower. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { positionText, SEQUENCE_START } from '../../../src/store/changes/change-feed.ts';
import { listing, member, office, photo } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import type { Json } from '../../support/world.ts';
import { asker } from './asker.ts';

const service = await startTestService(
  { after },
  {
    settings: { changesKept: { days: 1 } },
    fill: async ({ write, store }) => {
      await write('Property', listing('A', { Media: [photo('M1')] }), listing('B'));
      await write('Property', listing('Hidden', { StandardStatus: 'Incomplete' }));
      await write('Member', member('P1'));
      await store.remove('Property', ['B']);
      await write('Office', ...Array.from({ length: 1000 }, (_, index) => office(String(index))));
    },
  },
);
const { store } = service;
const api = asker(service, 'api', await service.key('api', { role: 'private' }));
const replication = asker(service, 'replication', await service.key('replication', { role: 'private' }));
const idx = asker(service, 'replication', await service.key('replication', { role: 'idx' }));

const numberOf = (row: Json | undefined): number => Number(row?.EntityEventSequence);
/** All events, as the operator sees them. */
async function everyEvent(): Promise<Json[]> {
  const page = await store.feed({ since: SEQUENCE_START, limit: 100_000 });
  assert.ok(page.kind === 'changes');
  return page.changes.map(({ sequence, resource, key }) => ({
    EntityEventSequence: sequence,
    ResourceName: resource,
    ResourceRecordKey: key,
  }));
}

const LAST = 'EntityEvent?$orderby=EntityEventSequence desc&$top=1';

test('$metadata declares the entity type with a number as its key', async () => {
  const xml = (await idx.get('$metadata')).text;
  const type = /<EntityType Name="EntityEvent">.*?<\/EntityType>/s.exec(xml)?.[0] ?? '';
  assert.match(type, /<Key>\s*<PropertyRef Name="EntityEventSequence"\/>\s*<\/Key>/);
  assert.match(type, /<Property Name="EntityEventSequence" Type="Edm.Int64" Nullable="false"/);
  for (const name of ['ResourceName', 'ResourceRecordKey']) {
    assert.match(type, new RegExp(`<Property Name="${name}" Type="Edm.String"[^>]* MaxLength="255"`));
  }
  assert.doesNotMatch(type, /ResourceRecordUrl/);
  assert.match(xml, /<EntitySet Name="EntityEvent"/);
  const { json } = await idx.get('$metadata?$format=json');
  assert.match(JSON.stringify(json), /"EntityEventSequence":\{[^}]*"\$Type":"Edm.Int64"/);
  assert.match((await idx.get('')).text, /"EntityEvent"/);
});

test('events are read-only', async () => {
  const key = await service.key('api', { role: 'private' });
  for (const [method, path] of [
    ['POST', 'EntityEvent'],
    ['PATCH', "EntityEvent('1')"],
    ['DELETE', "EntityEvent('1')"],
  ] as const) {
    const url = `${service.addresses.api}/Reso/OData/${path}`;
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const answer = await fetch(url, { method, headers, ...(method === 'DELETE' ? {} : { body: '{}' }) });
    assert.equal(answer.status, 405, method);
    await answer.body?.cancel();
  }
});

test('a page of a thousand events is in ascending order on both surfaces', async () => {
  for (const surface of [api, replication]) {
    const { rows, answer } = await surface.page('EntityEvent?$top=1000&$orderby=EntityEventSequence asc');
    assert.equal(answer.headers['odata-version'], '4.01');
    assert.equal(answer.headers['x-plat-index'], 'none');
    const numbers = rows.map(numberOf);
    assert.deepEqual(
      numbers,
      numbers.toSorted((one, other) => one - other),
    );
    assert.equal(new Set(numbers).size, numbers.length);
    assert.deepEqual(Object.keys(rows[0] ?? {}), [
      'EntityEventSequence',
      'ResourceName',
      'ResourceRecordKey',
    ]);
  }
});

test('events can be filtered, ordered, limited and counted', async () => {
  const { rows } = await api.page("EntityEvent?$filter=ResourceName eq 'Property'");
  assert.deepEqual(
    rows.map(({ ResourceName, ResourceRecordKey }) => `${ResourceName} ${ResourceRecordKey}`),
    ['Property A', 'Property B', 'Property Hidden', 'Property B'],
  );
  const all = await everyEvent();
  assert.deepEqual(
    (await api.page('EntityEvent?$orderby=EntityEventSequence desc&$top=5')).rows,
    all.toReversed().slice(0, 5),
  );
  assert.deepEqual(
    (await api.page('EntityEvent?$orderby=EntityEventSequence asc&$top=2&$skip=1')).rows,
    all.slice(1, 3),
  );
  assert.equal((await api.page('EntityEvent?$count=true&$top=1')).count, all.length);
  assert.equal((await api.get('EntityEvent/$count')).text, String(all.length));
  assert.equal(
    (await api.get(`EntityEvent/$count?$filter=EntityEventSequence gt ${numberOf(all.at(-3))}`)).text,
    '2',
  );
});

test('a walk returns every event once, in every order and with both meanings of $top', async () => {
  const all = (await everyEvent()).map(numberOf);
  const walk = async (surface: typeof api, path: string): Promise<number[][]> => {
    const pages: number[][] = [];
    for (let next: string | undefined = path; next !== undefined; ) {
      const page: Awaited<ReturnType<typeof api.page>> = await surface.page(next);
      pages.push(page.rows.map(numberOf));
      next = page.next;
    }
    return pages;
  };
  const pages = await walk(replication, 'EntityEvent?$top=300');
  assert.deepEqual(pages.flat(), all);
  assert.ok(pages.length > 1 && pages.slice(0, -1).every((page) => page.length === 300));
  const first = await replication.page('EntityEvent?$top=300');
  assert.equal(first.next, `${replication.root}EntityEvent?$top=300&$skiptoken=${pages[0]?.at(-1)}`);
  assert.deepEqual((await walk(api, 'EntityEvent')).map(({ length }) => length).slice(0, 2), [200, 200]);
  assert.deepEqual((await walk(api, 'EntityEvent?$top=250')).flat(), all.slice(0, 250));
  const filter = `EntityEventSequence gt ${all[299]}`;
  assert.deepEqual(
    (await walk(replication, `EntityEvent?$filter=${filter}&$top=333`)).flat(),
    all.slice(300),
  );
  for (const [order, expected] of [
    ['EntityEventSequence desc', all.toReversed()],
    ['EntityEventSequence', all],
  ] as const) {
    assert.deepEqual((await walk(replication, `EntityEvent?$orderby=${order}&$top=333`)).flat(), expected);
  }

  const byName = (await walk(replication, 'EntityEvent?$orderby=ResourceName&$top=333')).flat();
  assert.deepEqual(
    byName.toSorted((one, other) => one - other),
    all,
  );
});

test('an event is read by its number, with or without quotes; an event hidden from the role is like a missing one', async () => {
  const [event] = (await api.page("EntityEvent?$filter=ResourceRecordKey eq 'Hidden'")).rows;
  const number = numberOf(event);
  for (const path of [`EntityEvent(${number})`, `EntityEvent('${number}')`, `EntityEvent/${number}`]) {
    assert.deepEqual(await api.record(path), event, path);
  }
  const { json } = await api.get(`EntityEvent(${number})`, {
    headers: { accept: 'application/json;odata.metadata=full' },
  });
  assert.equal(json['@odata.id'], `${api.root}EntityEvent(${number})`);
  assert.equal((await api.get(`EntityEvent(${number})/ResourceRecordKey/$value`)).text, 'Hidden');
  const hidden = await idx.get(`EntityEvent(${number})`);
  const missing = await idx.get('EntityEvent(987654321)');
  assert.deepEqual([hidden.status, hidden.text], [404, missing.text]);
  assert.equal((await idx.page("EntityEvent?$filter=ResourceRecordKey eq 'Hidden'&$count=true")).count, 0);
});

test('a change is an event at once, with a number above the last one', async () => {
  const before = numberOf((await api.page(LAST)).rows[0]);
  const follow = `EntityEvent?$filter=EntityEventSequence gt ${before}`;
  assert.deepEqual((await api.page(follow)).rows, []);
  await service.write('Property', listing('New'));
  const { rows } = await api.page(follow);
  assert.deepEqual(
    rows.map(({ ResourceName, ResourceRecordKey }) => [ResourceName, ResourceRecordKey]),
    [['Property', 'New']],
  );
  assert.ok(numberOf(rows[0]) > before);
  await store.remove('Property', ['New']);
  assert.deepEqual((await api.page(LAST)).rows[0]?.ResourceRecordKey, 'New');
  assert.equal((await api.page(follow)).rows.length, 2);
  const one = `EntityEvent(${numberOf(rows[0])})`;
  assert.equal((await api.get(one)).status, 200);
  assert.equal((await api.get(one)).status, 200, 'the second time, too');
});

test('options that do not apply to events are refused', async () => {
  const message = (option: string) => `The request is malformed: ${option} does not apply to EntityEvent.`;
  for (const [query, expected] of [
    ['$search=lake', [400, 'requestMalformed', message('$search')]],
    ['$expand=CustomFields', [400, 'requestMalformed', message('$expand')]],
    [
      '$skiptoken=abc',
      [400, 'skipTokenInvalid', 'The skip token was not made by this service for this request.'],
    ],
    [
      '$orderby=EntityEventSequence desc&$skiptoken=12',
      [400, 'skipTokenInvalid', 'The skip token was not made by this service for this request.'],
    ],
  ] as const) {
    assert.deepEqual(await api.error(`EntityEvent?${query}`), expected, query);
  }
  assert.equal((await api.get('EntityEvent/$count?$search=lake')).status, 400);
  assert.equal((await api.get('EntityEvent(1)?$expand=CustomFields')).status, 400);
  assert.equal((await replication.get('EntityEvent/$digests')).status, 404);
  assert.equal((await api.get('EntityEvent?$filter=City eq 1')).status, 400);
});

test('the requests of docs/changes.md are answered', async () => {
  const text = readFileSync(new URL('../../../docs/changes.md', import.meta.url), 'utf8');
  const [, section = ''] = text.split(/^## EntityEvent$/m);
  const paths = [...(section.split(/^## /m)[0]?.matchAll(/^curl .*"\$FEED\/Reso\/OData\/(.*)"$/gm) ?? [])];
  assert.equal(paths.length, 3);
  for (const [, path = ''] of paths) {
    assert.ok((await replication.page(path.replaceAll('\\$', '$'))).rows.length > 0, path);
  }
});

test('a client behind the oldest entry learns where it can continue', async () => {
  const { again, clock, write } = service;
  const first = numberOf((await api.page('EntityEvent?$top=1')).rows[0]);
  clock.set('2026-07-01T12:00:00Z');
  await write('Property', listing('A', { ListPrice: 77 }));
  clock.set('2026-07-05T12:00:00Z');
  await write('Property', listing('A', { ListPrice: 78 }));
  // Opening the store on a new day compacts old entries.
  await again();
  const { last, since } = await store.changesKnown();
  assert.ok(first < since, 'entries were compacted');
  const expected = [
    410,
    'eventsGone',
    `The changes since this number are no longer known. Download everything, then continue with EntityEventSequence gt ${last}.`,
  ];
  const { position: end } = await store.feed({ since: 'end', limit: 0 });
  const position = positionText(end);
  assert.equal(Number.parseInt(position, 10), last);
  for (const filter of [
    `gt ${first}`,
    `ge ${since}`,
    'ge 2',
    'gt 1.5',
    `gt ${first} and ResourceName eq 'Property'`,
  ]) {
    assert.deepEqual(await api.error(`EntityEvent?$filter=EntityEventSequence ${filter}`), expected, filter);
    for (const path of ['EntityEvent', 'EntityEvent/$count']) {
      const { status, headers } = await api.get(`${path}?$filter=EntityEventSequence ${filter}`);
      assert.deepEqual([status, headers['x-plat-position']], [410, position], filter);
    }
  }
  for (const filter of [
    'ge 0',
    'ge 1',
    'gt 0',
    'gt -5',
    `gt ${since}`,
    `gt ${last}`,
    'gt 0 or EntityEventSequence gt 5',
    `le ${last}`,
  ]) {
    assert.equal((await api.get(`EntityEvent?$filter=EntityEventSequence ${filter}`)).status, 200, filter);
  }
  const { rows } = await api.page(
    "EntityEvent?$filter=ResourceName eq 'Property' and EntityEventSequence ge 0",
  );
  const keysOf = (some: readonly Json[]) => some.map(({ ResourceRecordKey }) => ResourceRecordKey);
  const old = rows.filter((row) => numberOf(row) <= since);
  assert.deepEqual(
    keysOf(old).toSorted(),
    ['A', 'B', 'Hidden', 'New'],
    'the last entry of each record is kept',
  );
  assert.deepEqual(keysOf(rows.slice(old.length)), ['A']);
});
