/**
 * What the console shows as it happens: figures of the present, read once for all who look, and only while somebody does. It
 * must not know what the figures are.
 */

/** Milliseconds between two events. */
const EVERY = 2000;

/** The store is away: whoever looks is told, and learns the reason by asking. */
export const AWAY = 'event: away\ndata: {}\n\n';

/** People who look at once; each keeps a connection open. */
const MOST = 100;

export class Live {
  readonly #read: () => Promise<object>;
  readonly #every: number;
  /** What resolves when the next event is there, for each who waits. */
  #waiting: ((text: string) => void)[] = [];
  #timer: NodeJS.Timeout | undefined;
  #looking = 0;

  /** @param read the figures of this moment */
  constructor(read: () => Promise<object>, every = EVERY) {
    this.#read = read;
    this.#every = every;
  }

  get isFull(): boolean {
    return this.#looking >= MOST;
  }

  /** The events for one client: the present at once, then every change of it. There are none where too many look. */
  async *events(until: AbortSignal): AsyncGenerator<string> {
    // Those that were let in at once are more than one could see then.
    if (this.isFull) return;
    this.#looking++;
    try {
      yield await this.#event();
      while (!until.aborted) {
        const text = await this.#next(until);
        if (text !== undefined) yield text;
      }
    } finally {
      this.#looking--;
      if (this.#looking === 0) this.#stop();
    }
  }

  #next(until: AbortSignal): Promise<string | undefined> {
    this.#timer ??= setInterval(() => void this.#tell(), this.#every).unref();
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    const end = (): void => resolve(undefined);
    until.addEventListener('abort', end, { once: true });
    this.#waiting.push((text) => {
      until.removeEventListener('abort', end);
      resolve(text);
    });
    return promise;
  }

  async #tell(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length === 0) return;
    const text = await this.#event();
    for (const each of waiting) each(text);
  }

  async #event(): Promise<string> {
    try {
      return `event: figures\ndata: ${JSON.stringify(await this.#read())}\n\n`;
    } catch {
      return AWAY;
    }
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
