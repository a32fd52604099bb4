/** Delta links: the changes in a collection since a walk through it (OData 4.01 protocol, 11.3; JSON format 4.01, 15). */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { pino } from 'pino';
import { BUILT_IN_ACCESS } from '../../../src/access/index.ts';
import { SERVICE_DEFAULTS } from '../../../src/service/options.ts';
import { startService } from '../../../src/service/service.ts';
import { positionText } from '../../../src/store/changes/change-feed.ts';
import { listing, member, office, openHouse, photo, room } from '../../support/builders.ts';
import { type Answer, startTestService } from '../../support/service.ts';
import type { Json } from '../../support/world.ts';
import { type Asker, asker } from './asker.ts';

const TRACK = { prefer: 'odata.track-changes' };
type Headers = Readonly<Record<string, string>>;

const service = await startTestService(
  { after },
  {
    fill: async ({ write }) => {
      await write('Office', office('O1'));
      await write('Member', member('A1', { OfficeKey: 'O1' }), member('A2', { OfficeKey: 'O1' }));
      await write('Property', ...Array.from({ length: 7 }, (_, index) => house(`L${index + 1}`)));
    },
  },
);
const { write, store, clock } = service;
const api = asker(service, 'api', await service.key('api'));
const idx = asker(service, 'replication', await service.key('replication', { role: 'idx' }));

function house(key: string, fields: Json = {}): Json {
  return listing(key, { ListPrice: 200_000, ListAgentKey: 'A1', City: 'Zug', ...fields });
}

const put = (...records: readonly Json[]) => write('Property', ...records);

/** Restores the initial market. */
async function market(): Promise<void> {
  await put(...Array.from({ length: 7 }, (_, index) => house(`L${index + 1}`)));
  await write('Member', member('A1', { OfficeKey: 'O1' }), member('A2', { OfficeKey: 'O1' }));
}

function linkOf({ json }: Answer, name: 'next' | 'delta'): string {
  const link = json[`@odata.${name}Link`];
  assert.ok(typeof link === 'string', `no ${name}Link in ${JSON.stringify(json)}`);
  return link;
}

async function ask(by: Asker, path: string, headers: Headers = {}): Promise<Answer> {
  const answer = await by.get(path, { headers });
  assert.equal(answer.status, 200, answer.text);
  return answer;
}

/** Walks a collection with change tracking. @returns its delta link */
async function track(by: Asker, path: string, headers: Headers = {}): Promise<string> {
  let answer = await ask(by, path, { ...TRACK, ...headers });
  assert.match(String(answer.headers['preference-applied']), /odata\.track-changes/);
  while (answer.json['@odata.nextLink'] !== undefined) {
    assert.equal('@odata.deltaLink' in answer.json, false);
    answer = await ask(by, linkOf(answer, 'next'));
    assert.doesNotMatch(String(answer.headers['preference-applied']), /track-changes/);
  }
  return linkOf(answer, 'delta');
}

/** Follows a delta to its end. */
async function follow(by: Asker, link: string, headers: Headers = {}) {
  const values: Json[] = [];
  const sizes: number[] = [];
  for (let at = link; ; ) {
    const { json } = await ask(by, at, headers);
    assert.ok(Array.isArray(json.value));
    values.push(...json.value);
    sizes.push(json.value.length);
    if (typeof json['@odata.deltaLink'] === 'string') {
      return { values, sizes, link: json['@odata.deltaLink'], context: json['@odata.context'] };
    }
    at = String(json['@odata.nextLink']);
  }
}

const removed = (key: string, reason: 'changed' | 'deleted'): Json => ({
  '@removed': { reason },
  ListingKey: key,
});
/** Key fields whose name does not follow from the name of the resource. */
const KEYS: Readonly<Record<string, string>> = {
  Property: 'ListingKey',
  PropertyRooms: 'RoomKey',
};
/** A record without nulls and empty lists, since a field that comes into use adds a null to unchanged records. */
const valuesIn = (row: Json): string =>
  JSON.stringify(
    Object.entries(row)
      .filter(([, value]) => value !== null && JSON.stringify(value) !== '[]')
      .toSorted(),
  );
const rowsIn = ({ json: { value } }: Answer): Json[] =>
  Array.isArray(value) ? value : assert.fail('no rows');
const keysIn = (values: readonly Json[]): unknown[] => values.map(({ ListingKey }) => ListingKey);

