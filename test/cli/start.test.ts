/** The cost of starting plat: a command loads only what it needs, and compiled code is cached where only its user can write. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import MEMORY from '../../bin/memory.json' with { type: 'json' };
import { type Place, place, type Running } from './run.ts';
import { ANY_PORT } from './serving.ts';

const PRELOADED = new URL('../support/loaded-modules.js', import.meta.url);

/** The packages that a command loads, the rooms of `src/`, and the engines. */
function loadedBy(at: Place, ...args: readonly string[]): Promise<readonly string[]> {
  return loadedUntil(at, async () => undefined, ...args);
}

/** The same for a command that runs until it is ended. */
async function loadedUntil(
  at: Place,
  end: (running: Running) => Promise<unknown>,
  ...args: readonly string[]
): Promise<readonly string[]> {
  const file = at.file('loaded', '');
  const running = at.start(args, {
    env: { NODE_OPTIONS: `--import=${PRELOADED}`, PLAT_TEST_LOADED: at.path(file) },
  });
  await end(running);
  const { code, err } = await running.ended;
  assert.equal(code, 0, err);
  const urls = readFileSync(at.path(file), 'utf8').trimEnd().split('\n');
  const parts = urls.flatMap(
    (url) =>
      /node_modules\/((?:@[^/]+\/)?[^/]+)|(?:src|deps)\/(engines\/\w+|[\w-]+)/.exec(url)?.slice(1) ?? [],
  );
  return [...new Set(parts.filter((part) => part !== undefined))].toSorted();
}

test('help and version load no room of the sources', async (t) => {
  const at = place(t);
  for (const args of [['--help'], ['--version']]) {
    const loaded = await loadedBy(at, ...args);
    assert.deepEqual(loaded, ['cli', 'commander', 'errors', 'replica', 'shared', 'store']);
  }
});

test('a command on a file loads no server, no service and no client', async (t) => {
  const at = place(t);
  at.file('l.ndjson', [{ ListingKey: '1', StandardStatus: 'Active' }]);
  const store = ['--store', 'm.db'];
  const usual = [
    'access',
    'cli',
    'commander',
    'compile',
    'dictionary',
    'engines/sqlite',
    'errors',
    'lru-cache',
    'open-store',
    'query',
  ];
  for (const args of [
    ['key', 'create', ...store, '--name', 'n'],
    ['import', ...store, 'l.ndjson'],
    ['export', ...store, '--resource', 'Property'],
    ['status', ...store],
    ['check', ...store],
  ]) {
    const loaded = await loadedBy(at, ...args);
    assert.deepEqual(loaded, [...usual, 're2js', 'records', 'replica', 'shared', 'store'], args.join(' '));
  }
});

test('a run of replicate loads no server; a watch has one for its probes', async (t) => {
  const loaded = await loadedBy(place(t), 'replicate', '--help');
  assert.ok(loaded.includes('fast-xml-parser'));
  assert.deepEqual(
    loaded.filter((part) => ['prom-client', 'service'].includes(part)),
    [],
  );
});

test('a service loads no HTTP client before it needs one', async (t) => {
  const at = place(t);
  await at.done(['key', 'create', '--store', 'm.db', '--name', 'n']);
  const untilServed = async ({ until, child }: Running): Promise<void> => {
    await until(/^admin /m);
    child.kill('SIGTERM');
  };
  const loaded = await loadedUntil(at, untilServed, 'serve', '--store', 'm.db', ...ANY_PORT);
  assert.ok(loaded.includes('service'));
  assert.deepEqual(
    loaded.filter((part) => ['undici', 'fast-xml-parser'].includes(part)),
    [],
  );
});

const cached = (at: Place, folder: string, ...args: readonly string[]) =>
  at.run(args, { env: { NODE_COMPILE_CACHE: '', XDG_CACHE_HOME: folder } });

test('compiled code is cached for its user only', async (t) => {
  const at = place(t);
  const { code } = await cached(at, at.path('caches'), '--version');
  assert.equal(code, 0);
  const folder = at.path('caches/plat');
  assert.equal((statSync(folder).mode & 0o777).toString(8), '700');
  const versions = () => readdirSync(folder).filter((name) => name.startsWith('v'));
  const [version = ''] = versions();
  const kept = readdirSync(`${folder}/${version}`).length;
  assert.ok(kept > 10);
  // A consumer restarts with other flags, for which everything is compiled again.
  assert.equal((await cached(at, at.path('caches'), 'replicate', '--help')).code, 0);
  const others = versions().flatMap((name) => readdirSync(`${folder}/${name}`));
  assert.ok(others.length > kept + 10, `${others.length} files, and ${kept} before`);
});

