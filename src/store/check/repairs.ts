/** The repairs of a store, each under the write lock. */
import type { StoreModel } from '../../compile/model.ts';
import { failedError } from '../../errors/index.ts';
import { chunked } from '../../shared/chunked.ts';

import type { Engine } from '../engine.ts';
import { logEverything, logMissing } from '../rows/change-log.ts';
import type { WriteSession } from '../session.ts';
import type { Store } from '../store.ts';
import type { BatchWriter } from '../write/batches.ts';
import type { OwnWrites } from '../write/own-writes.ts';
import { WRITE_LIMITS } from '../write/time-limits.ts';
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

/** The maximum number of rows that one transaction rewrites. */
const AT_ONCE = 200;

/** The outcome of a rewrite of any number of rows. */
interface Rewritten {
  readonly model: StoreModel;
  /** Keys of records that must be fetched from their source again. */
  readonly unsure: readonly string[];
}

/** Rewrites any number of rows, in transactions of bounded size. */
async function rewriteInBatches(
  writer: BatchWriter,
  current: StoreModel,
  resource: string,
  keys: readonly string[],
): Promise<Rewritten> {
  let model = current;
  const unsure: string[] = [];
  const waiting = [...chunked(keys, AT_ONCE)];
  for (let batch = waiting.shift(); batch !== undefined; batch = waiting.shift()) {
    const some = batch;
    const allowed = { ahead: 0, longest: WRITE_LIMITS.usual };
    const attempt = await writer.attempt(model, (work) => work.rewrite(resource, some), null, allowed);
    switch (attempt.kind) {
      case 'done':
        unsure.push(...attempt.result);
        break;
      case 'outdated':
        model = await writer.readModel();
        waiting.unshift(batch);
        break;
      case 'too-long': {
        if (batch.length < 2) throw failedError(`Rewriting ${batch[0]} takes too long.`);
        const middle = Math.ceil(batch.length / 2);
        waiting.unshift(batch.slice(0, middle), batch.slice(middle));
        break;
      }
    }
  }
  return { model, unsure };
}
