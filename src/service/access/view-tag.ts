import { hash } from 'node:crypto';
import type { Reply, Session } from '../exchange.ts';

/**
 * Told with the lists of fields: another one means that the key may see other records than before, though no stamp has
 * moved. A consumer then reads everything again.
 */
const VIEW_HEADER = 'x-plat-view';

/** What decides which records a key may see, beside the records themselves and the calendar. */
export function withViewTag(reply: Reply, { key, model }: Session): Reply {
  const decides = [key.role, key.systems.toSorted(), model.settings.accessRevision ?? 0];
  const tag = hash('sha256', JSON.stringify(decides), 'base64url').slice(0, 12);
  return { ...reply, headers: { ...reply.headers, [VIEW_HEADER]: tag } };
}
