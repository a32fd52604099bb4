/** A complete replica of the market, made by `plat replicate` over sockets: records per second, and peak memory. */

import type { MarketStore } from './support/market-store.ts';
import { type Measurement, megabytes } from './support/measure.ts';
import { startPlat } from './support/process.ts';
import { type RunningService, startService } from './support/service.ts';
import type { Subject } from './support/subject.ts';

export const replica: Subject = {
  title: 'replica, per listing with its children',
  floors: [],
  async run(context) {
    const service = await startService(context);
    try {
      return [
        ...(await copyTwice(context, service, 'reso', [])),
        ...(await copyTwice(context, service, 'native', ['--custom-fields'])),
      ];
    } finally {
      await service.process.stop();
    }
  },
};

/** The download with its first sweep, then an update with a sweep of a complete copy, then the verification of the copy. */
async function copyTwice(
  { engine, listings }: MarketStore,
  service: RunningService,
  kind: 'reso' | 'native',
  more: readonly string[],
): Promise<Measurement[]> {
  const path = await engine.newStore(`replica-${kind}`);
  const run = async (
    name: string,
    args: readonly string[],
    command: 'replicate' | 'verify' = 'replicate',
  ): Promise<Measurement> => {
    const before = engine.used();
    const { wall, cpu, peak } = await startPlat([
      ...[command, '--from', service[kind], '--interface', kind, '--token', service.tokens.private],
      ...['--store', path, ...(command === 'replicate' ? more : []), ...args],
    ]).ended;
    const server = engine.used() - before;
    const seconds = wall / 1000;
    const rate = Math.round(listings / seconds).toLocaleString('en');
    const gave = `${listings} in ${seconds.toFixed(1)} s, ${rate} listings/s, memory ${megabytes(peak)}, store ${megabytes(await engine.size(path))}`;
    return { name, wall: wall / listings, cpu: cpu / listings, server: server / listings, gave };
  };
  return [
    await run(`${kind}, download`, []),
    await run(`${kind}, sweep of a whole copy`, ['--step', 'purge']),
    await run(`${kind}, proof of an equal copy`, [], 'verify'),
  ];
}
