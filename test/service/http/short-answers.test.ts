/** An answer whose end the store does not give is broken off, so that no client takes a part of it for the whole. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from '../../../src/compile/read.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Engine } from '../../support/engine.ts';
import { startTestService } from '../../support/service.ts';
import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { fillMarket } from '../reso/market.ts';

/** How the end of a page comes; it is said to have 1,000 bytes. */
let given: () => AsyncIterable<Uint8Array> = () => pieces(1000);
let released = 0;

async function* pieces(...sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (const size of sizes) yield Buffer.alloc(size, ' ');
}

async function* failing(): AsyncGenerator<Uint8Array> {
  yield Buffer.alloc(500, ' ');
  throw new Error('the store went away');
}

/** The store, whose pages come in two parts. */
const inParts = (store: Store): Store =>
  new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (name !== 'page') return value.bind(target);
      return async (...asked: Parameters<Store['page']>): Promise<Page> => {
        const page = await target.page(...asked);
        const rest = { length: 1000, [Symbol.asyncIterator]: () => given()[Symbol.asyncIterator]() };
        const release = (): void => {
          page.release?.();
          released++;
        };
        return { ...page, rest, release };
      };
    },
  });

const plain = sqliteEngine();
const engine: Engine = {
  ...plain,
  open: async (scope, options) => {
    const opened = await plain.open(scope, options);
    return { ...opened, store: inParts(opened.store) };
  },
};
const service = await startTestService(
  { after },
  { engine, fill: fillMarket, service: { keptPages: { megabytes: 0 } } },
);
const token = await service.key('replication');
const ask = (encoding: string, method = 'GET') =>
  service.get('replication', '/Reso/OData/Property', {
    token,
    method,
    headers: { 'accept-encoding': encoding },
  });

for (const encoding of ['identity', 'gzip']) {
  test(`an answer that is shorter or longer than it was announced, or fails half way, breaks off: ${encoding}`, async () => {
    given = () => pieces(400, 600);
    assert.equal((await ask(encoding)).status, 200);
    for (const wrong of [() => pieces(), () => pieces(999), () => pieces(600, 401), failing]) {
      given = wrong;
      await assert.rejects(ask(encoding), /aborted|hang up|ECONNRESET/);
    }
  });
}

test('a page is given back also when nothing of it is sent', async () => {
  released = 0;
  given = () => pieces(1000);
  assert.equal((await ask('identity', 'HEAD')).text, '');
  assert.equal(released, 1);
  given = failing;
  await assert.rejects(ask('identity'));
  assert.equal(released, 2);
});
