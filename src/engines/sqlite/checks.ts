import type { StoreModel } from '../../compile/model.ts';
import { type Checks, checksOn } from '../../store/check/checks.ts';
import { askerOf } from './asker.ts';
import type { Connection } from './connection.ts';
import { findViewFaults } from './views.ts';

/** The checks of a file, with its views, on the calling thread. */
export function sqliteChecks(connection: Connection, model: StoreModel): Checks {
  const checks = checksOn(askerOf(connection, model));
  return {
    ...checks,
    async tableFaults(resource) {
      const faults = await checks.tableFaults(resource);
      if (!model.stores(resource)) return faults;
      return [...faults, ...findViewFaults(connection.database, model, model.layout(resource))];
    },
  };
}
