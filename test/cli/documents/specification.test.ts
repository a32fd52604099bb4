/** What the documents refer to exists. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');
const isThere = (path: string): boolean => existsSync(fileURLToPath(new URL(path, ROOT)));

/** The rules of the specification in the table of docs/specification.md. */
const RULES = [
  ...['2.1', '2.2', '2.3', '2.4.1', '2.4.2', '2.4.3', '2.4.4', '3', '4', '4.1'],
  ...['4.1.1', '4.1.2', '4.1.3', '4.1.4', '4.1.5'],
  ...['4.2 paths', '4.2 $top', '4.2 $count', '4.2 $skip', '4.2 $skiptoken', '4.2 $filter', '4.2 $select'],
  ...['4.2 $expand', '4.3 paths', '4.3 _limit', '4.3 _skiptoken', '4.3 _skip', '4.3 _filter'],
  ...['4.3 _select, _expand', '4.3.1', '4.3.2', '4.3.3', '4.3.4'],
  ...['4.4', '4.4.1', '4.4.2', '4.4.3', '4.4.4', '4.4.5', '4.4.6'],
  ...['5.1', '5.2', '5.3', '5.4', '5.5', '5.6', '7.1', '7.2', '7.3', '7.4'],
  ...['8 page size', '8 polling and purging', '8 cache', '9.1', '9.2'],
];

test('docs/specification.md leads from every rule to code and tests that exist', () => {
  const rows = read('docs/specification.md')
    .split('\n')
    .map((line) => line.split(' | '))
    .filter((cells) => cells.length === 4 && cells[2]?.startsWith('`src/'));
  assert.deepEqual(
    rows.map(([rule = '']) => rule.replace(/^\| /, '')),
    RULES,
  );
  let names = 0;
  for (const [rule = '', , code = '', tests = ''] of rows) {
    for (const [, path = ''] of code.matchAll(/`([^`]+)`/g)) assert.ok(isThere(path), `${rule}: ${path}`);
    for (const [, path = '', list = ''] of tests.matchAll(
      /`(test\/[^`]+)`: ((?:"(?:[^"\\]|\\.)*"(?:, )?)+)/g,
    )) {
      assert.ok(isThere(path), `${rule}: ${path}`);
      const source = read(path);
      for (const [, name = ''] of list.matchAll(/"((?:[^"\\]|\\.)*)"/g)) {
        names++;
        const begins = new RegExp(
          `(?:test|it|describe)\\(\\s*['"\`]${RegExp.escape(name.replaceAll('\\"', '"'))}`,
        );
        assert.match(source, begins, `${rule}: ${path} has no test "${name}"`);
      }
    }
  }
  assert.ok(names > RULES.length, `${names} tests are named`);
});

test('docs/code-map.md names every room and folder of the sources, and files that exist', () => {
  const map = read('docs/code-map.md');
  const folders = readdirSync(fileURLToPath(new URL('src', ROOT)), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => relative(fileURLToPath(new URL('src', ROOT)), join(entry.parentPath, entry.name)));
  const missing = folders.filter((path) => {
    const [room = '', folder, ...deeper] = path.split('/');
    const section = map.split(/^##+ /m).find((each) => each.startsWith(`\`src/${room}/\``)) ?? '';
    return (
      section === '' || (folder !== undefined && deeper.length === 0 && !section.includes(`${folder}/\``))
    );
  });
  assert.deepEqual(missing, []);
  for (const [, path = ''] of map.matchAll(
    /`((?:test|src|packages|service|store|query|compile|records|engines|shared|replica|cli|access|dictionary)\/[\w/.-]+)`/g,
  )) {
    assert.ok(isThere(path) || isThere(`src/${path}`), path);
  }
  const files = ['src', 'packages', 'scripts', 'test'].flatMap((folder) =>
    readdirSync(fileURLToPath(new URL(folder, ROOT)), { recursive: true, encoding: 'utf8' }).map(
      (name) => `${folder}/${name}`,
    ),
  );
  for (const section of map.split(/^##+ /m)) {
    const [, room = ''] = /^`((?:src|packages)\/\w+\/)`\n/.exec(section) ?? [];
    for (const [, path = ''] of room === '' ? [] : section.matchAll(/`([\w/-]+\.(?:ts|tsv|css))`/g)) {
      const names = (file: string): boolean =>
        file === path ||
        file === `src/${path}` ||
        ((file.startsWith(room) || file.startsWith('test/')) && file.endsWith(`/${path}`));
      assert.ok(files.some(names), `${room}: ${path}`);
    }
  }
});

test('every link between documents leads somewhere', () => {
  const documents = readdirSync(fileURLToPath(new URL('docs', ROOT)))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`);
  for (const document of ['README.md', ...documents]) {
    const links = read(document).matchAll(/\]\((?!https?:)([^)#]+)/g);
    for (const [, link = ''] of links) {
      assert.ok(isThere(join(dirname(document), link)), `${document}: ${link}`);
    }
  }
});
