/** What a new user does: a fresh clone and its two commands; the packed package in an empty folder. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Scope } from '../support/engine.ts';
import { LINES, nodesHere } from '../support/older-nodes.ts';
import { temporaryFile } from '../support/temporary.ts';
import { PLAT } from './run.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const skip = process.env.PLAT_FULL === '1' ? false : 'installs packages; npm run test:full';
const PORTS = ['--api-port', '0', '--replication-port', '0', '--floorplans-port', '0', '--admin-port', '0'];

/** The user's own environment, without what npm added to run this test, and so with the Node of the machine. */
function ownEnvironment(): Record<string, string | undefined> {
  const kept = Object.entries(process.env).filter(([name]) => !/^(npm_|PLAT_|NODE_)/.test(name));
  const paths = (process.env.PATH ?? '').split(delimiter).filter((each) => !each.includes('node_modules'));
  return { ...Object.fromEntries(kept), PATH: paths.join(delimiter) };
}

const run = (folder: string, program: string, ...args: readonly string[]): string =>
  execFileSync(program, args, { cwd: folder, env: ownEnvironment(), encoding: 'utf8', stdio: 'pipe' });

/** Starts a demonstration, runs the lines that it prints unchanged, and ends it. */
async function tryDemo(
  scope: Scope,
  folder: string,
  program: string,
  args: readonly string[],
): Promise<void> {
  const child = spawn(program, args, { cwd: folder, env: ownEnvironment(), detached: true });
  const end = (): void => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, 'SIGTERM');
  };
  scope.after(end);
  let [out, err] = ['', ''];
  child.stderr.on('data', (part: Buffer) => {
    err += part;
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (part: Buffer) => {
      out += part;
      if (/\$top=1'\n/.test(out)) resolve();
    });
    child.on('close', (code) => reject(new Error(`ended with ${code}: ${out}${err}`)));
  });
  const lines = out.split('\n').filter((line) => line.startsWith('  curl '));
  assert.equal(lines.length, 3);
  for (const line of lines) {
    const answer = JSON.parse(run(folder, 'sh', '-c', `${line} -sS --fail`));
    const rows = answer.value ?? answer.D?.Results;
    assert.ok(Array.isArray(rows) && rows.length > 0, `${line}: ${JSON.stringify(answer)}`);
  }
  const closed = new Promise((resolve) => child.on('close', resolve));
  end();
  await closed;
}

test(
  'a fresh clone: npm ci && npm run demo; its package, installed into an empty folder: plat demo',
  { skip },
  async (t) => {
    const clone = temporaryFile('');
    run(ROOT, 'git', 'clone', '--quiet', ROOT, clone);
    const started = performance.now();
    run(clone, 'npm', 'ci');
    const seconds = (performance.now() - started) / 1000;
    assert.ok(seconds < 60, `npm ci took ${seconds} s`);
    await tryDemo(t, clone, 'npm', ['run', 'demo', '--', '--listings', '100', ...PORTS]);

    run(clone, 'npm', 'pack');
    run(clone, 'npm', 'pack', './packages/demo/dist');
    const tarballs = readdirSync(clone).filter((name) => name.endsWith('.tgz'));
    assert.equal(tarballs.length, 2, 'plat, and the demonstration market');
    const empty = temporaryFile('');
    mkdirSync(empty);
    run(empty, 'npm', 'init', '--yes');
    run(empty, 'npm', 'install', ...tarballs.map((name) => join(clone, name)));
    const plat = join(empty, 'node_modules', '.bin', 'plat');
    assert.match(run(empty, plat, '--version'), /^\d+\.\d+\.\d+\n$/);
    await tryDemo(t, empty, plat, ['demo', '--listings', '100', ...PORTS]);
    const page = readFileSync(join(empty, 'node_modules', 'plat', 'dist', 'console', 'index.html'), 'utf8');
    assert.match(page, /src="\/console\/assets\/index-[\w-]+\.js"/, 'the console is in the package');
    const own = join(empty, 'node_modules', '.bin', 'node');
    for (const script of [
      "import('plat').then((plat) => console.log(Object.keys(plat).includes('openStore')))",
      "console.log(Object.keys(require('plat')).includes('openStore'))",
    ])
      assert.equal(run(empty, own, '-e', script), 'true\n');

    // A program that uses the types needs only the package and a compiler. With node16, a CommonJS module cannot use ESM types.
    writeFileSync(join(empty, 'use.mts'), CONSUMER);
    writeFileSync(join(empty, 'use.cts'), insideFunction(CONSUMER));
    for (const module of ['nodenext', 'node16']) {
      const compilerOptions = {
        strict: true,
        noEmit: true,
        skipLibCheck: false,
        module,
        types: [],
      };
      const settings = {
        compilerOptions: { ...compilerOptions, target: 'esnext', lib: ['esnext'] },
        files: ['use.mts', 'use.cts'],
      };
      writeFileSync(join(empty, 'tsconfig.json'), JSON.stringify(settings));
      for (const compiler of COMPILERS) run(empty, own, compiler, '-p', '.');
    }

    // Without the build tools nothing is built, and nothing fails.
    run(clone, 'npm', 'ci', '--omit=dev');
  },
);

