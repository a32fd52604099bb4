/**
 * Names processes so that another one of the same host can tell whether they are still alive: beside host and number, the
 * boot and the namespace that the number is of, and when the process began, since numbers are used again. What cannot be
 * told is alive: nobody is robbed.
 */
import { hash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** What this process knows of itself and of others of its host. */
export interface Processes {
  /** A name for one holder in this process, unlike any other. */
  name(): string;
  /** Whether the process of a name is gone for certain. */
  isDead(name: string): boolean;
}

/** The operating system, passed in so that a test can be one. */
export interface Host {
  readonly name: string;
  readonly pid: number;
  /** A small file, or what a link leads to. @throws where there is none */
  read(path: string): string;
  readLink(path: string): string;
  /** Whether a process has this number; also one of another user. */
  exists(pid: number): boolean;
}

/** `host:pid:random`, and where they can be told `:boot and namespace:begin`. */
const NAME = /^(?<shown>.*:(?<pid>\d+):[0-9a-f]{8})(?::(?<realm>[\w-]{12}):(?<begin>\d+))?$/;

/** The field of the begin in `/proc/<pid>/stat`, counted from the state, which follows the program in parentheses. */
const BEGIN = 19;
/** A process that has ended, but whose parent has not asked for it yet. */
const ENDED: ReadonlySet<unknown> = new Set(['Z', 'X']);

/** The part of a holder's name that is for people. */
export const shownName = (name: string): string => NAME.exec(name)?.groups?.shown ?? name;

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
      const told = NAME.exec(name)?.groups;
      if (realm === undefined || told?.realm !== realm) return false;
      const pid = Number(told.pid);
      if (!host.exists(pid)) return true;
      const stat = statOf(pid);
      // A process of another user may be hidden.
      return stat !== undefined && (ENDED.has(stat[0]) || stat[BEGIN] !== told.begin);
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

/** The host that this process runs on. Only Linux tells of boots and namespaces. */
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
        return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
      }
    },
  });
