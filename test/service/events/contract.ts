/** `GET /events` over real sockets, on every engine. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUILT_IN_ACCESS, hashToken } from '../../../src/access/index.ts';
import { listing, photo } from '../../support/builders.ts';
import type { Engine, Scope } from '../../support/engine.ts';
import {
  changesIn,
  type EventClient,
  type FollowOptions,
  followEvents,
  isLevel,
  type ServerEvent,
} from '../../support/event-client.ts';
import { startTestService, type TestServiceOptions } from '../../support/service.ts';
import { operations } from '../../support/world.ts';

const last = (events: readonly ServerEvent[]): string => events.at(-1)?.id ?? assert.fail('no event');

async function served(engine: Engine, scope: Scope, options: TestServiceOptions = {}) {
  const clients: EventClient[] = [];
  const service = await startTestService(scope, { engine, ...options });
  scope.after(() => {
    for (const client of clients) client.close();
  });
  const token = await service.key('replication');
  const follow = async (options: FollowOptions = {}): Promise<EventClient> => {
    const client = await followEvents(service.addresses.replication, { token, ...options });
    clients.push(client);
    return client;
  };
  /** Status and error code of a request for a stream that is refused. */
  const refused = async (options: FollowOptions): Promise<[number, string]> => {
    const client = await follow(options);
    return [client.status, JSON.parse(await client.text()).error.code];
  };
  return { ...service, token, follow, refused };
}

