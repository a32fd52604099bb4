/** The stream of a store's changes as plat serves it, without a socket and without timers: it waits on a clock of the test. */
import type { TransportResponse } from '../../../src/replica/http/transport.ts';
import {
  type FeedPosition,
  type FeedRequest,
  parsePosition,
  positionText,
  SEQUENCE_START,
} from '../../../src/store/changes/change-feed.ts';
import type { Store } from '../../../src/store/store.ts';

export interface StreamOptions {
  readonly store: () => Store;
  readonly scope: FeedRequest['scope'];
  /** Resolves when something may have changed, or a heartbeat is due. */
  readonly wait: (signal: AbortSignal) => Promise<void>;
  /** Whether the key still sees what it saw when the stream began. */
  readonly isSame: () => boolean;
  /** Headers of the response besides its type. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** The number of entries on one page. */
const PAGE = 100;

/** The response of `GET /events`. */
export async function changeStream(url: string, options: StreamOptions): Promise<TransportResponse> {
  const query = new URL(url).searchParams;
  const given = query.get('since') ?? 'end';
  const since = given === 'end' ? given : given === 'start' ? SEQUENCE_START : parsePosition(given);
  if (since === undefined) return failed(400, 'This is no position', {});
  const resources = query.get('resources')?.split(',');
  const first = await options.store().feed({ since, scope: options.scope, resources, limit: PAGE });
  if (first.kind === 'gone') {
    const position = positionText(first.position);
    return failed(410, `Go on from ${position}`, { 'x-plat-position': position });
  }
  const headers = { 'content-type': 'text/event-stream', ...options.headers };
  return { status: 200, headers, body: texts(since, resources, options) };
}

async function* texts(
  from: FeedPosition | 'end',
  resources: readonly string[] | undefined,
  { store, scope, wait, isSame, signal }: StreamOptions,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from('retry: 2000\n\n');
  for (let since = from, isFirst = true; !signal.aborted; ) {
    const page = await store().feed({ since, scope, resources, limit: PAGE });
    if (!isSame()) return;
    if (page.kind === 'gone') {
      yield Buffer.from(event('gone', { position: positionText(page.position) }));
      return;
    }
    const isNew =
      page.changes.length > 0 || positionText(page.position) !== (since === 'end' ? '' : positionText(since));
    since = page.position;
    const changes = page.changes.map((change) => event('change', change));
    const position = positionText(page.position);
    const end =
      page.isWhole && (isNew || isFirst)
        ? [event('position', { position, level: page.isLevel }, position)]
        : [];
    const text = [...changes, ...end].join('');
    if (text !== '') {
      yield Buffer.from(text);
      isFirst = false;
    }
    if (!page.isLevel) continue;
    if (text === '') yield Buffer.from(':\n\n');
    await wait(signal);
  }
}

const event = (name: string, data: unknown, id?: string): string =>
  `event: ${name}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;

async function* one(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

const failed = (status: number, message: string, headers: Record<string, string>): TransportResponse => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: one(JSON.stringify({ error: { code: String(status), message } })),
});
