/**
 * The tests of the rooms that are pure functions, in one process: to start one for each of their files would take four
 * times as long as the tests do. Each file runs by itself as well.
 */
import { readdirSync } from 'node:fs';

for (const room of ['query', 'dictionary']) {
  const folder = new URL(`./${room}/`, import.meta.url);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .toSorted();
  for (const file of files) await import(new URL(file, folder).href);
}
