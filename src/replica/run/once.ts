import type { Copy } from '../copy/copy.ts';
import { dueAt, noteDone } from '../copy/schedule.ts';
import { fetchFiles } from '../media/fetch-files.ts';
import type { SweepResult } from '../steps/sweep.ts';
import { accountsOf, downloadAll, listingsOf, sweepAll, sweptOnly, updateAll } from './cycle.ts';
import { EVERY, type ReplicateOptions } from './options.ts';

/**
 * Does once what is due: the initial download, or an update; then the purge; and the agents and offices.
 * With `step` that step alone, due or not.
 */
export async function replicateOnce(
  copy: Copy,
  { step, purgeEvery = EVERY.purge }: Pick<ReplicateOptions, 'step' | 'purgeEvery'>,
): Promise<SweepResult> {
  const { clock } = copy.environment;
  const every = [...listingsOf(copy), ...accountsOf(copy)];
  const begun = clock.now();
  switch (step) {
    case 'initial':
      await downloadAll(copy, every);
      // Accounts of the native interface are copied by sweeping them.
      return sweepAll(copy, sweptOnly(every));
    case 'update': {
      await updateAll(copy, every);
      const result = await sweepAll(copy, sweptOnly(every));
      await noteDone(copy, 'update', begun);
      return result;
    }
    case 'purge': {
      const result = await sweepAll(copy, every);
      if (result === 'done') await noteDone(copy, 'purge', begun);
      return result;
    }
    case undefined: {
      await updateAll(copy, every);
      await noteDone(copy, 'update', begun);
      const isDue = dueAt(copy.book.get('schedule')?.purge, purgeEvery, begun) <= begun;
      const result = await sweepAll(copy, isDue ? every : sweptOnly(every));
      await noteDone(copy, 'accounts', begun);
      if (isDue && result === 'done') await noteDone(copy, 'purge', begun);
      if (copy.files !== undefined) {
        await fetchFiles(copy, copy.files);
        await noteDone(copy, 'media', begun);
      }
      return result;
    }
  }
}
