/**
 * The current state of the service: one event stream for the whole page, because browsers open few connections to a service. It is
 * open while the page is visible. If it breaks, an idle page notices that the service or its session has ended.
 */
import { signal } from '@preact/signals';
import { doubt } from './connection.ts';

/** The current figures (GET /stream, event `figures`). */
export interface Present {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** What keeps the service from being ready, by name. */
  readonly problems: Readonly<Record<string, string>>;
  /** The requests of the current minute, by surface; surfaces without requests are omitted. */
  readonly surfaces: Readonly<Record<string, { readonly requests: number; readonly failed: number }>>;
}

/** The latest figures; `away` while the service has no store; undefined until the first have arrived. */
export const present = signal<Present | 'away' | undefined>(undefined);

/** Listeners that receive the replication report, in the form of GET /replication, while a page shows it. */
const listeners = new Set<(report: string) => void>();

/** Milliseconds before a stream that has ended is opened again. */
const PAUSE = 3000;

let stream: EventSource | undefined;
let later: number | undefined;

function close(): void {
  clearTimeout(later);
  stream?.close();
  stream = undefined;
}

function open(): void {
  if (stream !== undefined || document.hidden) return;
  stream = new EventSource(listeners.size > 0 ? '/stream?with=replication' : '/stream');
  stream.addEventListener('figures', ({ data }: MessageEvent<string>) => {
    present.value = JSON.parse(data);
  });
  stream.addEventListener('replication', ({ data }: MessageEvent<string>) => {
    for (const take of listeners) take(data);
  });
  stream.addEventListener('away', () => {
    present.value = 'away';
  });
  stream.addEventListener('error', () => {
    close();
    doubt();
    later = setTimeout(open, PAUSE);
  });
}

let isListening = false;

/**
 * Subscribes to the replication report, which arrives at once and whenever something changes, on the page's only stream.
 *
 * @param take receives the JSON of GET /replication
 * @returns a function that ends the subscription
 */
export function onReplicationReport(take: (report: string) => void): () => void {
  const again = (): void => {
    close();
    if (isListening) open();
  };
  listeners.add(take);
  again();
  return () => {
    listeners.delete(take);
    again();
  };
}

/** Keeps the stream open as long as a session lasts. @returns a function that ends it */
export function listen(): () => void {
  const follow = (): void => (document.hidden ? close() : open());
  isListening = true;
  follow();
  document.addEventListener('visibilitychange', follow);
  return () => {
    document.removeEventListener('visibilitychange', follow);
    isListening = false;
    close();
    present.value = undefined;
  };
}
