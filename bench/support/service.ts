import { createKey } from '../../src/store/keys/new-key.ts';
import type { Store } from '../../src/store/store.ts';
import type { MarketStore } from './market-store.ts';
import { type Running, startHelper, startPlat } from './process.ts';

/** A service in a separate process, with keys. */
export interface RunningService {
  readonly process: Running;
  /** Roots of the replication surface, with a slash at the end. */
  readonly reso: string;
  readonly native: string;
  readonly tokens: Readonly<Record<'private' | 'second' | 'idx', string>>;
}

/** Options that make a service listen on free ports. */
export const FREE_PORTS = ['api', 'replication', 'floorplans', 'admin'].flatMap((name) => [
  `--${name}-port`,
  '0',
]);

/** Starts `plat serve` on free ports, with two keys of the role `private`. */
export async function startService({ store, path, config }: MarketStore): Promise<RunningService> {
  const tokens = {
    private: await makeToken(store, 'private'),
    second: await makeToken(store, 'private'),
    idx: await makeToken(store, 'idx'),
  };
  return { ...(await startServe(path, config)), tokens };
}

/** @param systems originating systems to which the key is restricted */
export async function makeToken(
  store: Store,
  role: string,
  systems: readonly string[] = [],
): Promise<string> {
  const wanted = { name: 'bench', kind: 'replication', role, systems, expiresAt: null } as const;
  return (await createKey(store, wanted)).token;
}

/** @param path the address of the store */
export async function startServe(path: string, config: string): Promise<Omit<RunningService, 'tokens'>> {
  const process = startPlat([
    ...['serve', '--store', path, '--config', config],
    ...[...FREE_PORTS, '--log-level', 'warn'],
  ]);
  const [, reso = '', native = ''] = await process.said(/^replication\s+(\S+)\s+(\S+)$/m);
  return { process, reso, native };
}

/** A bare server that sends files. */
export async function startFloor(files: readonly string[]): Promise<{ process: Running; root: string }> {
  const process = startHelper('./floor-server.ts', files);
  const [root] = await process.said(/http:\S+/);
  return { process, root };
}
