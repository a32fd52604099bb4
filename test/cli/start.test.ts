/** What it costs to start plat: a command loads what it needs, and what was compiled is kept where only its user writes. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { type Place, place } from './run.ts';

const PRELOADED = new URL('../support/loaded-modules.js', import.meta.url);

/** The packages that a command loads, the rooms of `src/`, and of the store's room the engines. */
async function loadedBy(at: Place, ...args: readonly string[]): Promise<readonly string[]> {
  const file = at.file('loaded', '');
  const { code, err } = await at.start(args, {
    env: { NODE_OPTIONS: `--import=${PRELOADED}`, PLAT_TEST_LOADED: at.path(file) },
  }).ended;
  assert.equal(code, 0, err);
  const urls = readFileSync(at.path(file), 'utf8').trimEnd().split('\n');
  const parts = urls.flatMap(
    (url) =>
      /node_modules\/((?:@[^/]+\/)?[^/]+)|src\/(store\/(?:sqlite|postgres)|[\w-]+)/.exec(url)?.slice(1) ?? [],
  );
  return [...new Set(parts.filter((part) => part !== undefined))].toSorted();
}

test('help and version load no room of the product', async (t) => {
  const at = place(t);
  for (const args of [['--help'], ['--version']]) {
    const loaded = await loadedBy(at, ...args);
    assert.deepEqual(loaded, ['cli', 'commander', 'errors', 'replica', 'store']);
  }
});

test('a command on a file loads no server, no service and no client', async (t) => {
  const at = place(t);
  at.file('l.ndjson', [{ ListingKey: '1', StandardStatus: 'Active' }]);
  const store = ['--store', 'm.db'];
  const usual = ['access', 'cli', 'commander', 'dictionary', 'errors', 'open-store', 'query', 're2js'];
  for (const args of [
    ['key', 'create', ...store, '--name', 'n'],
    ['import', ...store, 'l.ndjson'],
    ['export', ...store, '--resource', 'Property'],
    ['status', ...store],
    ['check', ...store],
  ]) {
    const loaded = await loadedBy(at, ...args);
    assert.deepEqual(loaded, [...usual, 'replica', 'store', 'store/sqlite'], args.join(' '));
  }
});

const cached = (at: Place, folder: string, ...args: readonly string[]) =>
  at.run(args, { env: { NODE_COMPILE_CACHE: '', XDG_CACHE_HOME: folder } });

test('what was compiled is kept for its user alone', async (t) => {
  const at = place(t);
  const { code } = await cached(at, at.path('caches'), '--version');
  assert.equal(code, 0);
  const folder = at.path('caches/plat');
  assert.equal((statSync(folder).mode & 0o777).toString(8), '700');
  const [version = ''] = readdirSync(folder);
  assert.ok(readdirSync(`${folder}/${version}`).length > 10);
});

test('what others may have written is not run, and without a place nothing is kept', async (t) => {
  const at = place(t);
  const shared = at.path('shared');
  mkdirSync(`${shared}/plat`, { recursive: true });
  chmodSync(`${shared}/plat`, 0o777);
  for (const folder of [shared, '/dev/null']) {
    const { code, out, err } = await cached(at, folder, '--version');
    assert.deepEqual([code, err], [0, '']);
    assert.match(out, /^\d+\.\d+\.\d+\n$/);
  }
  assert.deepEqual(readdirSync(`${shared}/plat`), []);
});
