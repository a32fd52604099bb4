/** The repairs of a store, each under the write lock. */

import type { Engine } from '../engine.ts';
import { logEverything, logMissing } from '../rows/change-log.ts';
import type { WriteSession } from '../session.ts';
import type { Store } from '../store.ts';
import type { OwnWrites } from '../write/own-writes.ts';
import { rewriteInBatches } from './rewrite-rows.ts';
import { repairStatements } from './table-faults.ts';

export function repairsOf<S extends WriteSession>(
  engine: Engine<S>,
  writes: OwnWrites<S>,
): Pick<Store, 'mendFile' | 'rewrite' | 'mend'> {
  const { live, writer } = writes;
  return {
    async mendFile() {
      for (const step of engine.mendFile(await live.current())) await writes.locked(step, { isLong: true });
      await writes.locked((session) => logEverything(session, engine.now()));
    },
    async rewrite(resource, keys) {
      const { unsure } = await writes.withModel((model) => rewriteInBatches(writer, model, resource, keys));
      return unsure;
    },
    async mend(readWhole) {
      const model = await live.current();
      const planner = { dialect: engine.dialect, model };
      for (const resource of model.dictionary.resources.keys()) {
        if (!model.stores(resource)) continue;
        const layout = model.layout(resource);
        const statements = repairStatements(planner, layout, readWhole);
        const isViewWrong = (await engine.viewState(model, layout)) !== 'intact';
        await writes.locked(
          async (session) => {
            for (const statement of statements) await session.run(statement);
            await logMissing(session, layout, engine.now());
            await logEverything(session, engine.now(), resource);
            if (isViewWrong) await engine.makeView(session, model, layout);
          },
          { isLong: true },
        );
      }
      await writes.locked((session) => writer.publish(session, model));
    },
  };
}
