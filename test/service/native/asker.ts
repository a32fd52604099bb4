/** Sends requests of one key to the native interface, and checks and unpacks the envelopes. */
import assert from 'node:assert/strict';
import type { SurfaceName } from '../../../src/service/surface.ts';
import type { Answer, AskOptions, TestService } from '../../support/service.ts';
import type { Json } from '../../support/world.ts';
import { envelopeOf, nativeFault, objectIn } from '../http/envelopes.ts';

/** A page, unpacked from its envelope. */
export interface Page {
  readonly rows: readonly Json[];
  /** The `Id` of each record. */
  readonly keys: readonly string[];
  /** The SkipToken; undefined if the page has none. */
  readonly token: unknown;
  readonly pagination: unknown;
  readonly answer: Answer;
}

export interface NativeAsker {
  /** @param path below `/v1/` */
  get(path: string, options?: AskOptions): Promise<Answer>;
  page(path: string): Promise<Page>;
  keys(path: string): Promise<readonly string[]>;
  /** The only result. */
  one(path: string): Promise<Json>;
  /** StandardFields of the only result. */
  fields(path: string): Promise<Json>;
  /** Status, code and message. */
  fault(path: string): Promise<[number, unknown, unknown]>;
  /** The keys of all pages, followed by their tokens. @param first the token of the first page; absent: none */
  walk(path: string, first?: string): Promise<string[][]>;
}

export function nativeAsker(service: TestService, surface: SurfaceName, token: string): NativeAsker {
  const get = (path: string, options: AskOptions = {}): Promise<Answer> =>
    service.get(surface, `/v1/${path}`, { token, ...options });

  async function page(path: string): Promise<Page> {
    const answer = await get(path);
    assert.equal(answer.status, 200, answer.text);
    const { Success, Results, SkipToken: found, Pagination, ...rest } = envelopeOf(answer);
    assert.deepEqual([Success, rest], [true, {}]);
    assert.ok(Array.isArray(Results), answer.text);
    const rows = Results.map(objectIn);
    return {
      rows,
      keys: rows.map(({ Id }) => String(Id)),
      token: found,
      pagination: Pagination,
      answer,
    };
  }

  async function one(path: string): Promise<Json> {
    const { rows, token: found, pagination } = await page(path);
    assert.deepEqual([rows.length, found, pagination], [1, undefined, undefined]);
    return rows[0] ?? {};
  }

  return {
    get,
    page,
    one,
    keys: async (path) => (await page(path)).keys,
    fields: async (path) => objectIn((await one(path)).StandardFields),
    fault: async (path) => nativeFault(await get(path)),
    async walk(path, first) {
      const pages: string[][] = [];
      for (let next = first; ; ) {
        const separator = path.includes('?') ? '&' : '?';
        const found = await page(next === undefined ? path : `${path}${separator}_skiptoken=${next}`);
        if (found.keys.length === 0) return pages;
        pages.push([...found.keys]);
        next = String(found.token);
        assert.ok(pages.length < 1000, 'the walk ends');
      }
    },
  };
}
