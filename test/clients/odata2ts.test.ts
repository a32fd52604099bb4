/**
 * A typed client that `@odata2ts/odata2ts` generates from the `$metadata` of a live service, and a program that uses it: both are
 * compiled with strict types and run in a temporary folder.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { fillMarket, KEYS, keysWhere, MARKET } from '../service/reso/market.ts';
import { startTestService } from '../support/service.ts';
import { objectOf } from '../support/world.ts';

const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url));
const PROGRAM = fileURLToPath(new URL('./odata2ts/program.txt', import.meta.url));
const COMPILER_OPTIONS = {
  target: 'es2022',
  module: 'commonjs',
  strict: true,
  skipLibCheck: true,
  types: ['node'],
  rootDir: 'source',
  outDir: 'built',
};

const run = promisify(execFile);
const service = await startTestService({ after }, { fill: fillMarket });
const token = await service.key('api');
const root = `${service.addresses.api}/Reso/OData`;

/** Creates a folder with the sources of the generated client and the program. */
async function generated(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'plat-odata2ts-'));
  after(() => rm(folder, { recursive: true }));
  await symlink(MODULES, join(folder, 'node_modules'), 'dir');
  await writeFile(join(folder, 'package.json'), '{"type":"commonjs"}');
  const metadata = await service.get('api', '/Reso/OData/$metadata', { token });
  await writeFile(join(folder, 'metadata.xml'), metadata.text);
  const config = { compilerOptions: COMPILER_OPTIONS, include: ['source'] };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
  await mkdir(join(folder, 'source'));
  const generator = join(MODULES, '@odata2ts/odata2ts/lib/run-cli.js');
  await run(process.execPath, [generator, '-s', 'metadata.xml', '-o', 'source', '-m', 'all', '-e', 'ts'], {
    cwd: folder,
  });
  await copyFile(PROGRAM, join(folder, 'source/program.ts'));
  return folder;
}

/** Compiles and runs the program. @returns its output */
async function results() {
  const folder = await generated();
  const compiled = run(process.execPath, [join(MODULES, 'typescript/bin/tsc'), '-p', 'tsconfig.json'], {
    cwd: folder,
  });
  await compiled.catch((error: { stdout?: string }) => assert.fail(String(error.stdout)));
  const { stdout } = await run(process.execPath, [join(folder, 'built/program.js'), root, token]);
  return objectOf(stdout);
}

test('the client that odata2ts generates compiles, walks and queries', async () => {
  const expensive = MARKET.toSorted((one, other) => other.price - one.price).slice(1, 3);
  const { walk, conditions, records } = await results();
  assert.deepEqual(walk, [KEYS.slice(0, 8), KEYS.slice(8, 16), KEYS.slice(16, 24), KEYS.slice(24)]);
  assert.deepEqual(conditions, {
    prices: keysWhere(({ price, bedrooms }) => price > 300_000 && bedrooms !== null && bedrooms <= 2),
    cities: keysWhere(({ city }) => city === 'Bremen' || city === "Coeur d'Alene"),
    not: keysWhere(({ city }) => city !== 'Zug'),
    in: keysWhere(({ status }) => status === 'Pending' || status === 'Closed'),
    none: keysWhere(({ bedrooms }) => bedrooms === null),
    dates: keysWhere(({ contractDate }) => contractDate >= '2026-04-01'),
    months: keysWhere(({ contractDate }) => contractDate.startsWith('2026-02')),
    moments: keysWhere(({ modified }) => modified > '2026-06-01T12:20:00.900Z'),
    values: keysWhere(({ features }) => features.includes('Accessible Kitchen')),
    media: ['1001'],
    agent: keysWhere(({ key }) => Number(key) % 3 === 1),
    search: keysWhere(({ city }) => city === 'Bremen'),
  });
  assert.deepEqual(records, {
    listing: { key: '1003', price: MARKET[2]?.price, features: MARKET[2]?.features },
    media: [
      ['1001-F1', 3],
      ['1001-P2', 2],
      ['1001-P1', 1],
    ],
    agent: 'A3',
    count: KEYS.length,
    page: expensive.map(({ key, price }) => ({
      ListingKey: key,
      ListPrice: price,
      media: [],
      office: `O${1 + (Number(key) % 2)}`,
    })),
  });
});