test('a delta contains changed records completely, removed ones with a reason, and nothing if nothing has changed', async () => {
  await market();
  const link = await track(
    api,
    'Property?$select=ListPrice,City&$filter=ListPrice ge 150000&$orderby=City&$count=true',
  );
  const none = await follow(api, link);
  assert.deepEqual(none.values, []);
  await put(house('L1', { ListPrice: 250_000, City: null }), house('L2', { ListPrice: 1 }));
  await store.remove('Property', ['L3']);
  const some = await follow(api, none.link);
  assert.equal(some.context, `${api.root}$metadata#Property(ListPrice,City,ListingKey)/$delta`);
  assert.deepEqual(some.values, [
    removed('L2', 'changed'),
    removed('L3', 'deleted'),
    { ListPrice: 250_000, City: null, ListingKey: 'L1' },
  ]);
  // A delta link can be followed again, for example if the response was lost.
  assert.deepEqual((await follow(api, link)).values, some.values);
  assert.deepEqual((await follow(api, some.link)).values, []);
  await put(house('L2'));
  assert.deepEqual((await follow(api, some.link)).values, [
    { ListPrice: 200_000, City: 'Zug', ListingKey: 'L2' },
  ]);
});

test('the body of a delta is exact, in OData 4.01 and 4.0', async () => {
  await market();
  const link = await track(api, 'Property?$select=ListingKey&$filter=ListPrice ge 150000');
  await put(house('L1', { City: 'Rome' }), house('L2', { ListPrice: 1 }));
  await store.remove('Property', ['L3']);
  const now = await ask(api, link);
  const head = `{"@odata.context":"${api.root}$metadata#Property(ListingKey)/$delta","value":[`;
  const tailOf = (answer: Answer): string => `],"@odata.deltaLink":"${linkOf(answer, 'delta')}"}`;
  assert.equal(
    now.text,
    `${head}{"@removed":{"reason":"changed"},"ListingKey":"L2"},{"@removed":{"reason":"deleted"},"ListingKey":"L3"},{"ListingKey":"L1"}${tailOf(now)}`,
  );
  const entry = (key: string, reason: string): string =>
    `{"@odata.context":"${api.root}$metadata#Property/$deletedEntity","id":"${api.root}Property('${key}')","reason":"${reason}"}`;
  const before = await ask(api, link, { 'odata-maxversion': '4.0' });
  assert.equal(before.headers['odata-version'], '4.0');
  assert.equal(
    before.text,
    `${head}${entry('L2', 'changed')},${entry('L3', 'deleted')},{"ListingKey":"L1"}${tailOf(before)}`,
  );
});

test('the delta after a walk of several pages contains everything that was written during the walk', async () => {
  await market();
  for (const path of [
    'Property?$select=City',
    "Property?$select=City&$filter=City eq 'Zug'",
    'Property?$orderby=City desc',
  ]) {
    await market();
    const first = await ask(api, path, { prefer: 'track-changes,odata.maxpagesize=3' });
    await put(house('L1', { City: 'Zug', ListPrice: 3 }), house('L0'), house('L7', { City: 'Rome' }));
    let last = await ask(api, linkOf(first, 'next'));
    while (last.json['@odata.nextLink'] !== undefined) last = await ask(api, linkOf(last, 'next'));
    const { values } = await follow(api, linkOf(last, 'delta'));
    assert.deepEqual(keysIn(values).toSorted(), ['L0', 'L1', 'L7'], path);
    await store.remove('Property', ['L0']);
  }
});

test('a request with change tracking does not use an older filter list', async () => {
  await market();
  const filter = "Property?$select=ListingKey&$filter=City eq 'Bern'";
  assert.deepEqual(await api.keys(filter), []);
  await put(house('L4', { City: 'Bern' }));
  const answer = await ask(api, filter, TRACK);
  assert.deepEqual(answer.json.value, [{ ListingKey: 'L4' }]);
});

