/**
 * What the service reports of the present: one stream for the whole page, open while a person looks at it, since a browser
 * opens few connections to one service. That it breaks off is how an idle page learns that the service or its session ended.
 */
import { signal } from '@preact/signals';
import { doubt } from './connection.ts';

/** Figures of one moment (GET /stream, event `figures`). */
export interface Present {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** What keeps the service from being ready, by name. */
  readonly problems: Readonly<Record<string, string>>;
  /** What was asked of each surface in this minute; those of which nothing was asked are omitted. */
  readonly surfaces: Readonly<Record<string, { readonly requests: number; readonly failed: number }>>;
}

/** The latest figures; `away` while the service has no store; undefined until the first have come. */
export const present = signal<Present | 'away' | undefined>(undefined);

/** Who is told of the replication, too, while a page looks at it: what GET /replication gives, as text. */
const lookers = new Set<(told: string) => void>();

/** Milliseconds until a stream that ended is opened again. */
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
  stream = new EventSource(lookers.size > 0 ? '/stream?with=replication' : '/stream');
  stream.addEventListener('figures', ({ data }: MessageEvent<string>) => {
    present.value = JSON.parse(data);
  });
  stream.addEventListener('replication', ({ data }: MessageEvent<string>) => {
    for (const take of lookers) take(data);
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
 * Is told of the replication at once and whenever something happens there, in the one stream of the page.
 * @param take learns what GET /replication gives, as JSON @returns what ends it
 */
export function lookAtReplication(take: (told: string) => void): () => void {
  const again = (): void => {
    close();
    if (isListening) open();
  };
  lookers.add(take);
  again();
  return () => {
    lookers.delete(take);
    again();
  };
}

/** Listens as long as a session lasts. @returns what ends it */
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
