/**
 * The versions of Node on a user's machine: the one in the path and, with `PLAT_FULL=1`, one of each line that is still in use,
 * from npm. This module knows nothing of plat.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** A Node, with the output of `--version`. */
export interface OtherNode {
  readonly version: string;
  readonly path: string;
}

/** The oldest one is that of `engines`. */
export const LINES = [20, 22, 24, 26] as const;

/** The path of a user: without the folders that npm adds for a test run. */
export const userPath = (): string =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .filter((each) => !each.includes('node_modules'))
    .join(delimiter);

/** The Node that a user's shell finds; undefined: none. */
function installed(): OtherNode | undefined {
  const path = userPath()
    .split(delimiter)
    .map((folder) => join(folder, 'node'))
    .find((each) => existsSync(each));
  return path === undefined ? undefined : known(path);
}

function known(path: string): OtherNode | undefined {
  const { status, stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' });
  return status === 0 ? { version: stdout.trim(), path } : undefined;
}

/**
 * The available versions of Node, including that of this process.
 *
 * @returns also a description of the versions that could not be obtained
 */
export function nodesHere(): { readonly nodes: readonly OtherNode[]; readonly lacking: readonly string[] } {
  const own = { version: process.version, path: process.execPath };
  if (process.env.PLAT_FULL !== '1') {
    const other = installed();
    return {
      nodes: other === undefined || other.version === own.version ? [own] : [own, other],
      lacking: [],
    };
  }
  const nodes: OtherNode[] = [];
  const lacking: string[] = [];
  for (const line of LINES) {
    const node = process.version.startsWith(`v${line}.`) ? own : fromNpm(line);
    if (node === undefined) lacking.push(`Node ${line} cannot be got from npm here`);
    else nodes.push(node);
  }
  return { nodes, lacking };
}

/** The npm package `node` contains each version as a program. */
function fromNpm(line: number): OtherNode | undefined {
  const folder = mkdtempSync(join(tmpdir(), `plat-node-${line}-`));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  try {
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    const options = ['--no-audit', '--no-fund', '--prefix', folder];
    execFileSync('npm', ['install', `node@${line}`, ...options], { cwd: folder, stdio: 'pipe' });
    return known(join(folder, 'node_modules', 'node', 'bin', 'node'));
  } catch {
    return undefined;
  }
}
