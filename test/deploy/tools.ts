/** Helpers for tests of `deploy/`: its files, and programs that may not be installed. */
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));

export const deployed = (name: string): string => readFileSync(join(DEPLOY, name), 'utf8');

/** The path of a program; undefined if it is not installed. */
export const whereIs = (program: string): string | undefined =>
  [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
    .map((folder) => join(folder, program))
    .find((path) => existsSync(path));

/** For `skip`: false if a program is installed, or a reason that names its Debian package. */
export const unlessHere = (program: string, debian: string = program): false | string =>
  whereIs(program) === undefined ? `${program} is not installed (Debian: apt-get install ${debian})` : false;

/** Replaces texts, each of which must occur at least once. */
export function replaced(text: string, changes: Readonly<Record<string, string>>): string {
  return Object.entries(changes).reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`there is no ${from}`);
    return changed.replaceAll(from, to);
  }, text);
}