test('a delta is paged by maxpagesize, with each record at most once in a page', async () => {
  await market();
  const link = await track(api, 'Property?$select=City', {
    prefer: 'odata.track-changes,odata.maxpagesize=2',
  });
  // The third page has the last record of the first round and the first one of the second, in the order of their keys.
  for (let round = 0; round < 2; round++) {
    await put(...Array.from({ length: 5 }, (_, index) => house(`L${index + 1}`, { City: `Town ${round}` })));
  }
  const { values, sizes } = await follow(api, link);
  assert.ok(
    sizes.every((size) => size <= 2),
    sizes.join(),
  );
  assert.deepEqual(keysIn(values), ['L1', 'L2', 'L3', 'L4', 'L1', 'L5', 'L2', 'L3', 'L4', 'L5']);
  const whole = await follow(api, link, { prefer: 'odata.maxpagesize=100' });
  assert.deepEqual(keysIn(whole.values), ['L1', 'L2', 'L3', 'L4', 'L5']);
});

test('$top=0 returns a delta link from now on, without a walk', async () => {
  await market();
  const answer = await ask(api, 'Property?$top=0', TRACK);
  assert.deepEqual(answer.json.value, []);
  await put(house('L2', { City: 'Rome' }));
  const { values } = await follow(api, linkOf(answer, 'delta'));
  assert.deepEqual(keysIn(values), ['L2']);
});

test('a change of an agent is a change of the listings that show it, and a change of a child one of its listing', async () => {
  await market();
  const shown = await track(idx, 'Property?$select=ListAgentFullName');
  const expanded = await track(
    idx,
    'Property?$select=City&$expand=ListAgent($select=MemberFullName),Media($select=MediaKey)',
  );
  const matched = await track(idx, "Property?$select=City&$filter=ListAgent/MemberFullName eq 'Agent A1'");
  const plain = await track(idx, 'Property?$select=City');
  await put(house('L1', { ListAgentKey: 'A2' }));
  await write('Member', member('A1', { OfficeKey: 'O1', MemberFullName: 'Ada' }));
  const rest = ['L2', 'L3', 'L4', 'L5', 'L6', 'L7'];
  assert.deepEqual(keysIn((await follow(idx, shown)).values), ['L1', ...rest]);
  const six = await follow(idx, expanded);
  assert.deepEqual(six.values[1], {
    City: 'Zug',
    ListingKey: 'L2',
    ListAgent: { MemberFullName: 'Ada' },
    Media: [],
  });
  assert.deepEqual(
    (await follow(idx, matched)).values,
    ['L1', ...rest].map((key) => removed(key, 'changed')),
  );
  assert.deepEqual(keysIn((await follow(idx, plain)).values), ['L1']);
  await write('Media', photo('M1', { ResourceName: 'Property', ResourceRecordKey: 'L3' }));
  const [third] = (await follow(idx, six.link)).values;
  assert.deepEqual(third, {
    City: 'Zug',
    ListingKey: 'L3',
    ListAgent: { MemberFullName: 'Ada' },
    Media: [{ MediaKey: 'M1' }],
  });
  await store.remove('Media', ['M1']);
  const small = { prefer: 'odata.maxpagesize=2' };
  const { values, sizes } = await follow(idx, shown, small);
  assert.deepEqual(new Set(keysIn(values)), new Set(['L1', ...rest]));
  assert.ok(
    sizes.every((size) => size <= 2),
    sizes.join(),
  );
});

test('a record that a role no longer sees is reported as deleted', async () => {
  await market();
  const link = await track(idx, 'Property?$select=City');
  await put(house('L1', { StandardStatus: 'Incomplete' }));
  await store.remove('Property', ['L2']);
  const first = await follow(idx, link);
  assert.deepEqual(first.values, [removed('L1', 'deleted'), removed('L2', 'deleted')]);
  await put(
    house('L1', { StandardStatus: 'Incomplete', City: 'Rome' }),
    house('L8', { StandardStatus: 'Incomplete' }),
  );
  assert.deepEqual((await follow(idx, first.link)).values, []);
  await put(house('L1'));
  assert.deepEqual((await follow(idx, first.link)).values, [{ City: 'Zug', ListingKey: 'L1' }]);
  await store.remove('Property', ['L8']);
});

