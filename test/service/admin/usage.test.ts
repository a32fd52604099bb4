/** The recorded use of a key (contract, `plat key list`): requests, rows, bytes, last window, last sweep. */
import assert from 'node:assert/strict';
import { after, describe, it, test } from 'node:test';
import { pino } from 'pino';
import { hashToken } from '../../../src/access/index.ts';
import { UsageRecorder } from '../../../src/service/access/usage.ts';
import type { KeyUse } from '../../../src/store/keys/key-store.ts';
import type { WalkStep } from '../../../src/store/shared.ts';
import { listing } from '../../support/builders.ts';
import { type Answer, type AskOptions, startTestService } from '../../support/service.ts';

const service = await startTestService(
  { after },
  {
    fill: async ({ write }) =>
      void (await write('Property', ...['1', '2', '3', '4', '5'].map((key) => listing(key)))),
  },
);
const { store, clock } = service;
const admin = await service.key('admin');

interface Account {
  ask(path: string, options?: AskOptions): Promise<Answer>;
  use(): Promise<KeyUse | undefined>;
}

async function newAccount(): Promise<Account> {
  const token = await service.key('replication');
  const id = (await store.look(hashToken(token))).key?.id;
  return {
    ask: (path, options) => service.get('replication', path, { token, ...options }),
    async use() {
      await service.get('admin', '/keys', { token: admin }); // records the pending use first
      return (await store.keys.list()).find((key) => key.id === id)?.use;
    },
  };
}

test('the use of a new key is zero, without dates', async () => {
  const { use } = await newAccount();
  assert.deepEqual(await use(), {
    requests: 0,
    rows: 0,
    bytes: 0,
    lastRequestAt: null,
    lastWindow: null,
    lastSweepAt: null,
  });
});

test('requests, rows and bytes of both interfaces are added up; refused requests count as requests', async () => {
  const { ask, use } = await newAccount();
  const answers = [
    await ask('/v1/listings?_limit=2'),
    await ask('/v1/listings/3'),
    await ask('/Reso/OData/Property?$top=3'),
    await ask("/Reso/OData/Property('1')"),
  ];
  assert.equal((await ask('/v1/listings?_limit=0')).status, 400);
  assert.equal((await ask('/v1/listings/none')).status, 404);
  clock.advance(1000);
  const head = await ask('/v1/listings', { method: 'HEAD' });
  assert.equal(head.text, '');
  assert.deepEqual(await use(), {
    requests: 7,
    rows: 2 + 1 + 3 + 1,
    bytes: answers.reduce((sum, { bytes }) => sum + bytes.length, 0),
    lastRequestAt: clock.text(),
    lastWindow: null,
    lastSweepAt: null,
  });
});

test('bytes are counted before compression', async () => {
  const { ask, use } = await newAccount();
  const { bytes } = await ask('/v1/listings');
  const packed = await ask('/v1/listings', { headers: { 'accept-encoding': 'gzip' } });
  assert.ok(packed.bytes.length < bytes.length);
  assert.equal((await use())?.bytes, 2 * bytes.length);
});

test('the last requested window of ModificationTimestamp is recorded, in both interfaces', async () => {
  const { ask, use } = await newAccount();
  await ask('/v1/listings?_filter=ModificationTimestamp bt 2026-06-01T10:00:00Z,2026-06-01T11:00:00Z');
  assert.equal((await use())?.lastWindow, '2026-06-01T10:00:00Z/2026-06-01T11:00:00Z');
  await ask(
    '/Reso/OData/Property?$filter=(ModificationTimestamp gt 2026-06-01T11:00:00Z and ModificationTimestamp lt 2026-06-01T12:00:00Z)',
  );
  assert.equal((await use())?.lastWindow, '2026-06-01T11:00:00Z/2026-06-01T12:00:00Z');
  await ask('/v1/listings');
  assert.equal((await use())?.lastWindow, '2026-06-01T11:00:00Z/2026-06-01T12:00:00Z');
  await ask('/v1/listings?_filter=ModificationTimestamp Gt 2026-06-01T11:30:00Z');
  assert.equal((await use())?.lastWindow, '2026-06-01T11:30:00Z/');
});

test('a sweep is recorded when a walk over all listings reaches its end, and by no other walk', async () => {
  const { ask, use } = await newAccount();
  const walk = async (path: string, pages: number): Promise<void> => {
    let token = '';
    for (let page = 0; page < pages; page++) {
      clock.advance(60_000);
      const { D }: { D: { SkipToken: string } } = JSON.parse((await ask(`${path}&_skiptoken=${token}`)).text);
      token = D.SkipToken;
    }
  };
  await walk('/v1/listings?_limit=2&_select=ListingKey', 2);
  assert.equal((await use())?.lastSweepAt, null);
  await walk('/v1/listings?_limit=2&_select=ListingKey', 4);
  const native = new Date(clock.now() - 60_000).toISOString().replace('.000Z', 'Z');
  assert.equal((await use())?.lastSweepAt, native);
  for (const path of [
    "/v1/listings?_filter=StandardStatus Eq 'Active'",
    '/v1/listings?_orderby=ListPrice',
    '/v1/listings?_skip=3',
    '/v1/accounts',
    '/Reso/OData/Member?$select=MemberKey',
    '/Reso/OData/Property?$top=3',
    '/v1/listings?_skiptoken=4',
  ]) {
    clock.advance(60_000);
    await ask(path);
  }
  assert.equal((await use())?.lastSweepAt, native);
  clock.advance(60_000);
  await ask('/Reso/OData/Property?$top=1000&$select=ListingKey');
  assert.equal((await use())?.lastSweepAt, clock.text());
});

