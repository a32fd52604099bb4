/** What a webhook sends: events as RESO's webhooks have them (RCP-28), each with what happened and when. */
import type { RecordChange } from '../store/change-feed.ts';

const CONTEXT = 'urn:reso:metadata:2.0:resource:entityevent';

/** @param changes none: a test */
export function messageBody(changes: readonly RecordChange[]): string {
  return JSON.stringify({
    '@reso.context': CONTEXT,
    value: changes.map(({ sequence, resource, key, kind, at }) => ({
      EntityEventSequence: sequence,
      ResourceName: resource,
      ResourceRecordKey: key,
      kind,
      at,
    })),
  });
}

/** The id of a message: the same events have the same one, however often they are sent. */
export const messageId = (webhook: string, changes: readonly RecordChange[]): string =>
  `${webhook}_${changes[0]?.sequence ?? 0}_${changes.at(-1)?.sequence ?? 0}`;