test('compiled code that was not used for a month, or exceeds 256 MB, is removed once a day', async (t) => {
  const at = place(t);
  const folder = at.path('caches/plat');
  const before = (days: number) => new Date(Date.now() - days * 86_400_000);
  const make = (name: string, days: number, size = 10) => {
    const path = `${folder}/${name}`;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, '');
    truncateSync(path, size);
    utimesSync(path, before(days), before(days));
    return path;
  };
  const kept = [
    make('v20.1.0-x64-aaaaaaaa-0/new', 0.5),
    make('v20.1.0-x64-aaaaaaaa-0/large', 1, 255 << 20),
    make('0123456789abcdef-pages', 29),
    make('other/old', 99),
  ];
  const gone = [
    make('v20.1.0-x64-aaaaaaaa-0/old', 31),
    make('v20.1.0-x64-aaaaaaaa-0/older', 2, 2 << 20),
    make('v18.0.0-x64-bbbbbbbb-0/old', 31),
  ];
  const exist = (paths: readonly string[]) => paths.map((path) => existsSync(path));
  const run = async () => assert.equal((await cached(at, at.path('caches'), '--version')).code, 0);
  await run();
  assert.deepEqual(exist(gone), [false, false, false]);
  assert.deepEqual(exist(kept), [true, true, true, true]);
  assert.equal(existsSync(`${folder}/v18.0.0-x64-bbbbbbbb-0`), false);
  assert.ok(readdirSync(folder).filter((name) => name.startsWith('v2')).length > 1, 'what is used remains');
  const next = make('v20.1.0-x64-aaaaaaaa-0/old', 31);
  await run();
  assert.ok(existsSync(next));
  utimesSync(`${folder}/trimmed`, before(2), before(2));
  await run();
  assert.equal(existsSync(next), false);
});

test('without a home folder, compiled code is not cached, least of all in the working directory', async (t) => {
  const at = place(t);
  const { code } = await at.run(['--version'], {
    env: { NODE_COMPILE_CACHE: '', XDG_CACHE_HOME: '', HOME: '' },
  });
  assert.equal(code, 0);
  assert.equal(existsSync(at.path('.cache')), false);
});

test(
  'a cache folder in a file system that takes none keeps no command from starting',
  { skip: !existsSync('/proc') },
  async (t) => {
    const { code } = await cached(place(t), '/proc/plat/caches', '--version');
    assert.equal(code, 0);
  },
);

/** Where the system shows the command line of another process. */
const tellsEnvironments = existsSync('/proc/self/environ');

/** Preloaded: writes the heap limit of a process's first thread to the file in PLAT_TEST_HEAP. */
const NOTES_HEAP = `data:text/javascript,${encodeURIComponent(
  `import { writeFileSync } from 'node:fs'; import { getHeapStatistics } from 'node:v8';
  import { isMainThread } from 'node:worker_threads';
  if (isMainThread) writeFileSync(process.env.PLAT_TEST_HEAP, String(getHeapStatistics().heap_size_limit));`,
)}`;

/** The heap limit of a process that is started with these flags. */
const heapWith = (flags: readonly string[]): string =>
  execFileSync(process.execPath, [...flags, '-p', 'require("node:v8").getHeapStatistics().heap_size_limit'], {
    encoding: 'utf8',
  }).trim();

test(
  'a service limits its malloc arenas unless the user sets another number, and its Node flags apply to its first thread',
  { skip: tellsEnvironments ? false : 'needs /proc' },
  async (t) => {
    const at = place(t);
    await at.done(['key', 'create', '--store', 'm.db', '--name', 'n']);
    const flags: readonly string[] = MEMORY.serve.flags;
    assert.notEqual(heapWith(flags), heapWith([]));
    const note = { NODE_OPTIONS: `--import=${NOTES_HEAP}`, PLAT_TEST_HEAP: at.path('heap') };
    const other = '--max-semi-space-size=24';
    for (const [before, chosen, arenas, heap] of [
      [[], {}, '1', heapWith(flags)],
      [[other], { MALLOC_ARENA_MAX: '3' }, '3', heapWith([other])],
    ] as const) {
      const service = at.start(['serve', '--store', 'm.db', ...ANY_PORT], {
        env: { ...note, ...chosen },
        flags: before,
        isUnprepared: true,
      });
      await service.until(/^admin /m);
      const environment = readFileSync(`/proc/${service.child.pid}/environ`, 'utf8').split('\0');
      assert.deepEqual(
        environment.filter((each) => each.startsWith('MALLOC_ARENA_MAX=')),
        [`MALLOC_ARENA_MAX=${arenas}`],
      );
      assert.equal(readFileSync(at.path('heap'), 'utf8'), heap);
      service.child.kill('SIGTERM');
      assert.equal((await service.ended).code, 0);
    }
  },
);

test('compiled code that others can write to is not run, and without a safe folder nothing is cached', async (t) => {
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
