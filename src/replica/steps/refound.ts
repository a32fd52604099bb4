/** Lays anew what a copy rests on that is kept current by changes alone: windows and sweeps, which find whatever differs. */
import { timestampFrom } from '../../dictionary/index.ts';
import type { Copy } from '../copy/copy.ts';

/** What changes that are told of rest on is to be laid anew: by windows that end, and a sweep that begins, after this moment. */
export async function refound({ checkpoint, feed }: Copy): Promise<void> {
  if (checkpoint.get('chain') === undefined) return;
  const since = timestampFrom(await feed.serverTime());
  await checkpoint.commit({ state: { foundation: { since, fresh: [] } } });
}

/** Purges soon a copy that is kept current by changes, and otherwise would be compared again after a week. */
export async function purgeFollowed(copy: Copy): Promise<void> {
  if (copy.checkpoint.get('chain') === undefined) return;
  await refound(copy);
  await copy.checkpoint.purgeAnew();
}
