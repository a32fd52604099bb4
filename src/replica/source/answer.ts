import type { Answer } from '../http/client.ts';
import { RequestFailure } from '../http/failure.ts';
import { isObject } from '../json.ts';

/** Characters of an unreadable answer that are told. */
const TOLD = 120;

/**
 * The JSON object of an answer.
 * @throws RequestFailure `transient` for anything else: a page of HTML, a text that breaks off. A source that is
 *   restarted gives such things, and is asked again
 */
export function readJson({ text, headers, url }: Answer): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const type = headers['content-type'] ?? 'no content type';
    const beginning = JSON.stringify(text.slice(0, TOLD));
    throw new RequestFailure('transient', `${url} did not answer with JSON but with ${type}: ${beginning}`, {
      cause,
    });
  }
  if (isObject(value)) return value;
  throw new RequestFailure('transient', `${url} answered with JSON that is no object`);
}

/**
 * The moment of an answer on the source's clock, in milliseconds since 1970.
 * @throws RequestFailure when a source has no clock: windows cannot be bounded without it
 */
export function readDate({ headers }: Answer): number {
  const time = Date.parse(headers.date ?? '');
  if (Number.isNaN(time))
    throw new RequestFailure('refused', 'The source sends no Date header, so no window can be bounded');
  return time;
}

/**
 * The moment of an answer that is the source's own: what stands before it and tells of a pause has another clock.
 * @throws RequestFailure as the two above
 */
export function readMoment(answer: Answer): number {
  readJson(answer);
  return readDate(answer);
}

/** What a plat says of the records that the key may see; the same as long as only records change. */
export const readView = (headers: Answer['headers']): string => headers['x-plat-view'] ?? '';

/** A plat's name for its line of time; another one where it went back, as after a backup was restored. */
export const readEpoch = (headers: Answer['headers']): string | undefined => headers['x-plat-epoch'];

/** A record whose collections were not asked for: an empty list in it tells nothing, and would take away what is stored. */
export function withoutEmptyLists(
  json: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(json).filter(([, value]) => !(Array.isArray(value) && value.length === 0)),
  );
}
