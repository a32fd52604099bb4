/** Programs that a machine may lack, and what tests of `deploy/` share. */
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));

export const deployed = (name: string): string => readFileSync(join(DEPLOY, name), 'utf8');

/** Where a program lies; undefined on a machine without it. */
export const whereIs = (program: string): string | undefined =>
  [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
    .map((folder) => join(folder, program))
    .find((path) => existsSync(path));

/** For `skip`: why a test cannot run here, naming the package of Debian that would let it. */
export const unlessHere = (program: string, debian: string = program): false | string =>
  whereIs(program) === undefined ? `there is no ${program} (Debian: apt-get install ${debian})` : false;

/** Replaces what must be there at least once. */
export function replaced(text: string, changes: Readonly<Record<string, string>>): string {
  return Object.entries(changes).reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`there is no ${from}`);
    return changed.replaceAll(from, to);
  }, text);
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0));
    });
  });
}