test('track-changes is not applied to requests whose changes cannot be tracked', async () => {
  await market();
  await put(house('L3', { Media: [photo('M1')] }));
  for (const path of [
    "Property('L3')/Media",
    'Property?$filter=ListingContractDate lt now()',
    'Property?$expand=OpenHouses($expand=Listing)',
    'Property?$skiptoken=L2',
    'Property?$filter=ModificationTimestamp lt 2030-01-01T00:00:00Z and ModificationTimestamp gt now()',
  ]) {
    const answer = await ask(api, path, TRACK);
    assert.doesNotMatch(String(answer.headers['preference-applied']), /track-changes/, path);
    assert.doesNotMatch(answer.text, /deltaLink/, path);
  }
  const old = await ask(api, 'Property?$expand=Media', { ...TRACK, 'odata-version': '4.0' });
  assert.doesNotMatch(old.text, /deltaLink/);
  const link = await track(api, 'Property?$expand=Media');
  const refused = await api.get(link, { headers: { 'odata-version': '4.0' } });
  assert.equal(refused.status, 501, refused.text);
});

test('a delta token is valid only for its key, options and collection, and with every bit unchanged', async () => {
  await market();
  const link = await track(api, "Property?$select=City&$filter=City eq 'Zug'");
  const [address = '', token = ''] = link.split('$deltatoken=');
  const other = asker(service, 'api', await service.key('api'));
  const refusal = [
    400,
    'deltaTokenInvalid',
    'The delta token was not made by this service for this request. A delta link accepts no options besides its own.',
  ];
  const refused = async (path: string, by = api): Promise<void> =>
    assert.deepEqual(await by.error(path), refusal, path);
  await refused(link, other);
  for (const more of [
    '$top=5',
    '$skip=1',
    '$count=true',
    '$orderby=City',
    '$skiptoken=L2',
    'extra=1',
    '$compute=1%20add%201%20as%20Two',
  ]) {
    await refused(`${link}&${more}`);
  }
  await refused(`Property?$select=City&$filter=City eq 'Rome'&$deltatoken=${token}`);
  await refused(`Property?$deltatoken=${token}`);
  await refused(`Member?$deltatoken=${token}`);
  for (const each of [
    '',
    'x',
    token.slice(0, -1),
    token.slice(0, 40),
    `${token}A`,
    `${token}=`,
    token.toLowerCase(),
    `${token}&trackedsince=x`,
  ]) {
    await refused(`${address}$deltatoken=${each}`);
  }
  const bytes = Buffer.from(token, 'base64url');
  for (let bit = 0; bit < 8 * bytes.length; bit += 5) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    await refused(`${address}$deltatoken=${changed.toString('base64url')}`);
  }
  assert.equal((await api.get(`Property('L1')/Media?$deltatoken=${token}`)).status, 400);
  // Other spellings of the same options are accepted.
  await follow(api, `Property?filter=City%20eq%20%27Zug%27&$deltatoken=${token}&$select=City`);
});

test('a delta token reveals nothing of the sequence of changes, not even whether it has advanced', async () => {
  const first = await track(api, 'Property?$select=City');
  assert.notEqual(await track(api, 'Property?$select=City'), first);
  assert.equal((await track(api, 'Property?$select=City')).length, first.length);
  const token = Buffer.from(first.split('$deltatoken=')[1] ?? '', 'base64url').toString('latin1');
  const { position } = await store.feed({ since: 'end', limit: 1 });
  assert.ok(position.sequence > 9);
  for (const part of positionText(position).split('.')) assert.equal(token.includes(part), false);
});

test('deltas work with posted queries, HEAD, gzip, metadata levels and omit-values', async () => {
  await market();
  const names = Array.from({ length: 400 }, (_, index) => `'Town number ${index}'`).join(',');
  const body = `$select=City&$filter=City in ('Zug',${names})`;
  const posted = await service.get('api', '/Reso/OData/Property/$query', {
    token: await service.key('api'),
    method: 'POST',
    headers: { ...TRACK, 'content-type': 'text/plain' },
    body,
  });
  assert.match(linkOf(posted, 'delta'), /plat\.query=[\w-]+&\$deltatoken=[\w-]+$/);
  const first = await api.get('Property/$query', {
    method: 'POST',
    headers: { ...TRACK, 'content-type': 'text/plain' },
    body,
  });
  const link = linkOf(first, 'delta');
  await put(house('L1', { City: 'Town number 7' }), house('L2', { City: 'Rome' }));
  const answer = await ask(api, link);
  assert.deepEqual(answer.json.value, [
    removed('L2', 'changed'),
    { City: 'Town number 7', ListingKey: 'L1' },
  ]);
  const head = await api.get(link, { method: 'HEAD' });
  assert.deepEqual(
    [head.status, head.text, head.headers['content-length']],
    [200, '', String(answer.bytes.length)],
  );
  const zipped = await api.get(link, { headers: { 'accept-encoding': 'gzip' } });
  const whole = (text: string): string => text.replace(/deltatoken=[\w-]+/, '');
  assert.equal(whole(gunzipSync(zipped.bytes).toString()), whole(answer.text));

  const full = await track(api, 'Property?$select=City', { accept: 'application/json;odata.metadata=full' });
  await put(house('L1', { City: null }));
  const [record] = (
    await follow(api, full, { accept: 'application/json;odata.metadata=full', prefer: 'omit-values=nulls' })
  ).values;
  assert.equal(record?.['@odata.id'], `${api.root}Property('L1')`);
  assert.equal(record?.City, null);
  const none = await ask(api, full, { accept: 'application/json;odata.metadata=none' });
  assert.deepEqual(Object.keys(none.json), ['value', '@odata.deltaLink']);
});