describe('UsageRecorder', () => {
  const log = pino({ level: 'silent' });
  const whole = { from: '', reached: [], ended: true };

  it('keeps use that it could not write, reports it once, and adds it to the next write', async () => {
    const recorded: ReadonlyMap<string, KeyUse>[] = [];
    const lines: string[] = [];
    let fails = true;
    const recorder = new UsageRecorder(
      {
        recordUse: async (uses) => {
          if (fails) throw new Error('locked');
          recorded.push(uses);
        },
      },
      pino({ base: null }, { write: (line: string) => void lines.push(line) }),
    );
    const noon = Date.parse('2026-06-01T12:00:00Z');
    recorder.addRequest('k_1', { rows: 10, bytes: 100, window: 'a/b' }, noon);
    await recorder.flush();
    recorder.addRequest('k_1', { rows: 5, bytes: 50, walk: whole }, noon + 1000);
    recorder.addRequest('k_2', { rows: 1, bytes: 1 }, noon);
    await recorder.flush();
    assert.deepEqual(
      lines.map((line) => line.includes('the use of keys could not be recorded')),
      [true],
    );
    fails = false;
    await recorder.close();
    const use = { requests: 1, rows: 1, bytes: 1, lastRequestAt: '2026-06-01T12:00:00Z' };
    assert.deepEqual(recorded, [
      new Map([
        [
          'k_1',
          {
            requests: 2,
            rows: 15,
            bytes: 150,
            lastRequestAt: '2026-06-01T12:00:01Z',
            lastWindow: 'a/b',
            lastSweepAt: '2026-06-01T12:00:01Z',
          },
        ],
        ['k_2', { ...use, lastWindow: null, lastSweepAt: null }],
      ]),
    ]);
  });

  describe('in a store of several processes', () => {
    const unused = () => Promise.reject(new Error('no recorder asks this'));
    const rest = {
      ...{ lendRequests: unused, returnRequests: unused, findList: unused, isListCurrent: unused },
      ...{ sweepLists: unused, keepList: unused },
    };

    /** A recorder, the steps that reach the store, and what it was given to record as the last sweep. */
    function recorderOn(answers: (step: WalkStep) => Promise<'noted' | 'complete' | 'unknown'>) {
      const steps: WalkStep[] = [];
      const recorded: (string | null | undefined)[] = [];
      const noteSweep = (_key: string, { from, reached, ended }: WalkStep) => {
        steps.push({ from, reached, ended });
        return answers({ from, reached, ended });
      };
      const recorder = new UsageRecorder(
        { recordUse: async (uses) => void recorded.push(uses.get('k')?.lastSweepAt) },
        log,
        { ...rest, noteSweep },
      );
      const note = (walk: WalkStep, at = 0): void =>
        recorder.addRequest('k', { rows: 1, bytes: 1, walk }, at);
      return { steps, recorded, recorder, note };
    }
    const page = (number: number, ended = false): WalkStep => ({
      from: number === 0 ? '' : `after ${number}`,
      reached: [`after ${number + 1}`],
      ended,
    });

    it('joins the steps of a walk that wait, and records when its last page was requested', async () => {
      const gate = Promise.withResolvers<void>();
      const { steps, recorded, recorder, note } = recorderOn(async ({ ended }) => {
        await gate.promise;
        return ended ? 'complete' : 'noted';
      });
      for (let number = 0; number < 1000; number++) note(page(number), number);
      await Promise.resolve();
      for (let number = 1000; number < 3000; number++) note(page(number, number === 2999), number);
      note(page(0), 4000);
      gate.resolve();
      await recorder.close();
      assert.deepEqual(steps, [
        { from: '', reached: ['after 1000'], ended: false },
        { from: 'after 1000', reached: ['after 3000'], ended: true },
        page(0),
      ]);
      assert.deepEqual(recorded, ['1970-01-01T00:00:02.999Z']);
    });

    it('lets at most 32 steps of a key wait, and does not record a walk of which it left a step out', async () => {
      const gate = Promise.withResolvers<void>();
      const { steps, recorder, note } = recorderOn(async () => {
        await gate.promise;
        return 'unknown';
      });
      for (let walk = 0; walk < 100; walk++) note(page(10 * walk));
      gate.resolve();
      await recorder.close();
      assert.deepEqual(
        steps,
        Array.from({ length: 32 }, (_, walk) => page(10 * walk)),
      );
    });

    it('does not wait for other processes while it closes', async () => {
      const { steps, recorder, note } = recorderOn(async () => 'unknown');
      note(page(7));
      await recorder.close();
      assert.deepEqual(steps, [page(7)]);
    });

    it('writes usage although steps of walks still wait', async (t) => {
      t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
      const gate = Promise.withResolvers<void>();
      const { recorded, recorder, note } = recorderOn(async () => {
        await gate.promise;
        return 'complete';
      });
      note({ from: '', reached: [], ended: true }, 5);
      const flushed = recorder.flush();
      t.mock.timers.tick(1000);
      await flushed;
      assert.deepEqual(recorded, [null]);
      gate.resolve();
      await recorder.close();
      assert.deepEqual(recorded, [null, '1970-01-01T00:00:00.005Z']);
    });

    it('records a walk of which a page was requested twice', async () => {
      let reached = [''];
      const { recorded, recorder, note } = recorderOn(async (step) => {
        if (!reached.includes(step.from)) return 'unknown';
        reached = [...step.reached];
        return step.ended ? 'complete' : 'noted';
      });
      for (const [at, step] of [page(0), page(1), page(1), page(2, true)].entries()) {
        note(step, at);
        await recorder.flush();
      }
      await recorder.close();
      assert.equal(recorded.at(-1), '1970-01-01T00:00:00.003Z');
    });
  });
});
