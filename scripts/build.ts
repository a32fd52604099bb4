/** Builds the published form: JavaScript and declarations in dist/, with the data that the sources read beside them. */
import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const run = (program: string, ...args: string[]): void => {
  execFileSync(program, args, { cwd: root, stdio: 'inherit' });
};

rmSync(`${root}dist`, { recursive: true, force: true });
run('node', 'node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json');
cpSync(`${root}src/dictionary/data`, `${root}dist/dictionary/data`, { recursive: true });
