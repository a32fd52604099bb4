/**
 * Names processes so that another process of the same host can determine whether they are alive. A name contains host and process
 * ID, and the boot, the namespace of the ID, and the start time of the process, since IDs are reused. A process about which nothing
 * is known is considered alive, so that no process loses a lease by mistake.
 */

import { hash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { codeOf } from '../../shared/error-code.ts';

/** What this process knows about itself and about other processes of its host. */
export interface Processes {
  /** Creates a unique name for a lease holder in this process. */
  name(): string;
  /** Whether the process with a name is certainly dead. */
  isDead(name: string): boolean;
}

/** The operating system, passed in so that a test can replace it. */
export interface Host {
  readonly name: string;
  readonly pid: number;
  /** The content of a small file. @throws if there is none */
  read(path: string): string;
  readLink(path: string): string;
  /** Whether a process with this ID exists, including one of another user. */
  exists(pid: number): boolean;
}

/** `host:pid:random`, followed by `:boot and namespace:start time` if they are known. */
const NAME = /^(?<shown>.*:(?<pid>\d+):[0-9a-f]{8})(?::(?<realm>[\w-]{12}):(?<begin>\d+))?$/;

/** The field with the start time in `/proc/<pid>/stat`, counted from the state, which follows the program in parentheses. */
const BEGIN = 19;
/** The states of a process that has ended and whose parent has not waited for it yet (zombies). */
const ENDED: ReadonlySet<unknown> = new Set(['Z', 'X']);

/** The part of a holder's name that is shown to users. */
export const displayName = (name: string): string => NAME.exec(name)?.groups?.shown ?? name;

export function processesOf(host: Host): Processes {
  const realm = attempt(() =>
    hash(
      'sha256',
      `${host.read('/proc/sys/kernel/random/boot_id').trim()} ${host.readLink('/proc/self/ns/pid')}`,
      'base64url',
    ).slice(0, 12),
  );
  const statOf = (pid: number | string): readonly string[] | undefined =>
    attempt(() => {
      const text = host.read(`/proc/${pid}/stat`);
      return text.slice(text.lastIndexOf(')') + 2).split(' ');
    });
  return {
    name() {
      const begin = statOf('self')?.[BEGIN];
      const shown = `${host.name}:${host.pid}:${randomBytes(4).toString('hex')}`;
      return realm === undefined || begin === undefined ? shown : `${shown}:${realm}:${begin}`;
    },
    isDead(name) {
      const parts = NAME.exec(name)?.groups;
      if (realm === undefined || parts?.realm !== realm) return false;
      const pid = Number(parts.pid);
      if (!host.exists(pid)) return true;
      const stat = statOf(pid);
      // A process of another user may be hidden.
      return stat !== undefined && (ENDED.has(stat[0]) || stat[BEGIN] !== parts.begin);
    },
  };
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The host that this process runs on. Only Linux has boots and namespaces to read. */
export const realProcesses = (): Processes =>
  processesOf({
    name: hostname(),
    pid: process.pid,
    read: (path) => readFileSync(path, 'utf8'),
    readLink: (path) => readlinkSync(path),
    exists: (pid) => {
      try {
        return process.kill(pid, 0);
      } catch (error) {
        return codeOf(error) !== 'ESRCH';
      }
    },
  });
