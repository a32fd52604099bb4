import { backup as backupDatabase, DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../../src/store/clock.ts';
import type { ClockTrust } from '../../../src/store/clock-jump.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Engine, OpenOptions, Scope } from '../../support/engine.ts';
import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { removeTemporary, temporaryFile } from '../../support/temporary.ts';
import { type Mortal, pulsing } from './mortal.ts';
import { threadIsQuiet } from './time.ts';

/** What histories are played on: an engine, of which is known when it rests, and where a process dies inside of it. */
export interface Ground {
  readonly name: string;
  /** Resolves when no work is in progress. */
  readonly quiet: () => Promise<void>;
  /** Names of what is not done yet, for a history that stands still. */
  readonly underWay: () => readonly string[];
  /** An empty store, which is gone when the scope ends. */
  open(scope: Scope, options: OpenOptions): Promise<Site>;
}

/** What a process is told of its clock. */
export type Told = Pick<ClockTrust, 'allowClockJump'>;

/** One store of a history. */
export interface Site {
  readonly store: Store;
  /** The same store, as another process has it that nothing befalls, and that may be told that its clock is right. */
  again(trust?: Told): Promise<Store>;
  /** The same store, as a process has it that may end at any moment, also in the middle of the store's work. */
  enter(clock: Clock, mortal: Mortal, trust?: Told): Promise<Store>;
  /** Makes a backup. @returns what brings the store back to it, as a restore in a new epoch does */
  backup?(): Promise<(notBefore: number) => Promise<void>>;
}

/** An engine in this thread: all of its work comes to its end before the next macrotask. */
export function sqliteGround(): Ground {
  const engine: Engine = sqliteEngine();
  // Backups alone are made on another thread.
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
          // It comes back into the file that it was made of, which stays what it is for those who have it open.
          const made = new DatabaseSync(file);
          made.exec("DELETE FROM plat_meta WHERE name = 'file'");
          made.close();
          return async (notBefore) => {
            // Into the file that is open: nobody has to be stopped, and every process continues with what it finds.
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
