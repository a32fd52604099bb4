/** The buffer of a page is released exactly once, however its response ends. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Page } from '../../../src/compile/read.ts';
import type { Store } from '../../../src/store/store.ts';
import { listing } from '../../support/builders.ts';
import type { Engine } from '../../support/engine.ts';
import { startTestService } from '../../support/service.ts';
import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { open } from './raw.ts';

let taken = 0;
let released = 0;

/** A store that counts its pages and their releases. */
const counted = (store: Store): Store =>
  new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (name !== 'page') return value.bind(target);
      return async (...asked: Parameters<Store['page']>): Promise<Page> => {
        const page = await target.page(...asked);
        taken++;
        const release = (): void => {
          page.release?.();
          released++;
        };
        return { ...page, release };
      };
    },
  });

const plain = sqliteEngine();
const engine: Engine = {
  ...plain,
  open: async (scope, options) => {
    const opened = await plain.open(scope, options);
    return { ...opened, store: counted(opened.store) };
  },
};
const PublicRemarks = 'A house with a view. '.repeat(190);
const service = await startTestService(
  { after },
  {
    engine,
    fill: async ({ write }) => {
      const keys = Array.from({ length: 400 }, (_, index) => String(1000 + index));
      await write('Property', ...keys.map((key) => listing(key, { PublicRemarks })));
    },
    service: { keptPages: { megabytes: 0 } },
  },
);
const token = await service.key('replication');
const PATH = '/Reso/OData/Property';

/** Runs `work` until no request is running. @returns the numbers of pages that were taken and released */
async function during(work: () => Promise<void>): Promise<readonly [number, number]> {
  taken = 0;
  released = 0;
  await work();
  while (!/^plat_requests_running 0$/m.test(await service.service.metrics.text())) await setImmediate();
  return [taken, released];
}

test('a page is released once after a complete response, plain or compressed, and after HEAD', async () => {
  for (const encoding of ['identity', 'gzip', 'zstd']) {
    for (const method of ['GET', 'HEAD']) {
      const counts = await during(async () => {
        const headers = { 'accept-encoding': encoding };
        const { status, bytes } = await service.get('replication', PATH, { token, method, headers });
        assert.deepEqual([status, bytes.length > 0], [200, method === 'GET']);
      });
      assert.deepEqual(counts, [1, 1], `${method} ${encoding}`);
    }
  }
});

test('a page is released once if the client disconnects halfway', async () => {
  for (const encoding of ['identity', 'gzip']) {
    const counts = await during(async () => {
      const socket = open(service.addresses.replication);
      socket.write(
        `GET ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nAccept-Encoding: ${encoding}\r\n\r\n`,
      );
      await once(socket, 'data');
      socket.resetAndDestroy();
    });
    assert.deepEqual(counts, [1, 1], encoding);
  }
});