export function eventsContract(engine: Engine): void {
  test('a follower receives the changes of each commit, parents first (last if deleted), without records', async (t) => {
    const { follow, write, store } = await served(engine, t);
    const client = await follow();
    assert.equal(client.status, 200);
    assert.equal(client.headers['content-type'], 'text/event-stream');
    assert.equal(client.headers['x-accel-buffering'], 'no');
    const begin = await client.next();
    assert.equal(begin?.event, 'position');
    assert.deepEqual(begin?.data, { position: begin?.id, level: true });
    await write('Property', listing('A', { Media: [photo('M')] }));
    const events = await client.changes(2);
    assert.deepEqual(changesIn(events), ['created Property A', 'created Media M']);
    const { data } = events.find(({ event }) => event === 'change') ?? assert.fail();
    assert.deepEqual(Object.keys(data), ['sequence', 'resource', 'key', 'kind', 'at']);
    await store.remove('Property', ['A']);
    assert.deepEqual(changesIn(await client.changes(2)), ['deleted Media M', 'deleted Property A']);
  });

  test('a follower receives the commits of another process', async (t) => {
    const { follow, again, clock } = await served(engine, t);
    const other = await again();
    const client = await follow();
    await client.next();
    await operations(other, clock).write('Property', listing('A'));
    assert.deepEqual(changesIn(await client.changes(1)), ['created Property A']);
  });

  test('a client that reconnects after any event receives exactly the events that it has not confirmed', async (t) => {
    const { follow, write, store } = await served(engine, t);
    await write('Property', listing('A', { Media: [photo('M')] }), listing('B'));
    await write('Property', listing('A', { ListPrice: 5 }));
    await store.remove('Property', ['B']);
    await write('Office', { OfficeKey: 'O', OfficeName: 'One' });
    const all = await (await follow({ query: '?since=start' })).until(isLevel);
    const changes = changesIn(all);
    assert.deepEqual(changes.slice(-2), ['deleted Property B', 'created Office O']);
    // A client that is disconnected after any event resumes at the last position that it received.
    for (const [index] of all.entries()) {
      const before = all.slice(0, index + 1);
      const at = before.findLastIndex(({ id }) => id !== undefined);
      const id = at < 0 ? undefined : before[at]?.id;
      const again = await follow(
        id === undefined
          ? { query: '?since=start' }
          : { headers: { 'last-event-id': id }, query: '?since=end' },
      );
      const rest = await again.until(isLevel);
      assert.deepEqual(changesIn(rest), changesIn(all.slice(at + 1)), `after ${id}`);
      again.close();
    }
    const position = last(all);
    const since = await follow({ query: `?since=${position}` });
    assert.deepEqual((await since.next())?.data, { position, level: true });
  });

  test('with records=true, each change contains the record as the key sees it', async (t) => {
    const { follow, write, key, get } = await served(engine, t);
    const token = await key('replication', { role: 'idx' });
    const client = await follow({ token, query: '?records=true&resources=Property,Media' });
    await client.next();
    const hidden = {
      PrivateRemarks: 'the code is 7',
      InternetAddressDisplayYN: false,
      StreetName: 'Elm "{"',
    };
    await write(
      'Property',
      listing('A', { ...hidden, Media: [photo('M')] }),
      listing('B', { InternetEntireListingDisplayYN: false }),
      listing('C', { ListPrice: 7 }),
    );
    const events = await client.changes(3);
    assert.deepEqual(changesIn(events), ['created Property A', 'created Property C', 'created Media M']);
    for (const { data } of events.filter(({ event }) => event === 'change')) {
      const { json } = await get('replication', `/Reso/OData/${data.resource}('${data.key}')`, { token });
      const { '@odata.context': _, ...record } = json;
      assert.deepEqual(data.record, record);
    }
    await write('Property', listing('C', { InternetEntireListingDisplayYN: false }));
    const left = await client.changes(1);
    assert.deepEqual(changesIn(left), ['deleted Property C']);
    assert.equal(left.find(({ event }) => event === 'change')?.data.record, undefined);
  });

  test('a role receives only the changes that it sees, and a deletion when its own rule changes', async (t) => {
    const { follow, write, key, store } = await served(engine, t);
    const idx = await follow({ token: await key('replication', { role: 'idx' }) });
    const own = await follow({ token: await key('replication', { systems: ['south'] }) });
    await idx.next();
    await own.next();
    await write(
      'Property',
      listing('A', { OriginatingSystemID: 'north' }),
      listing('B', { OriginatingSystemID: 'south', InternetEntireListingDisplayYN: false }),
    );
    assert.deepEqual(changesIn(await idx.changes(1)), ['created Property A']);
    assert.deepEqual(changesIn(await own.changes(1)), ['created Property B']);
    await store.configure((settings) => ({
      ...settings,
      access: {
        ...BUILT_IN_ACCESS,
        roles: BUILT_IN_ACCESS.roles.map((role) =>
          role.name === 'idx' ? { ...role, resources: { Property: "ListingKey ne 'A'" } } : role,
        ),
      },
    }));
    assert.deepEqual(
      changesIn(await idx.until(({ event, data }) => event === 'change' && data.kind === 'deleted')),
      ['deleted Property A'],
    );
  });

  test('a new epoch ends open streams, and positions of the old one get 410 with the position to continue from', async (t) => {
    const { follow, refused, write, store } = await served(engine, t);
    await write('Property', listing('A'));
    const client = await follow();
    const begin = (await client.next()) ?? assert.fail();
    await store.beginEpoch({});
    const [gone] = await client.until(({ event }) => event === 'gone');
    assert.equal(await client.next(), undefined, 'the stream has ended');
    const old = await follow({ headers: { 'last-event-id': begin.id ?? '' } });
    assert.equal(old.status, 410);
    const position = old.headers['x-plat-position'];
    assert.equal(position, gone?.data.position);
    assert.deepEqual(JSON.parse(await old.text()).error, {
      code: 'positionGone',
      message: `The changes since this position are no longer known. Download everything, then follow from the position ${position}.`,
    });
    const next = await follow({ query: `?since=${position}` });
    assert.equal((await next.next())?.id, position);
    assert.deepEqual(await refused({ query: '?since=x' }), [400, 'optionInvalid']);
  });

  test('a stream ends when its key is revoked, even if no change occurs', async (t) => {
    const { follow, key, store, write } = await served(engine, t);
    const revoked = await key('replication');
    const client = await follow({ token: revoked });
    await client.next();
    const found = await store.look(hashToken(revoked));
    const began = performance.now();
    await store.keys.revoke(found.key?.id ?? '', '2020-01-01T00:00:00Z');
    assert.equal(await client.next(), undefined);
    assert.ok(performance.now() - began < 5000, 'within the time that a revoked key may work');
    await write('Property', listing('A'));
    assert.equal((await follow({ token: revoked })).status, 401);
  });

  test('a service that closes ends its streams with a complete response', async (t) => {
    const { follow, service } = await served(engine, t);
    const client = await follow();
    await client.next();
    const next = client.next();
    await service.close();
    assert.equal(await next, undefined);
    assert.equal(client.response.complete, true, 'the client knows that this was the end');
  });

  test('a stream is refused above the limit per key, to other keys, media types and unknown options', async (t) => {
    const { follow, refused, key } = await served(engine, t, { service: { streams: { perKey: 1 } } });
    const client = await follow();
    await client.next();
    assert.deepEqual(await refused({}), [429, 'tooManyStreams']);
    const token = await key('replication', { role: 'idx' });
    assert.equal((await follow({ token })).status, 200, 'the limit is per key');
    client.close();
    assert.deepEqual(await refused({ token: await key('api') }), [403, 'keyNotForSurface']);
    assert.deepEqual(await refused({ token: undefined }), [401, 'tokenMissing']);
    assert.deepEqual(await refused({ headers: { accept: 'text/html' } }), [406, 'notAcceptable']);
    assert.deepEqual(await refused({ query: '?resources=Propperty' }), [400, 'optionInvalid']);
    assert.deepEqual(await refused({ query: '?records=yes' }), [400, 'optionInvalid']);
    assert.deepEqual(await refused({ query: '?toString=1' }), [400, 'optionUnknown']);
    assert.deepEqual(await refused({ query: '?since=end&since=start' }), [400, 'optionRepeated']);
  });
}
