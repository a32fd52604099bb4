/** Outlines for the map of the console: from a file of the operator, from a demo market, or none. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { marketOutlines } from 'plat-demo';
import { consoleOutlines } from '../../src/cli/outlines-file.ts';
import { sqliteEngine } from '../support/sqlite-engine.ts';
import { temporaryFile } from '../support/temporary.ts';
import { makeWorld } from '../support/world.ts';

const own = {
  type: 'FeatureCollection',
  features: [
    {
      type: 'Feature',
      properties: { name: 'Ely' },
      geometry: {
        type: 'Polygon',
        coordinates: [
          [
            [-86, 44],
            [-85, 44],
            [-85, 45],
            [-86, 44],
          ],
        ],
      },
    },
  ],
};

/** Writes a file. @returns the configuration that names it */
function configOf(content: string | undefined, file = temporaryFile('.geojson')) {
  if (content !== undefined) writeFileSync(file, content);
  return { file, config: { console: { outlines: file } } };
}

test("the operator's file takes precedence over the towns of a demo market; other stores have no outlines", async (t) => {
  const { store } = await makeWorld(sqliteEngine(), t);
  assert.deepEqual(await consoleOutlines(store, {}), { type: 'FeatureCollection', features: [] });
  await store.configure((settings) => ({ ...settings, market: { seed: 1, listings: 10 } }));
  assert.deepEqual(await consoleOutlines(store, {}), marketOutlines());
  const { config } = configOf(`\uFEFF${JSON.stringify(own)}`);
  assert.deepEqual(await consoleOutlines(store, config), own);
});

test('a file that cannot be drawn is wrong usage', async (t) => {
  const { store } = await makeWorld(sqliteEngine(), t);
  const folder = temporaryFile('');
  mkdirSync(folder);
  const refused = async ({ file, config }: ReturnType<typeof configOf>, reason: (file: string) => string) =>
    assert.rejects(consoleOutlines(store, config), { code: 'usage', message: reason(file) });
  await refused(configOf(undefined), (file) => `There is no file ${file}.`);
  await refused(configOf(undefined, folder), (file) => `${file} is a folder, not a file.`);
  await refused(configOf('Ely'), (file) => `The outlines ${file} are not JSON.`);
  await refused(
    configOf('{}'),
    (file) => `The outlines ${file} cannot be drawn: the top level must be a FeatureCollection.`,
  );
  const whole = JSON.stringify(own);
  const most = 2 * 1024 * 1024;
  assert.deepEqual(await consoleOutlines(store, configOf(whole.padEnd(most)).config), own);
  await refused(configOf(whole.padEnd(most + 1)), (file) => `The outlines ${file} have more than 2 MB.`);
});
