/** A client of server-sent events (HTML, 9.2) on a separate socket, which reads events on request. */
import assert from 'node:assert/strict';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { type Json, objectOf } from './world.ts';

export interface ServerEvent {
  readonly event: string;
  readonly id?: string;
  readonly data: Json;
}

export interface EventClient {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Resolves with the body of a response that is not a stream. */
  text(): Promise<string>;
  /** The next event; undefined: the stream has ended. */
  next(): Promise<ServerEvent | undefined>;
  /** Events up to and including the first that satisfies the condition. */
  until(passes: (event: ServerEvent) => boolean): Promise<ServerEvent[]>;
  /** Events up to the position after at least this many changes: a write may have several commits, some of them without changes. */
  changes(least: number): Promise<ServerEvent[]>;
  /** The response, which can be paused and resumed. */
  readonly response: IncomingMessage;
  close(): void;
}

export interface FollowOptions {
  readonly token?: string | undefined;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function followEvents(
  address: string,
  { token, query = '', headers = {} }: FollowOptions,
): Promise<EventClient> {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const asked = request(
      `${address}/events${query}`,
      { agent: false, headers: { accept: 'text/event-stream', ...authorization, ...headers } },
      (response) => resolve(clientOf(response, () => asked.destroy())),
    );
    asked.on('error', reject);
    asked.end();
  });
}

function clientOf(response: IncomingMessage, close: () => void): EventClient {
  response.on('error', () => undefined);
  const parts = response[Symbol.asyncIterator]();
  let rest = '';
  const found: ServerEvent[] = [];
  const next = async (): Promise<ServerEvent | undefined> => {
    while (found.length === 0) {
      const part = await parts.next().catch(() => ({ done: true, value: undefined }));
      if (part.done === true) return undefined;
      const blocks = (rest + String(part.value)).split('\n\n');
      rest = blocks.pop() ?? '';
      found.push(...blocks.flatMap(eventIn));
    }
    return found.shift();
  };
  const until = async (passes: (event: ServerEvent) => boolean): Promise<ServerEvent[]> => {
    const events: ServerEvent[] = [];
    for (;;) {
      const event = await next();
      assert.ok(event !== undefined, 'the stream has not ended');
      events.push(event);
      if (passes(event)) return events;
    }
  };
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    response,
    close,
    next,
    async text() {
      let text = '';
      for (let part = await parts.next(); part.done !== true; part = await parts.next()) text += part.value;
      return text;
    },
    until,
    changes(least) {
      let changes = 0;
      return until((event) => {
        if (event.event === 'change') changes++;
        return changes >= least && isLevel(event);
      });
    },
  };
}

/** The event in a block of lines; none for a comment or a retry time. */
function eventIn(block: string): ServerEvent[] {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const [, name = '', value = ''] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (name !== '') fields.set(name, value);
  }
  const [event, data, id] = ['event', 'data', 'id'].map((name) => fields.get(name));
  if (event === undefined || data === undefined) return [];
  return [{ event, ...(id === undefined ? {} : { id }), data: objectOf(data) }];
}

/** Whether a position reports that no further changes are known. */
export const isLevel = ({ event, data }: ServerEvent): boolean => event === 'position' && data.level === true;

/** Changes as short lines. */
export const changesIn = (events: readonly ServerEvent[]): string[] =>
  events
    .filter(({ event }) => event === 'change')
    .map(({ data }) => `${data.kind} ${data.resource} ${data.key}`);
