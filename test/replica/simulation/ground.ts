import type { Clock } from '../../../src/store/clock.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Engine, OpenOptions, Scope } from '../../support/engine.ts';
import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { type Mortal, pulsing } from './mortal.ts';
import { threadIsQuiet } from './time.ts';

/** What histories are played on: an engine, of which is known when it rests, and where a process dies inside of it. */
export interface Ground {
  readonly name: string;
  /** Resolves when no work is under way. */
  readonly quiet: () => Promise<void>;
  /** An empty store, which is gone when the scope ends. */
  open(scope: Scope, options: OpenOptions): Promise<Site>;
}

/** One store of a history. */
export interface Site {
  readonly store: Store;
  /** The same store, as another process has it that nothing befalls. */
  again(): Promise<Store>;
  /** The same store, as a process has it that may end at any moment, also in the middle of the store's work. */
  enter(clock: Clock, mortal: Mortal): Promise<Store>;
}

/** An engine in this thread: all of its work comes to its end before the next macrotask. */
export function sqliteGround(): Ground {
  const engine: Engine = sqliteEngine();
  return {
    name: engine.name,
    quiet: threadIsQuiet,
    async open(scope, options) {
      const { store, again } = await engine.open(scope, options);
      return { store, again: () => again(), enter: (clock, mortal) => again(pulsing(clock, mortal)) };
    },
  };
}
