/**
 * Builds the published form: JavaScript and declarations in dist/, with the data files of the sources. The package of the
 * demonstration market is built first, in packages/demo/dist, from where it is published; the console is built last.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const run = (program: string, ...args: string[]): void => {
  execFileSync(program, args, { cwd: root, stdio: 'inherit' });
};
const compile = (project: string): void => run('node', 'node_modules/typescript/bin/tsc', '-p', project);

const demo = `${root}packages/demo/`;
rmSync(`${demo}dist`, { recursive: true, force: true });
compile(`${demo}tsconfig.build.json`);
// Node does not run TypeScript in node_modules, so the published package refers to the compiled files.
const manifest = readFileSync(`${demo}package.json`, 'utf8').replaceAll(/\.\/src\/([\w/-]+)\.ts/g, './$1.js');
writeFileSync(`${demo}dist/package.json`, manifest);
cpSync(`${root}LICENSE`, `${demo}dist/LICENSE`);

rmSync(`${root}dist`, { recursive: true, force: true });
compile(`${root}tsconfig.build.json`);
for (const data of ['dictionary/data', 'engines/postgres/sql'])
  cpSync(`${root}src/${data}`, `${root}dist/${data}`, { recursive: true });
run('node', 'scripts/console.ts');
