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

/** What is told of the replication beside the figures, to those who look at it. */
interface Told {
  /** All of it. */
  readonly whole: () => Promise<object>;
  /** Leaves out what changes with time alone: what is otherwise as before is told again only now and then. */
  readonly lasting: (whole: object) => string;
}

/** What has not changed is told again after so many events, for what changes with time alone. */
const AGAIN_AFTER = 7;

const NOTHING: Told = { whole: async () => ({}), lasting: () => '' };

const eventOf = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

interface Waiting {
  readonly seesReplication: boolean;
  readonly take: (text: string) => void;
}

export class Live {
  readonly #read: () => Promise<object>;
  readonly #replication: Told;
  readonly #every: number;
  /** Those who wait for the next event. */
  #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;
  #looking = 0;
  /** What was told last of the replication, and how many events ago; undefined: all must be told. */
  #before: { readonly lasting: string; readonly ago: number } | undefined;

  /** @param read the figures of this moment */
  constructor(
    read: () => Promise<object>,
    { replication = NOTHING, every = EVERY }: { readonly replication?: Told; readonly every?: number } = {},
  ) {
    this.#read = read;
    this.#replication = replication;
    this.#every = every;
  }

  get isFull(): boolean {
    return this.#looking >= MOST;
  }

  /**
   * The events for one client: the present at once, then every change of it. There are none where too many look.
   * @param seesReplication whether it is told of the replication, too
   */
  async *events(until: AbortSignal, seesReplication = false): AsyncGenerator<string> {
    // Those that were let in at once are more than one could see then.
    if (this.isFull) return;
    this.#looking++;
    try {
      if (seesReplication) this.#before = undefined;
      const { figures, replication } = await this.#moment(seesReplication);
      yield figures + replication;
      while (!until.aborted) {
        const text = await this.#next(until, seesReplication);
        if (text !== undefined) yield text;
      }
    } finally {
      this.#looking--;
      if (this.#looking === 0) this.#stop();
    }
  }

  #next(until: AbortSignal, seesReplication: boolean): Promise<string | undefined> {
    this.#timer ??= setInterval(() => void this.#tell(), this.#every).unref();
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

  async #tell(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length === 0) return;
    const { figures, replication } = await this.#moment(
      waiting.some((each) => each.seesReplication),
      true,
    );
    for (const { seesReplication, take } of waiting) take(seesReplication ? figures + replication : figures);
  }

  /** @param onlyNews whether what is told of the replication is left out where it is as before */
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
      return { figures: AWAY, replication: '' };
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
