/**
 * Parses server-sent events (HTML, 9.2) as the bytes of a response arrive. Buffered data is limited, and a stream that sends
 * nothing for a while, not even a comment, has failed. This module does not know the meaning of events.
 */
import type { Clock } from '../../shared/clock.ts';
import { RequestFailure, stopped } from './failure.ts';

/** An event as received. */
export interface ServerEvent {
  /** `message` if the stream names none. */
  readonly event: string;
  readonly data: string;
  /** The last event ID of the stream so far; empty if there was none yet. */
  readonly id: string;
}

/** The maximum number of characters of an event, far more than a change has. */
const LARGEST = 1024 * 1024;

/** Assembles events from chunks of text, wherever the chunks are divided. */
class EventParser {
  /** The beginning of a line whose end has not arrived yet. */
  #rest = '';
  #event = '';
  #data: string[] = [];
  #size = 0;
  #id = '';

  /** @returns the events that this chunk completes. @throws RequestFailure `too-large` */
  push(text: string): ServerEvent[] {
    // A carriage return at the end may be the first half of a line break.
    const whole = this.#rest + text;
    const held = whole.endsWith('\r') ? whole.slice(0, -1) : whole;
    const lines = held.split(/\r\n|\n|\r/);
    this.#rest = (lines.pop() ?? '') + whole.slice(held.length);
    const events = lines.flatMap((line) => this.#line(line) ?? []);
    if (this.#rest.length + this.#size > LARGEST) {
      throw new RequestFailure('too-large', `An event of the stream has more than ${LARGEST} characters`);
    }
    return events;
  }

  #line(line: string): ServerEvent | undefined {
    if (line === '') return this.#end();
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    switch (name) {
      case 'event':
        this.#event = value;
        break;
      case 'data':
        this.#data.push(value);
        this.#size += value.length;
        break;
      case 'id':
        if (!value.includes('\0')) this.#id = value;
        break;
      default: // a comment has no name, and `retry` is the follower's own matter
    }
    return undefined;
  }

  #end(): ServerEvent | undefined {
    const event = { event: this.#event || 'message', data: this.#data.join('\n'), id: this.#id };
    const isEmpty = this.#data.length === 0;
    this.#event = '';
    this.#data = [];
    this.#size = 0;
    return isEmpty ? undefined : event;
  }
}

/**
 * The events of a body, in groups as they arrive.
 * @param idleTimeout milliseconds without a byte after which the stream has failed
 * @throws RequestFailure `transient` after the idle timeout, and whatever the body throws
 */
export async function* eventsOf(
  body: AsyncIterable<Uint8Array>,
  {
    clock,
    idleTimeout,
    signal,
  }: { readonly clock: Clock; readonly idleTimeout: number; readonly signal: AbortSignal },
): AsyncGenerator<ServerEvent[]> {
  const parser = new EventParser();
  const decoder = new TextDecoder();
  const iterator = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await withIdleTimeout(iterator.next(), clock, idleTimeout, signal);
      if (next.done === true) return;
      const events = parser.push(decoder.decode(next.value, { stream: true }));
      if (events.length > 0) yield events;
    }
  } finally {
    // Closing a stalled body may stall as well, so it is not awaited.
    void iterator.return?.().catch(() => undefined);
  }
}

/** Awaits a promise, but no longer than the timeout. */
async function withIdleTimeout<T>(
  coming: Promise<T>,
  clock: Clock,
  idleTimeout: number,
  signal: AbortSignal,
): Promise<T> {
  const came = new AbortController();
  const late = clock.sleep(idleTimeout, AbortSignal.any([came.signal, signal])).then(() => {
    if (signal.aborted) throw stopped();
    throw new RequestFailure(
      'transient',
      `Nothing arrived for ${idleTimeout / 1000} s, not even a heartbeat`,
    );
  });
  late.catch(() => undefined); // it may fail after the timeout
  coming.catch(() => undefined);
  try {
    return await Promise.race([coming, late]);
  } finally {
    came.abort();
  }
}
