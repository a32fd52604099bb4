/** Serializes the events of the stream of changes (HTML, 9.2). It must not know where they come from. */
import { recordName } from '../../records/record-name.ts';
import { type FeedPosition, positionText, type RecordChange } from '../../store/changes/change-feed.ts';
import type { RecordTexts } from '../../store/changes/follow-changes.ts';

/** Milliseconds after which a disconnected client reconnects. */
const RETRY = 2000;

export const STREAM_PREAMBLE = `retry: ${RETRY}\n\n`;

/** @param records absent if the client requests no records */
export function changeEvent(change: RecordChange, records: RecordTexts | undefined): string {
  const data = JSON.stringify(changeOf(change));
  const record = records?.get(recordName(change));
  const isGiven = record !== undefined && change.kind !== 'deleted';
  return `event: change\ndata: ${isGiven ? `${data.slice(0, -1)},"record":${record}}` : data}\n\n`;
}

const changeOf = ({ sequence, resource, key, kind, at }: RecordChange): RecordChange => ({
  ...{ sequence, resource, key, kind, at },
});

/** @param isLevel whether no later change is known */
export function positionEvent(position: FeedPosition, isLevel: boolean): string {
  const text = positionText(position);
  return `event: position\nid: ${text}\ndata: ${JSON.stringify({ position: text, level: isLevel })}\n\n`;
}

/**
 * Tells a client that the changes since its position are no longer stored. After a full download, it continues from this position.
 */
export const goneEvent = (position: FeedPosition): string =>
  `event: gone\ndata: ${JSON.stringify({ position: positionText(position) })}\n\n`;