test('a link that can no longer be followed gets 410 with the Location of the collection', async () => {
  await market();
  const path = "Property?$select=City&$filter=City eq 'Zug'";
  const expired = async (by: Asker, link: string): Promise<void> => {
    const answer = await by.get(link);
    assert.equal(answer.status, 410, answer.text);
    assert.match(answer.text, /"code":"deltaGone"/);
    const { location } = answer.headers;
    assert.equal(
      location,
      `${by.root}Property?$select=City&$filter=City%20eq%20%27Zug%27`.replaceAll('%27', "'"),
    );
    assert.equal((await by.get(String(location))).status, 200);
  };
  const role = { ...BUILT_IN_ACCESS.roles.find(({ name }) => name === 'public'), name: 'guest' };
  assert.ok(role.classes !== undefined && role.resources !== undefined);
  const guest = { ...role, classes: role.classes, resources: role.resources };
  const withGuest = (classes: typeof guest.classes) =>
    store.configure((settings) => ({
      ...settings,
      access: { ...settings.access, roles: [...BUILT_IN_ACCESS.roles, { ...guest, classes }] },
    }));
  await withGuest(guest.classes);
  const visitor = asker(service, 'api', await service.key('api', { role: 'guest' }));
  const [own, others] = [await track(visitor, path), await track(api, path)];
  await withGuest(['idx', 'address']);
  await expired(visitor, own);
  await follow(api, others);

  const old = await track(api, path);
  await store.beginEpoch({});
  await expired(api, old);
  await follow(api, await track(api, path));

  // Compaction removes the entries after the position of the link.
  const early = await track(api, path);
  for (let round = 0; round < 5; round++) await put(house('L1', { ListPrice: round }));
  await store.configure((settings) => ({ ...settings, changesKept: { entries: 1 } }));
  clock.set('2026-06-04T00:00:01Z');
  await ask(api, 'Property?$top=1');
  for (let tries = 0; tries < 100 && (await api.get(early)).status !== 410; tries++)
    await put(house('L2', { ListPrice: tries }));
  await expired(api, early);
});

test('for every entity set, a copy updated by a delta equals a fresh walk', async () => {
  await market();
  const sets = ['Property', 'Member', 'Office', 'Media', 'OpenHouse', 'PropertyRooms', 'Lookup', 'Field'];
  const keyed = sets.map((name) => ({ name, key: KEYS[name] ?? `${name}Key` }));
  const copies = new Map<string, { link: string; rows: Map<unknown, Json> }>();
  const rowsOf = async (path: string): Promise<Json[]> => {
    const rows: Json[] = [];
    for (let at: unknown = path; typeof at === 'string'; ) {
      const { json } = await ask(api, at);
      assert.ok(Array.isArray(json.value));
      rows.push(...json.value);
      at = json['@odata.nextLink'];
    }
    return rows;
  };
  for (const { name, key } of keyed) {
    const rows = new Map((await rowsOf(name)).map((row) => [row[key], row]));
    copies.set(name, { link: await track(api, `${name}?$top=0`), rows });
  }
  await put(
    house('L9', {
      City: 'Neustadt an der Delta',
      YearBuilt: 1901,
      Media: [photo('M9')],
      Rooms: [room('R9')],
      OpenHouses: [openHouse('O9')],
    }),
    house('L1', { Media: [], Roof: ['Slate'] }),
  );
  await write('Member', member('A9', { OfficeKey: 'O1', MemberCity: 'Zug' }));
  await write('Office', office('O9'));
  await store.remove('Property', ['L2']);
  for (const { name, key } of keyed) {
    const { link, rows } = copies.get(name) ?? assert.fail(name);
    const { values } = await follow(api, link);
    assert.notEqual(values.length, 0, name);
    for (const value of values) {
      if ('@removed' in value) rows.delete(value[key]);
      else rows.set(value[key], value);
    }
    const texts = (all: Iterable<Json>): string[] => [...all].map(valuesIn).toSorted();
    assert.deepEqual(texts(rows.values()), texts(await rowsOf(name)), name);
  }
  await store.remove('Property', ['L9']);
});

