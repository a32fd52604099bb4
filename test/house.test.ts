import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const SOURCES = fileURLToPath(new URL('../src/', import.meta.url));

/** From each room, the rooms that it may import from (docs/code-map.md). */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  shared: ['errors'],
  dictionary: ['shared', 'errors'],
  query: ['dictionary', 'shared', 'errors'],
  access: ['query', 'dictionary', 'shared', 'errors'],
  records: ['access', 'query', 'dictionary', 'shared', 'errors'],
  compile: ['records', 'access', 'query', 'dictionary', 'shared', 'errors'],
  store: ['compile', 'records', 'access', 'query', 'dictionary', 'shared', 'errors'],
  engines: ['store', 'compile', 'records', 'access', 'query', 'dictionary', 'shared', 'errors'],
  webhooks: ['store', 'compile', 'records', 'access', 'query', 'dictionary', 'shared', 'errors'],
  service: ['webhooks', 'store', 'compile', 'records', 'access', 'query', 'dictionary', 'shared', 'errors'],
  replica: ['store', 'compile', 'records', 'access', 'query', 'dictionary', 'shared', 'errors'],
  cli: [
    'open-store.ts',
    'service',
    'replica',
    'webhooks',
    'store',
    'compile',
    'records',
    'access',
    'query',
    'dictionary',
    'shared',
    'errors',
  ],
};

const ENGINES = ['engines/sqlite', 'engines/postgres'];
/** The one place outside an engine that may name it: where a store is opened. */
const OPENERS = new Set(['open-store.ts']);

interface Import {
  readonly from: string;
  readonly to: string;
}

/** The files that a file refers to: imports of every form, and the programs of its threads. */
const SPECIFIER = /(?:from\s+|import\s+|import\(\s*|new URL\(\s*)'([^']+)'/g;

const specifiersOf = (text: string): string[] =>
  [...text.matchAll(SPECIFIER)].map(([, specifier = '']) => specifier);

function importsOf(file: string): Import[] {
  const found = specifiersOf(readFileSync(file, 'utf8')).filter((path) => /^\..*\.ts$/.test(path));
  return found.map((path) => ({
    from: relative(SOURCES, file),
    to: relative(SOURCES, resolve(dirname(file), path)),
  }));
}

const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => join(SOURCES, name));
const imports = files.flatMap(importsOf);
const roomOf = (path: string): string => path.split('/')[0] ?? '';

it('imports only along the arrows of the code map', () => {
  const wrong = imports.filter(({ from, to }) => {
    const [room, target] = [roomOf(from), roomOf(to)];
    return room in ARROWS && room !== target && !ARROWS[room]?.includes(target);
  });
  assert.deepEqual(wrong, []);
  assert.ok(imports.length > 300, 'the test reads the sources');
});

it('knows an engine only inside of it', () => {
  const wrong = imports.filter(({ from, to }) =>
    ENGINES.some((engine) => to.startsWith(engine) && !from.startsWith(engine) && !OPENERS.has(from)),
  );
  assert.deepEqual(wrong, []);
});

it('has an entry in the arrows for every room of the sources', () => {
  const rooms = new Set(
    files.map((file) => roomOf(relative(SOURCES, file))).filter((room) => !room.endsWith('.ts')),
  );
  assert.deepEqual([...rooms].toSorted(), Object.keys(ARROWS).toSorted());
});

/** Groups of files that import each other in a cycle, also for types only (Tarjan). */
function circles(): string[][] {
  const targets = new Map<string, string[]>();
  for (const { from, to } of imports) targets.set(from, [...(targets.get(from) ?? []), to]);
  const found: string[][] = [];
  const order = new Map<string, number>();
  const open: string[] = [];
  const visit = (file: string): number => {
    const own = order.size;
    let lowest = own;
    order.set(file, own);
    open.push(file);
    for (const target of targets.get(file) ?? []) {
      if (!order.has(target)) lowest = Math.min(lowest, visit(target));
      else if (open.includes(target)) lowest = Math.min(lowest, order.get(target) ?? own);
    }
    if (lowest === own) {
      const group = open.splice(open.indexOf(file));
      if (group.length > 1) found.push(group);
    }
    return lowest;
  };
  for (const file of targets.keys()) if (!order.has(file)) visit(file);
  return found;
}

it('has no cycles between files', () => {
  assert.deepEqual(circles(), []);
});

/** Rooms next to each other, which share what is above both and never import from each other. */
const WINGS: readonly (readonly [string, string])[] = [
  ['service/native', 'service/reso'],
  ['query/native', 'query/odata'],
  ['engines/sqlite', 'engines/postgres'],
  ['replica/source/native', 'replica/source/reso'],
];