/** The compiler of this checkout, and one of the previous major version. */
const COMPILERS = ['typescript', '@odata2ts/odata2ts/node_modules/typescript'].map((name) =>
  join(ROOT, 'node_modules', name, 'bin', 'tsc'),
);

const CONSUMER = `
import { openStore, parseRecord, replicate, SERVICE_DEFAULTS, type Service, startService, type Store, systemClock } from 'plat';
const store: Store = await openStore('market.db', { create: 'authority', threads: true });
const parsed = parseRecord((await store.model()).resource('Property'), { ListingKey: '1' }, await store.model());
if (!parsed.ok) throw new Error(parsed.invalid.reasons.join('; '));
await store.write('Property', [parsed.record]);
export const start: (...given: Parameters<typeof startService>) => Promise<Service> = startService;
export const used = [replicate, SERVICE_DEFAULTS, systemClock.now()];
// @ts-expect-error There is no such member: the types are read, and are not any.
store.nonsense;
`;

/** A program with its body in a function, since CommonJS has no top-level `await`. */
function insideFunction(program: string): string {
  const [imports, ...body] = program.trim().split('\n');
  const inner = body.join('\n').replaceAll('export ', '');
  return `${imports}\nexport async function use(): Promise<unknown> {\n${inner}\nreturn [start, used];\n}\n`;
}

const LIBRARY = join(ROOT, 'bin', 'library.cjs');

test('the library exports the same names as its sources, and its types and programs import only installed packages', async () => {
  const text = readFileSync(LIBRARY, 'utf8');
  const lists = [...text.matchAll(/\{\n([\w\s,]+)\}/g)].map(([, names = '']) => names.match(/\w+/g));
  const names = Object.keys(await import('../../src/index.ts'));
  assert.deepEqual(lists, [names, names]);
  const types = readFileSync(join(ROOT, 'bin', 'library.d.cts'), 'utf8');
  const typed = [...types.matchAll(/^export declare const (\w+): typeof library\.\1;$/gm)].map(
    ([, name]) => name,
  );
  assert.deepEqual(typed, names);
  const { engines, dependencies } = manifest();
  assert.equal(engines.node, `>=${LINES[0]}`, 'the oldest that test/cli/launcher.test.ts starts it with');
  const [needed] = /\d+/.exec(dependencies.node ?? '') ?? [];
  for (const file of [LIBRARY, PLAT])
    assert.match(readFileSync(file, 'utf8'), new RegExp(`^const NEEDED = ${needed};$`, 'm'));
});

test('importing the library with a Node that is too old gives one line', () => {
  for (const { version, path } of nodesHere().nodes) {
    if (version.startsWith('v26.')) continue;
    const script = `import(${JSON.stringify(LIBRARY)}).catch((error) => console.log(error.stack))`;
    const said = execFileSync(path, ['-e', script], { encoding: 'utf8' });
    const needs = 'Error: plat as a library needs Node 26 or newer, and this is';
    assert.equal(said, `${needs} ${version.slice(1)}; the program "plat" brings its own.\n`);
  }
});

function manifest(): {
  readonly engines: { readonly node: string };
  readonly dependencies: Record<string, string>;
} {
  return JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
}
