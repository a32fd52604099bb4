import { readdirSync } from 'node:fs';

const TESTS = new URL('../', import.meta.url);

/** Runs all test files of some folders in this process: to start one for each takes longer than most of them do. */
export async function runRooms(rooms: readonly string[]): Promise<void> {
  for (const room of rooms) {
    const folder = new URL(`${room}/`, TESTS);
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts'))
      .toSorted();
    for (const file of files) await import(new URL(file, folder).href);
  }
}
