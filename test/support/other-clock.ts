/**
 * The clock of PostgreSQL servers in a run of tests at another time (`other-date.js` gives Node its own): that of
 * libfaketime, where the machine has it (`apt-get install faketime`).
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where the library is that gives a process another clock; undefined on a machine without it. */
export function fakeTime(): string | undefined {
  return globSync('/usr/lib/*/faketime/libfaketime.so.1')[0];
}

/** Whether this process is at another time than the machine. */
export const hasOtherClock = (): boolean => process.env.PLAT_TEST_DATE_OFFSET !== undefined;

/**
 * The functions that a server waits in. libfaketime wraps them for clocks that run faster, which this one does not, and
 * gives the machine's time for as long as they wait: also to a signal handler that runs meanwhile. The handler in which
 * PostgreSQL looks whether a `lock_timeout` or a `statement_timeout` is over would wait for as many years as lie between.
 */
const WAITS = ['epoll_wait', 'nanosleep'];

/**
 * The library, without its wrappers of what waits: their names in its table of symbols are names that nobody looks up.
 */
function withoutWaits(library: Buffer): Buffer {
  const copy = Buffer.from(library);
  for (const name of WAITS) {
    // The names of the symbols come before whatever else names them; one may be the end of another.
    const at = copy.indexOf(`${name}\0`);
    if (at === -1) throw new Error(`libfaketime has no ${name}`);
    copy.write('_', at);
  }
  return copy;
}

/** The environment that gives a server the clock of this process; `folder` is one that it can read. */
export function otherClock(folder: string): Readonly<Record<string, string>> {
  const { PLAT_TEST_DATE_OFFSET: offset } = process.env;
  if (offset === undefined) return {};
  const library = fakeTime();
  if (library === undefined)
    throw new Error('a server of another time takes libfaketime (apt-get install faketime)');
  const copy = join(folder, 'libfaketime.so');
  writeFileSync(copy, withoutWaits(readFileSync(library)));
  const seconds = Number(offset) / 1000;
  return {
    LD_PRELOAD: copy,
    FAKETIME: `${seconds < 0 ? '' : '+'}${seconds}`,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    FAKETIME_DONT_RESET: '1',
  };
}
