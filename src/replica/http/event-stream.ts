/**
 * Parses a response of server-sent events (HTML, 9.2) from its bytes as they arrive. The amount of buffered data is limited, and a
 * stream that sends nothing for a while, not even a comment, has failed. It knows nothing of the meaning of events.
 */
import type { Clock } from '../../shared/clock.ts';
import { RequestFailure, stopped } from './failure.ts';

/** An event as received. */
export interface ServerEvent {
  /** `message` if the stream names none. */
  readonly event: string;
  readonly data: string;
  /** The last id of the stream so far; empty: no id yet. */
  readonly id: string;
}

/** Characters of one event: far more than a change has. */
const LARGEST = 1024 * 1024;

/** Puts events together from pieces of their text, wherever these are cut. */
class EventParser {
  /** The beginning of a line. */
  #rest = '';
  #event = '';
  #data: string[] = [];
  #size = 0;
  #id = '';

  /** @returns the events that are at their end. @throws RequestFailure `too-large` */
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
    // Ending a body that stalls may stall as well, so that nothing awaits it.
    void iterator.return?.().catch(() => undefined);
  }
}

/** The value of a promise that settles within the timeout. */
async function withIdleTimeout<T>(
  coming: Promise<T>,
  clock: Clock,
  idleTimeout: number,
  signal: AbortSignal,
): Promise<T> {
  const came = new AbortController();
  const late = clock.sleep(idleTimeout, AbortSignal.any([came.signal, signal])).then(() => {
    if (signal.aborted) throw stopped();
    throw new RequestFailure('transient', `Nothing came for ${idleTimeout / 1000} s, not even a heartbeat`);
  });
  late.catch(() => undefined); // what comes first counts
  coming.catch(() => undefined);
  try {
    return await Promise.race([coming, late]);
  } finally {
    came.abort();
  }
}