test('another process can continue a delta at any page', async () => {
  await market();
  const link = await track(api, 'Property?$select=City', {
    prefer: 'odata.track-changes,odata.maxpagesize=2',
  });
  await put(...['L1', 'L2', 'L3'].map((key) => house(key, { City: 'Rome' })));
  const first = await ask(api, link);
  const other = await startService(
    { ...SERVICE_DEFAULTS, store: await service.again(), clock, log: pino({ level: 'silent' }) },
    { host: '127.0.0.1', adminHost: '127.0.0.1', ports: { api: 0, replication: 0, floorplans: 0, admin: 0 } },
  );
  try {
    const moved = linkOf(first, 'next').replace(service.addresses.api, other.addresses.api);
    const second = await ask(api, moved);
    assert.deepEqual(keysIn([...rowsIn(first), ...rowsIn(second)]), ['L1', 'L2', 'L3']);
    assert.match(linkOf(second, 'delta'), /deltatoken=/);
  } finally {
    await other.close();
  }
});

test('the curl lines of docs/changes.md work unchanged', async () => {
  await market();
  const text = readFileSync(new URL('../../../docs/changes.md', import.meta.url), 'utf8');
  const [, section = ''] = text.split('## OData delta links');
  const [, lines = ''] = /```sh\n(.*?)```/s.exec(section) ?? [];
  const [walk = '', next = ''] = lines.replaceAll('\\\n', '').trim().split('\n');
  const TOKEN = await service.key('replication');
  const env = { PATH: process.env.PATH, TOKEN, FEED: service.addresses.replication };
  const run = async (line: string, more: Headers = {}): Promise<Json> => {
    const { stdout } = await promisify(execFile)('sh', ['-c', `${line} -s -f`], { env: { ...env, ...more } });
    return JSON.parse(stdout);
  };
  const link = String((await run(walk))['@odata.deltaLink']);
  await put(house('L1', { ListPrice: 1 }));
  assert.deepEqual((await run(next, { DELTA_LINK: link })).value, [removed('L1', 'changed')]);
});

test('$metadata declares for each entity set whether its changes can be tracked', async () => {
  const trackedBy = async (by: Asker, path = '$metadata'): Promise<Record<string, boolean>> => {
    const { text } = await by.get(path);
    const sets = text.matchAll(/<EntitySet Name="(\w+)".*?<\/EntitySet>/gs);
    return Object.fromEntries(
      [...sets].map(([set, name]) => {
        const [, supported] =
          /Term="Capabilities\.ChangeTracking">\s*<Record>\s*<PropertyValue Property="Supported" Bool="(\w+)"/.exec(
            set,
          ) ?? [];
        return [name, supported === 'true'];
      }),
    );
  };
  const { Property, Lookup, EntityEvent } = await trackedBy(api);
  assert.deepEqual({ Property, Lookup, EntityEvent }, { Property: true, Lookup: true, EntityEvent: false });
  const restricted = asker(service, 'api', await service.key('api', { systems: ['S'] }));
  const some = await trackedBy(restricted);
  assert.deepEqual([some.Property, some.Lookup], [true, false]);
  const plans = asker(service, 'floorplans', await service.key('floorplans', { systems: ['S'] }));
  assert.deepEqual(await trackedBy(plans), { Media: false });
  for (const [by, path] of [
    [api, 'EntityEvent'],
    [restricted, 'Lookup?$top=1'],
    [plans, 'Media'],
  ] as const) {
    const answer = await ask(by, path, TRACK);
    assert.doesNotMatch(answer.text, /deltaLink/, path);
    assert.equal(answer.headers['preference-applied'], undefined, path);
  }
});
