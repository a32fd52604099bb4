import { readFileSync } from 'node:fs';

/** The version of the package that this file is part of. */
export function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { version: found }: { version: string } = JSON.parse(text);
  return found;
}
