import { backup as backupDatabase, DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../../src/shared/clock.ts';
import type { Store } from '../../../src/store/store.ts';
import type { ClockTrust } from '../../../src/store/time/store-clock.ts';
import type { Engine, OpenOptions, Scope } from '../../support/engine.ts';
import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { removeTemporary, temporaryFile } from '../../support/temporary.ts';
import { type Mortal, pulsing } from './mortal.ts';
import { threadIsQuiet } from './time.ts';

/** The engine on which histories are played; it knows when no work is in progress, and where in its work a process can die. */
export interface Ground {
  readonly name: string;
  /** Resolves when no work is in progress. */
  readonly quiet: () => Promise<void>;
  /** Names of the calls that are in progress, for the report of a history that hangs. */
  readonly underWay: () => readonly string[];
  /** An empty store, which is removed at the end of the scope. */
  open(scope: Scope, options: OpenOptions): Promise<Site>;
}

/** Whether a process accepts its clock however far it was set. */
export type Trust = Pick<ClockTrust, 'allowClockJump'>;

/** One store of a history. */
export interface Site {
  readonly store: Store;
  /** The same store for another process, without faults; with `trust` it accepts its clock. */
  again(trust?: Trust): Promise<Store>;
  /** The same store for a process that may die at any time, also during the store's own work. */
  enter(clock: Clock, mortal: Mortal, trust?: Trust): Promise<Store>;
  /** Makes a backup. @returns a function that restores it in a new epoch */
  backup?(): Promise<(notBefore: number) => Promise<void>>;
}

/** SQLite in this thread, whose work is complete before the next macrotask. */
export function sqliteGround(): Ground {
  const engine: Engine = sqliteEngine();
  // Only backups are made on another thread.
  const copying = new Set<Promise<void>>();
  const during = (copy: Promise<unknown>): Promise<void> => {
    const running: Promise<void> = copy.then(() => void copying.delete(running));
    copying.add(running);
    return running;
  };
  return {
    name: engine.name,
    quiet: async () => {
      await threadIsQuiet();
      while (copying.size > 0) {
        await Promise.all(copying);
        await threadIsQuiet();
      }
    },
    underWay: () => [...copying].map(() => 'backup'),
    async open(scope, options) {
      const { store, again } = await engine.open(scope, options);
      return {
        store,
        again: (trust) => again(undefined, trust),
        enter: (clock, mortal, trust) => again(pulsing(clock, mortal), trust),
        async backup() {
          const file = temporaryFile();
          scope.after(() => removeTemporary(file));
          await during(store.backup(file));
          // The backup is restored into the file that it was made of, which keeps its identity for processes that have it open.
          const made = new DatabaseSync(file);
          made.exec("DELETE FROM plat_meta WHERE name = 'file'");
          made.close();
          return async (notBefore) => {
            // Into the open file: every process keeps running and continues with the restored content.
            const copy = new DatabaseSync(file, { readOnly: true });
            await during(backupDatabase(copy, store.name));
            copy.close();
            await store.beginEpoch({ notBefore });
          };
        },
      };
    },
  };
}
