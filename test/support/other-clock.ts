/**
 * The clock of PostgreSQL servers in a test run at another time (`other-date.js` sets Node's clock): libfaketime provides it, if
 * the machine has that (`apt-get install faketime`).
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The path of libfaketime; undefined on a machine without it. */
export function fakeTime(): string | undefined {
  return globSync('/usr/lib/*/faketime/libfaketime.so.1')[0];
}

/** Whether the clock of this process differs from that of the machine. */
export const hasOtherClock = (): boolean => process.env.PLAT_TEST_DATE_OFFSET !== undefined;

/**
 * The functions in which a server waits. libfaketime wraps them for clocks that run faster, which this one does not, and provides
 * the machine's time while they wait, also to a signal handler that runs in the meantime. The handler in which PostgreSQL checks
 * for a `lock_timeout` or a `statement_timeout` would then wait for years.
 */
const WAITS = ['epoll_wait', 'nanosleep'];

/**
 * The library without its wrappers of these functions: their names in its symbol table are replaced by names that nothing looks up.
 */
function withoutWaits(library: Buffer): Buffer {
  const copy = Buffer.from(library);
  for (const name of WAITS) {
    // The symbol table precedes all other occurrences of the names; a name may be the end of a longer one.
    const at = copy.indexOf(`${name}\0`);
    if (at === -1) throw new Error(`libfaketime has no ${name}`);
    copy.write('_', at);
  }
  return copy;
}

/** The environment that gives a server the clock of this process. @param folder a folder that the server can read */
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
