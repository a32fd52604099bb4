/**
 * Live data of the console: the current figures, read once for all clients, and only while there are clients. It must not know what
 * the figures are.
 */

/** Milliseconds between two events. */
const EVERY = 2000;

/** Tells the clients that the store is unavailable; they learn the reason from their next request. */
export const UNAVAILABLE_EVENT = 'event: away\ndata: {}\n\n';

/** The maximum number of simultaneous clients; each keeps a connection open. */
const MOST = 100;

/** The data on replication that is sent in addition to the figures, to clients that show it. */
interface LiveReplication {
  /** The complete data. */
  readonly whole: () => Promise<object>;
  /**
   * The data without members that change merely because time passes. If this is unchanged, the data is sent again only from time to
   * time.
   */
  readonly lasting: (whole: object) => string;
}

/** The number of events after which unchanged data is sent again, because of the members that change as time passes. */
const AGAIN_AFTER = 7;

const NOTHING: LiveReplication = { whole: async () => ({}), lasting: () => '' };

const eventOf = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

interface Waiting {
  readonly seesReplication: boolean;
  readonly take: (text: string) => void;
}

export class LiveFeed {
  readonly #read: () => Promise<object>;
  readonly #replication: LiveReplication;
  readonly #every: number;
  /** The clients that wait for the next event. */
  #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** The number of clients that receive events. */
  #clients = 0;
  /** The replication data that was last sent, and how many events ago; undefined: it must be sent in full. */
  #before: { readonly lasting: string; readonly ago: number } | undefined;

  /** @param read reads the current figures */
  constructor(
    read: () => Promise<object>,
    {
      replication = NOTHING,
      every = EVERY,
    }: { readonly replication?: LiveReplication; readonly every?: number } = {},
  ) {
    this.#read = read;
    this.#replication = replication;
    this.#every = every;
  }

  get isFull(): boolean {
    return this.#clients >= MOST;
  }

  /**
   * The events for one client: the current state at once, then every change; no events if there are too many clients.
   * @param seesReplication whether the client also receives the replication data
   */
  async *events(until: AbortSignal, seesReplication = false): AsyncGenerator<string> {
    // Check again: several clients may have been admitted at the same time.
    if (this.isFull) return;
    this.#clients++;
    try {
      if (seesReplication) this.#before = undefined;
      const { figures, replication } = await this.#moment(seesReplication);
      yield figures + replication;
      while (!until.aborted) {
        const text = await this.#next(until, seesReplication);
        if (text !== undefined) yield text;
      }
    } finally {
      this.#clients--;
      if (this.#clients === 0) this.#stop();
    }
  }

  #next(until: AbortSignal, seesReplication: boolean): Promise<string | undefined> {
    this.#timer ??= setInterval(() => void this.#publish(), this.#every).unref();
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    const end = (): void => resolve(undefined);
    until.addEventListener('abort', end, { once: true });
    this.#waiting.push({
      seesReplication,
      take: (text) => {
        until.removeEventListener('abort', end);
        resolve(text);
      },
    });
    return promise;
  }

  async #publish(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length === 0) return;
    const { figures, replication } = await this.#moment(
      waiting.some((each) => each.seesReplication),
      true,
    );
    for (const { seesReplication, take } of waiting) take(seesReplication ? figures + replication : figures);
  }

  /** @param onlyNews whether unchanged replication data is omitted */
  async #moment(
    withReplication: boolean,
    onlyNews = false,
  ): Promise<{ figures: string; replication: string }> {
    try {
      const figures = eventOf('figures', await this.#read());
      if (!withReplication) return { figures, replication: '' };
      const whole = await this.#replication.whole();
      return { figures, replication: onlyNews && !this.#isNew(whole) ? '' : eventOf('replication', whole) };
    } catch {
      return { figures: UNAVAILABLE_EVENT, replication: '' };
    }
  }

  #isNew(whole: object): boolean {
    const lasting = this.#replication.lasting(whole);
    const { lasting: before, ago } = this.#before ?? { lasting: undefined, ago: 0 };
    const isNew = lasting !== before || ago + 1 >= AGAIN_AFTER;
    this.#before = { lasting, ago: isNew ? 0 : ago + 1 };
    return isNew;
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
