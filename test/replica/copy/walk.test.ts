/** The pages of a walk. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { PageSize } from '../../../src/replica/copy/page-size.ts';
import { pagesFrom } from '../../../src/replica/copy/walk.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

test('a page that has been read is kept by nothing, while the next one is not read', async () => {
  const made: WeakRef<object>[] = [];
  const pages = pagesFrom(
    async () => {
      const token = String(made.length + 1);
      const page = {
        next: { kind: 'token', token } as const,
        keys: [{ resource: 'Property', key: token }],
        weight: 1,
      };
      made.push(new WeakRef(page));
      return page;
    },
    undefined,
    new PageSize(10, () => undefined),
  );
  for (let read = 0; read < 3; read++) assert.equal((await pages.next()).done, false);
  await setImmediate();
  collectGarbage();
  // The fourth one has been requested ahead.
  assert.deepEqual(
    made.map((page) => page.deref() !== undefined),
    [false, false, false, true],
  );
});

test('the pages of a walk end with the one without a next page', async () => {
  const asked: unknown[] = [];
  const pages = pagesFrom(
    async ({ position }) => {
      asked.push(position);
      const next = { kind: 'token', token: 'second' } as const;
      return { ...(position === undefined ? { next } : {}), keys: [], weight: 1 };
    },
    undefined,
    new PageSize(10, () => undefined),
  );
  assert.deepEqual(asked, []);
  assert.deepEqual(
    (await Array.fromAsync(pages)).map(({ next }) => next?.token),
    ['second', undefined],
  );
  assert.deepEqual(asked, [undefined, { kind: 'token', token: 'second' }]);
  assert.deepEqual(await pages.next(), { done: true, value: undefined });
});
