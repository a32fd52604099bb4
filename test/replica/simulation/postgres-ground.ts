import { openPostgresStore } from '../../../src/engines/postgres/store.ts';
import { writeBackup } from '../../../src/engines/sqlite/backup.ts';
import type { Store } from '../../../src/store/store.ts';
import type { ClockTrust } from '../../../src/store/time/store-clock.ts';
import { WRITE_LIMITS } from '../../../src/store/write/time-limits.ts';
import { emptyDatabase } from '../../support/postgres-engine.ts';
import { openLine } from '../../support/postgres-line.ts';
import type { Ground } from './ground.ts';
import { Traffic, watchedStore } from './traffic.ts';

/** Stores on a server; each history has databases of its own. */
export function postgresGround(): Ground {
  const traffic = new Traffic();
  return {
    name: 'postgres',
    quiet: traffic.quiet,
    underWay: traffic.underWay,
    async open(scope, { settings, clock, machine, limits = WRITE_LIMITS }) {
      const { address, drop } = await emptyDatabase(settings);
      scope.after(drop);
      const during = <T>(call: Promise<T>, name: string): Promise<T> => traffic.during(call, name, address);
      const open = async (at: string, on = clock, trust: ClockTrust = {}): Promise<Store> => {
        const options = { clock: traffic.clock(on, address), machine, limits, ...trust, writeBackup };
        const store = await during(openPostgresStore({ address: `${at}&connections=2`, ...options }), 'open');
        scope.after(() => store.close());
        return store;
      };
      const again = async (trust?: ClockTrust): Promise<Store> =>
        watchedStore(await open(address, clock, trust), traffic, address, during);
      return {
        store: await again(),
        again,
        async enter(on, mortal, trust) {
          const line = await openLine(address);
          scope.after(line.close);
          const store = await open(line.address, on, trust);
          line.passes = () => mortal.passes();
          void mortal.death.then(() => during(line.end(), 'the end of a process'));
          // The server may still complete what was in progress on a closed connection, until it has noticed that.
          return watchedStore(store, traffic, address, (call, name) =>
            during(
              call.finally(() => line.settled()),
              name,
            ),
          );
        },
      };
    },
  };
}