it('imports nothing from one of these rooms into another', () => {
  const between = (from: string, to: string): Import[] =>
    imports.filter((each) => each.from.startsWith(`${from}/`) && each.to.startsWith(`${to}/`));
  assert.deepEqual(
    WINGS.flatMap(([one, other]) => [...between(one, other), ...between(other, one)]),
    [],
  );
  for (const wing of WINGS.flat()) {
    assert.ok(
      imports.some(({ from }) => from.startsWith(`${wing}/`)),
      `${wing} has files`,
    );
  }
});

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** Every file that may import from the sources or the demonstration market. */
const programs = ['src', 'packages/demo/src', 'test', 'bench', 'scripts'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`),
);
const textOf = new Map(programs.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));

/** The entry points of the packages, which other programs import. */
const ENTRY_POINTS = new Set([
  'src/index.ts',
  'packages/demo/src/index.ts',
  'packages/demo/src/draw/rasterize.ts',
]);

const DECLARED =
  /^export (?:default |async |abstract )*(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm;
const LISTED = /^export\s+(?:type\s+)?(\{[^}]*\})/gm;
const NAMED = /(?:import|export)\s+(?:type\s+)?(\{[^}]*\}|\*(?: as \w+)?)\s+from\s+'(\.[^']+)'/g;
const LOADED = /(?:import\(|new URL\()\s*'(\.[^']+)'/g;
/** Exports without a name, or of several, which this test could not follow. */
const NAMELESS = /^export (?:default\b|(?:const|let) [{[])/m;

/** The name under which something is imported does not matter: `{ type A as B }` imports A. */
const importedNames = (list: string): string[] =>
  [...list.matchAll(/(?:^|[{,])\s*(?:type\s+)?(\w+)/g)].map(([, name = '']) => name);

/** The names that a file exports: `{ A as B }` exports B. */
const exportedNames = (text: string): string[] => [
  ...[...text.matchAll(DECLARED)].map(([, name = '']) => name),
  ...[...text.matchAll(LISTED)].flatMap(([, list = '']) =>
    [...list.matchAll(/(\w+)\s*(?=[,}])/g)].map(([, name = '']) => name),
  ),
];

it('exports only what another file imports', () => {
  const used = new Set<string>();
  for (const [path, text] of textOf) {
    const at = (specifier: string): string => join(dirname(path), specifier);
    for (const [, list = '', specifier = ''] of text.matchAll(NAMED)) {
      const names = list.startsWith('*') ? ['*'] : importedNames(list);
      for (const name of names) used.add(`${at(specifier)} ${name}`);
    }
    for (const [, specifier = ''] of text.matchAll(LOADED)) used.add(`${at(specifier)} *`);
  }
  const unused = [...textOf]
    .filter(([path]) => /^(src|packages)\//.test(path) && !ENTRY_POINTS.has(path))
    .filter(([path]) => !used.has(`${path} *`))
    .flatMap(([path, text]) => exportedNames(text).map((name) => `${path} ${name}`))
    .filter((each) => !used.has(each));
  assert.deepEqual(unused, []);
  const sources = [...textOf].filter(([path]) => path.startsWith('src/'));
  assert.deepEqual(
    sources.filter(([, text]) => NAMELESS.test(text)).map(([path]) => path),
    [],
  );
  assert.ok(used.size > 1000, 'the test reads the imports');
});

it('has no doc comment twice', () => {
  const places = new Map<string, string[]>();
  for (const [path, text] of textOf) {
    if (!path.startsWith('src/')) continue;
    for (const [, comment = ''] of text.matchAll(/\/\*\*([\s\S]*?)\*\//g)) {
      const words = comment.replace(/\s*\*\s*/g, ' ').trim();
      if (words.length > 40) places.set(words, [...(places.get(words) ?? []), path]);
    }
  }
  const twice = [...places].filter(([, paths]) => paths.length > 1);
  assert.deepEqual(
    twice.map(([words, paths]) => [words, ...paths]),
    [],
  );
});

it('leads from $filter to SQL in the files that the code map lists', () => {
  const map = readFileSync(join(ROOT, 'docs/code-map.md'), 'utf8');
  const [, section = ''] = /^## From `\$filter` to SQL$([\s\S]*?)^## /m.exec(map) ?? [];
  const steps = [...section.matchAll(/^\d+\. `([\w/.-]+)`/gm)].map(([, path = '']) => path);
  assert.ok(steps.length > 5 && steps.length <= 12, `${steps.length} files`);
  const connected = (one: string, other: string): boolean =>
    imports.some(({ from, to }) => (from === one && to === other) || (from === other && to === one));
  assert.deepEqual(
    steps.filter((step) => !steps.some((other) => connected(step, other))),
    [],
  );
});

it('writes to stdout and stderr through one module, which escapes what a terminal would interpret', () => {
  const writers = files.filter((file) =>
    /process\.(stdout|stderr|stdin\.fd)|[{,]\s*(stdout|stderr)\b[^}]*\}\s*=\s*process\b|console\.|destination\(|from 'node:(console|tty|readline)/.test(
      readFileSync(file, 'utf8').replace(/^\s*(\*|\/\/|\/\*).*$/gm, ''),
    ),
  );
  assert.deepEqual(
    writers.map((file) => relative(SOURCES, file)),
    ['cli/terminal.ts'],
  );
});

it('keeps the demonstration market a package that needs nothing of plat', () => {
  const folder = fileURLToPath(new URL('../packages/demo/src/', import.meta.url));
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const outside = sources.flatMap((name) =>
    specifiersOf(readFileSync(join(folder, name), 'utf8')).filter(
      (to) =>
        /^plat(\/|$)/.test(to) ||
        (to.startsWith('.') && !resolve(folder, dirname(name), to).startsWith(folder)),
    ),
  );
  assert.deepEqual(outside, []);
  assert.ok(sources.length > 20, 'the test reads the sources');
});
