/** The outlines on the map of the console: GET /outlines on the admin port, and validation of an operator's GeoJSON. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { PlatError } from '../../../src/errors/index.ts';
import { type Outlines, outlinesIn } from '../../../src/service/console/outlines.ts';
import { startTestService } from '../../support/service.ts';
import { resoFault } from '../http/envelopes.ts';

const RING = [
  [-86, 44],
  [-85, 44],
  [-85, 45],
  [-86, 44],
] as const;

test('GET /outlines returns the outlines of the service, and an empty collection without any', async () => {
  const outlines: Outlines = {
    type: 'FeatureCollection',
    features: [
      { type: 'Feature', properties: { name: 'Ely' }, geometry: { type: 'Polygon', coordinates: [RING] } },
      {
        type: 'Feature',
        properties: { name: '<b>Zug</b>' },
        geometry: { type: 'MultiPolygon', coordinates: [[RING], [RING]] },
      },
    ],
  };
  const [service, plain] = await Promise.all([
    startTestService({ after }, { service: { outlines } }),
    startTestService({ after }),
  ]);
  const answer = await service.get('admin', '/outlines', { token: await service.key('admin') });
  assert.deepEqual([answer.status, answer.json], [200, JSON.parse(JSON.stringify(outlines))]);
  assert.deepEqual(resoFault(await service.get('admin', '/outlines')).slice(0, 2), [401, 'tokenMissing']);
  const none = await plain.get('admin', '/outlines', { token: await plain.key('admin') });
  assert.deepEqual([none.status, none.json], [200, { type: 'FeatureCollection', features: [] }]);
});

const collection = (geometry: unknown, properties: unknown = { name: 'Ely', population: 7 }): unknown => ({
  type: 'FeatureCollection',
  crs: 'some',
  features: [{ type: 'Feature', id: 1, properties, geometry }],
});
const polygon = (...coordinates: unknown[]): unknown => collection({ type: 'Polygon', coordinates });

test('the names and positions of GeoJSON are kept; other members and altitudes are dropped', () => {
  assert.deepEqual(outlinesIn(polygon(RING.map((position) => [...position, 210]))), {
    type: 'FeatureCollection',
    features: [
      { type: 'Feature', properties: { name: 'Ely' }, geometry: { type: 'Polygon', coordinates: [RING] } },
    ],
  });
});

test('invalid GeoJSON is refused with the path of the invalid member', () => {
  const reasonOf = (json: unknown): string => {
    try {
      outlinesIn(json);
    } catch (error) {
      if (error instanceof PlatError && error.code === 'usage') return error.message;
    }
    return 'taken';
  };
  const name = 'features[0].properties.name must be a text of 1 to 200 characters';
  const ring = 'features[0].geometry.coordinates[0]';
  const [first, second, third] = RING;
  for (const [json, reason] of [
    [[], 'the top level must be a FeatureCollection'],
    [{ type: 'FeatureCollection' }, 'features must be a list'],
    [{ type: 'FeatureCollection', features: [null] }, 'features[0] must be a Feature'],
    [collection({}, null), name],
    [collection({}, { name: 7 }), name],
    [collection({}, { name: '' }), name],
    [collection({}, { name: 'x'.repeat(201) }), name],
    [collection(null), 'features[0].geometry.type must be Polygon or MultiPolygon'],
    [collection({ type: 'Point' }), 'features[0].geometry.type must be Polygon or MultiPolygon'],
    [polygon(), 'features[0].geometry.coordinates must be a list of at least 1'],
    [
      collection({ type: 'MultiPolygon', coordinates: [[RING], []] }),
      'features[0].geometry.coordinates[1] must be a list of at least 1',
    ],
    [polygon([first, second, first]), `${ring} must be a list of at least 4`],
    [polygon([first, second, third, second]), `${ring} must be a ring that ends where it begins`],
    [polygon([first, second, [-86], first]), `${ring}[2] must be a longitude and a latitude in degrees`],
    [polygon([[560_000, 4_940_000]]), `${ring} must be a list of at least 4`],
    [
      polygon(Array.from({ length: 4 }, () => [560_000, 4_940_000])),
      `${ring}[0] must be a longitude and a latitude in degrees`,
    ],
    [
      polygon([[-86, 90.5], second, third, first]),
      `${ring}[0] must be a longitude and a latitude in degrees`,
    ],
  ] as const) {
    assert.equal(reasonOf(json), reason);
  }
});
