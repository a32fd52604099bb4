/** Attributes a failure to a key or to the source: where the source returns other keys, the fault is the key's. */
import { storedKeys } from '../checkpoint/checkpoint.ts';
import type { Copy } from '../copy/copy.ts';
import { isOfRequest, type RequestFailure } from '../http/failure.ts';
import type { SourcePage } from '../source/source.ts';

/** Keys in a row that the source cannot return, after which others are requested. */
const PATIENCE = 3;
/** Others that are requested before the failure is the source's. */
const OTHERS = 3;
/** Stored keys among which they are chosen. */
const AMONG = 200;

export class ErrorAttribution {
  readonly #copy: Pick<Copy, 'name' | 'store'>;
  readonly #resource: string;
  readonly #ask: (key: string) => Promise<SourcePage>;
  readonly #failed = new Set<string>();
  #inARow = 0;

  /** @param ask requests one key */
  constructor(
    copy: Pick<Copy, 'name' | 'store'>,
    resource: string,
    ask: (key: string) => Promise<SourcePage>,
  ) {
    this.#copy = copy;
    this.#resource = resource;
    this.#ask = ask;
  }

  /** Something was given. */
  succeeded(): void {
    this.#inARow = 0;
  }

  /** A key was not. @throws the failure, when the source returns no other key either */
  async failed(key: string, failure: RequestFailure): Promise<void> {
    this.#failed.add(key);
    if (++this.#inARow >= PATIENCE) await this.checkSource(failure);
  }

  /** @throws the failure, when the source returns none of some stored keys either */
  async checkSource(failure: RequestFailure): Promise<void> {
    for (const key of await this.#others()) {
      try {
        await this.#ask(key);
        this.#inARow = 0;
        return;
      } catch (error) {
        if (!isOfRequest(error) || error.kind === 'stopped') throw error;
      }
    }
    throw failure;
  }

  async #others(): Promise<string[]> {
    const some = async (after: string): Promise<readonly string[]> => {
      for await (const keys of storedKeys(this.#copy, this.#resource, { after, size: AMONG })) return keys;
      return [];
    };
    const near = await some([...this.#failed].at(-1) ?? '');
    const first = await some('');
    const candidates = [near.at(-1), first[0], first[first.length >> 1], first.at(-1)];
    const good = candidates.flatMap((key) => (key === undefined || this.#failed.has(key) ? [] : [key]));
    return [...new Set(good)].slice(0, OTHERS);
  }
}
