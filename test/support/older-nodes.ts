/**
 * The Nodes of a user's machine: the one that stands in the path, and with `PLAT_FULL=1` one of each line that is still
 * in use, as npm has it. It knows nothing of plat.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** A Node, by what `--version` says. */
export interface OtherNode {
  readonly version: string;
  readonly path: string;
}

/** The oldest is what `engines` names. */
export const LINES = [20, 22, 24, 26] as const;

/** The path of a user: without what npm added to run a test. */
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
 * The Nodes that there are here, this process's among them.
 * @returns with them what could not be got, in words
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

/** The npm package `node` has each of them as a program. */
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
