/** The message of a webhook: events in the form of RESO's webhooks (RCP-28), each with its type and time. */
import type { RecordChange } from '../store/changes/change-feed.ts';

const CONTEXT = 'urn:reso:metadata:2.0:resource:entityevent';

/** @param changes empty: a test message */
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

/** The id of a message. A repeated message with the same events has the same id. */
export const messageId = (webhook: string, changes: readonly RecordChange[]): string =>
  `${webhook}_${changes[0]?.sequence ?? 0}_${changes.at(-1)?.sequence ?? 0}`;
