/** Records of several resources in one collection, as in the native accounts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MergedSource } from '../../../src/compile/read.ts';
import { floorPlan, member, office, photo } from '../../support/builders.ts';
import type { Engine } from '../../support/engine.ts';
import { IDX, PRIVATE, type Viewer } from '../../support/views.ts';
import { FILES, type Json, objectOf, sharedWorld, TIME, type World } from '../../support/world.ts';

async function source(
  world: World,
  resource: string,
  options: string,
  viewer: Viewer,
): Promise<MergedSource> {
  const { query } = await world.request(resource, options, { viewer });
  const field = (name: string) => {
    const found = query.resource.fields.get(name);
    assert.ok(found);
    return found;
  };
  const images = query.resource.navigations.get('Media');
  assert.ok(images);
  const name = resource === 'Member' ? 'MemberFullName' : 'OfficeName';
  const shared = [{ name: 'Name', via: [], field: field(name) }];
  const office = query.resource.navigations.get('Office');
  const officeName = (await world.store.model()).resource('Office').fields.get('OfficeName');
  if (office === undefined || officeName === undefined) return { query, members: shared };
  return { query, members: [...shared, { name: 'Office', via: [office], field: officeName }], images };
}

interface MergedOptions {
  readonly viewer?: Viewer;
  readonly order?: readonly [string, string];
  readonly skip?: number;
  readonly limit?: number;
}

async function merged(
  world: World,
  { viewer = PRIVATE, order, skip = 0, limit = 100 }: MergedOptions = {},
): Promise<Json[]> {
  const by = (term: string | undefined) => (term === undefined ? '' : `$orderby=${term}`);
  const sources = [
    await source(world, 'Member', by(order?.[0]), viewer),
    await source(world, 'Office', by(order?.[1]), viewer),
  ];
  const body = await world.store.mergedPage({ sources, skip, limit, files: FILES }, TIME);
  const { value } = objectOf(`{"value":[${new TextDecoder().decode(body)}]}`);
  assert.ok(Array.isArray(value));
  return value;
}

async function populate(world: World): Promise<void> {
  await world.write('Office', office('1', { OfficeName: 'Zed' }), office('3', { OfficeStatus: 'Inactive' }));
  const media = [
    photo('P2', { Order: 2 }),
    photo('P1', { Order: 1, ShortDescription: 'Face' }),
    floorPlan('P0'),
  ];
  await world.write('Member', member('1', { OfficeKey: '1', Media: media }), member('2', { OfficeKey: '3' }));
}

export function mergedContract(engine: Engine): void {
  const populated = sharedWorld(engine, populate);

  test('rows are sorted by key, then by the name of the resource', async () => {
    const world = await populated();
    const rows = await merged(world);
    assert.deepEqual(
      rows.map((row) => [row['@resource'], row.Name, row.Office]),
      [
        ['Member', 'Agent 1', 'Zed'],
        ['Office', 'Zed', undefined],
        ['Member', 'Agent 2', 'Office 3'],
        ['Office', 'Office 3', undefined],
      ],
    );
    const images = rows[0]?.Images;
    assert.ok(Array.isArray(images));
    assert.deepEqual(
      images.map(({ Id, Name, Uri }) => [Id, Name, String(Uri).replace(/media\/[^/]+/, 'media/…')]),
      [
        ['P0', null, 'https://feed.example/media/…/plans/P0.svg'],
        ['P1', 'Face', 'https://images.example/P1.jpg'],
        ['P2', null, 'https://images.example/P2.jpg'],
      ],
    );
    assert.deepEqual(rows[2]?.Images, []);
    assert.equal(rows[1] && 'Images' in rows[1], false);
  });

  test('skip, limit and order apply to the resources together', async () => {
    const world = await populated();
    const names = async (asked: MergedOptions) => (await merged(world, asked)).map(({ Name }) => Name);
    assert.deepEqual(await names({ skip: 1, limit: 2 }), ['Zed', 'Agent 2']);
    assert.deepEqual(await names({ skip: 4 }), []);
    assert.deepEqual(await names({ limit: 0 }), []);
    assert.deepEqual(await names({ order: ['MemberFullName desc', 'OfficeName desc'] }), [
      'Zed',
      'Office 3',
      'Agent 2',
      'Agent 1',
    ]);
  });

  test('a role sees its own rows of each resource, and its own navigations between them', async () => {
    const world = await populated();
    const rows = await merged(world, { viewer: IDX });
    assert.deepEqual(
      rows.map((row) => [row.Name, row.Office]),
      [
        ['Agent 1', 'Zed'],
        ['Zed', undefined],
        ['Agent 2', null],
      ],
    );
  });
}
