/** What the store's writer needs of a file. */

import { readMeta, readModel, STATE, stateIn } from '../../store/meta.ts';
import type { StoreClock } from '../../store/store-clock.ts';
import type { WriteLimits } from '../../store/write/in-time.ts';
import type { WriteSession } from '../../store/write-session.ts';
import { StoreWriter } from '../../store/writer.ts';
import type { Connection } from './connection.ts';
import { refusalIn } from './errors.ts';
import { sessionOn, writeSessionOn } from './session.ts';
import { applyTables } from './tables.ts';
import { underLock } from './transaction.ts';

/** @param reading sees what is committed */
export function writerOn(
  writing: Connection,
  reading: Connection,
  clock: StoreClock,
  limits?: WriteLimits,
): StoreWriter<WriteSession> {
  const session = writeSessionOn(writing);
  return new StoreWriter(
    {
      clock,
      refusal: refusalIn,
      reading: sessionOn(reading),
      readModel: () => readModel(sessionOn(reading)),
      underLock: (work, { patience } = {}) => underLock(writing, () => work(session), { patience, limits }),
      async timeState(asked) {
        const state = stateIn(await readMeta(asked, ...STATE));
        clock.inEpoch(state.epoch);
        return { ...state, moment: clock.now(), jump: clock.jump() };
      },
      applyTables: async (_, model) => applyTables(writing.database, model),
    },
    limits,
  );
}
