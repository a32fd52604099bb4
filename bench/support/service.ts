import { createKey } from '../../src/store/new-key.ts';
import type { MarketStore } from './market-store.ts';
import { type Running, startHelper, startPlat } from './process.ts';

/** A service in a process of its own, and keys to it. */
export interface RunningService {
  readonly process: Running;
  /** Roots of the replication surface; they end with a slash. */
  readonly reso: string;
  readonly native: string;
  readonly tokens: Readonly<Record<'private' | 'second' | 'idx', string>>;
}

/** Options by which a service listens on any ports. */
export const FREE_PORTS = ['api', 'replication', 'floorplans', 'admin'].flatMap((name) => [
  `--${name}-port`,
  '0',
]);

/** Starts `plat serve` on free ports, with two keys of the role `private`. */
export async function startService({ store, path, config }: MarketStore): Promise<RunningService> {
  const token = async (role: string): Promise<string> => {
    const wanted = { name: 'bench', kind: 'replication', role, systems: [], expiresAt: null } as const;
    return (await createKey(store, wanted)).token;
  };
  const tokens = {
    private: await token('private'),
    second: await token('private'),
    idx: await token('idx'),
  };
  const process = startPlat([
    ...['serve', '--store', path, '--config', config],
    ...[...FREE_PORTS, '--log-level', 'warn'],
  ]);
  const [, reso = '', native = ''] = await process.said(/^replication\s+(\S+)\s+(\S+)$/m);
  return { process, reso, native, tokens };
}

/** A bare server that sends these files. */
export async function startFloor(files: readonly string[]): Promise<{ process: Running; root: string }> {
  const process = startHelper('./floor-server.ts', files);
  const [root] = await process.said(/http:\S+/);
  return { process, root };
}
