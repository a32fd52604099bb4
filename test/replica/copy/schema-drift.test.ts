/** Fields of the source that the dictionary does not have: declared once, renamed by their LocalName, never losing data. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { declareFields } from '../../../src/replica/copy/schema-drift.ts';
import type { ReplicaEvent } from '../../../src/replica/events.ts';
import type { ForeignField } from '../../../src/replica/source/source.ts';
import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { makeWorld } from '../../support/world.ts';

const field = (name: string, label = name, group = 'Interior', type = 'string'): ForeignField => ({
  resource: 'Property',
  name,
  type,
  group,
  label,
});

const REPLICA = { settings: { owner: 'replica' } } as const;

test('TRAP 9 a LocalName that differs is the current name: a renamed field keeps its API name and its data', async (t) => {
  const { store, write, record } = await makeWorld(sqliteEngine(), t, REPLICA);
  const events: ReplicaEvent[] = [];
  const tell = (event: ReplicaEvent) => void events.push(event);
  assert.deepEqual(await declareFields(store, [field('WineCellarYN', 'Wine Cellar', 'Interior')], tell), []);
  await write('Property', { ListingKey: '1', WineCellarYN: 'deep' });
  assert.deepEqual(await declareFields(store, [field('WineCellarYN', 'Cellar Kind', 'Below')], tell), []);
  const declared = (await store.model()).settings.declarations.customFields;
  assert.deepEqual(declared, [
    { resource: 'Property', name: 'WineCellarYN', type: 'string', group: 'Below', label: 'Cellar Kind' },
  ]);
  assert.equal((await record('Property', '1'))?.WineCellarYN, 'deep');
  assert.deepEqual(events, [
    { kind: 'field', resource: 'Property', name: 'WineCellarYN', taken: 'declared' },
  ]);
});

test('a guessed name is replaced when the source reports one, and a guess never replaces a reported name', async (t) => {
  const { store } = await makeWorld(sqliteEngine(), t, REPLICA);
  const tell = () => undefined;
  const names = async () =>
    (await store.model()).settings.declarations.customFields?.map(({ group, label }) => [group, label]);
  await declareFields(store, [field('Cellar', 'Cellar', 'Source')], tell);
  await declareFields(store, [field('Cellar', 'Wine Cellar', 'Interior')], tell);
  assert.deepEqual(await names(), [['Interior', 'Wine Cellar']]);
  await declareFields(store, [field('Cellar', 'Cellar', 'Source')], tell);
  assert.deepEqual(await names(), [['Interior', 'Wine Cellar']]);
});

test('a type that the source changes is ignored: the declared type stays', async (t) => {
  const { store } = await makeWorld(sqliteEngine(), t, REPLICA);
  await declareFields(store, [field('Cellar', 'Cellar', 'Interior', 'string')], () => undefined);
  await declareFields(store, [field('Cellar', 'Cellar', 'Interior', 'integer')], () => undefined);
  const [declared] = (await store.model()).settings.declarations.customFields ?? [];
  assert.equal(declared?.type, 'string');
});

test('fields that cannot be declared are returned, the other fields are declared', async (t) => {
  const { store } = await makeWorld(sqliteEngine(), t, REPLICA);
  const wrong = field('Wrong', 'Wrong', 'Interior', 'no type');
  const refused = await declareFields(
    store,
    [field('A'), wrong, field('no name'), field('B')],
    () => undefined,
  );
  assert.deepEqual(
    refused.map(({ name }) => name),
    ['no name', 'Wrong'],
  );
  assert.deepEqual(
    (await store.model()).settings.declarations.customFields?.map(({ name }) => name),
    ['A', 'B'],
  );
});

test('the timestamp field that another replica adds is not declared', async (t) => {
  const { store } = await makeWorld(sqliteEngine(), t, REPLICA);
  assert.deepEqual(await declareFields(store, [field('ReplicaModificationTimestamp')], () => undefined), []);
  assert.deepEqual((await store.model()).settings.declarations.customFields ?? [], []);
});

test('the number of fields of a resource is limited: all further ones are left out under the name *, and the store still works', async (t) => {
  const { store, write, keys } = await makeWorld(sqliteEngine(), t, REPLICA);
  const before = (await store.model()).resource('Property').fields.size;
  const many = Array.from({ length: 3000 }, (_, at) => field(`F${at}`));
  const refused = await declareFields(store, many, () => undefined);
  assert.deepEqual(
    refused.map(({ resource, name }) => [resource, name]),
    [['Property', '*']],
  );
  assert.equal((await store.model()).settings.declarations.customFields?.length, 1500 - before);
  await write('Property', { ListingKey: '1', F0: 'first' });
  assert.deepEqual(await keys('Property'), ['1']);
  // A declared field is accepted again; a new one is not.
  const again = await declareFields(store, [field('F0'), field('G')], () => undefined);
  assert.deepEqual(
    again.map(({ name }) => name),
    ['*'],
  );
});
