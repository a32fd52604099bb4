/** Access to the file of texts, which has no name: Linux still leads to it by the descriptors of the process. */
import assert from 'node:assert/strict';
import { closeSync, existsSync, openSync, readdirSync, readlinkSync } from 'node:fs';
import type { Scope } from '../../support/engine.ts';

/** Whether the system lists open descriptors as files. */
export const canBeFound: boolean = existsSync('/proc/self/fd');

/** Opens an unlinked file that this process has open, for reading and writing. @param path the name that it had */
export function descriptorOf(scope: Scope, path: string): number {
  const name = readdirSync('/proc/self/fd').find((each) => {
    try {
      return readlinkSync(`/proc/self/fd/${each}`).startsWith(path);
    } catch {
      return false;
    }
  });
  const descriptor = openSync(`/proc/self/fd/${name ?? assert.fail('no such file is open')}`, 'r+');
  scope.after(() => closeSync(descriptor));
  return descriptor;
}
