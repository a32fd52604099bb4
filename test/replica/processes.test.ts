/** Detecting that the process that holds a source is dead; without certainty it counts as alive. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import {
  acquireSource,
  displayName,
  type Host,
  LEASE_DURATION,
  newAcquirer,
  processesOf,
  realProcesses,
  whileAcquired,
} from '../../src/replica/checkpoint/lease.ts';
import { sqliteEngine } from '../support/sqlite-engine.ts';
import { makeWorld } from '../support/world.ts';

interface Other {
  readonly state: string;
  readonly begin: number;
}

/** A host with these processes by number. `request` replaces what differs from an ordinary host. */
function hostOf(
  pid: number,
  processes: Map<number, Other>,
  request: Partial<Host> & { boot?: string } = {},
): Host {
  const { boot = 'boot-1', ...others } = request;
  return {
    name: 'host',
    pid,
    read(path) {
      if (path.endsWith('boot_id')) return `${boot}\n`;
      const [, number] = /^\/proc\/(\w+)\/stat$/.exec(path) ?? [];
      const found = processes.get(number === 'self' ? pid : Number(number));
      if (found === undefined) throw new Error('ENOENT');
      return `${number} (a (name) of) ${found.state} ${Array.from({ length: 18 }, () => 0).join(' ')} ${found.begin} 0`;
    },
    readLink: () => 'pid:[4026531836]',
    exists: (number) => processes.has(number),
    ...others,
  };
}

test('a process is dead if no process has its id, if another process has it, or if it is a zombie', () => {
  const processes = new Map<number, Other>([
    [10, { state: 'S', begin: 500 }],
    [20, { state: 'R', begin: 900 }],
  ]);
  const me = processesOf(hostOf(20, processes));
  const other = processesOf(hostOf(10, processes)).name();
  assert.match(other, /^host:10:[0-9a-f]{8}:[\w-]{12}:500$/);
  assert.equal(displayName(other), other.split(':').slice(0, 3).join(':'));
  const cases: readonly [string, Other | undefined, boolean][] = [
    ['alive', { state: 'S', begin: 500 }, false],
    ['stopped for a while', { state: 'T', begin: 500 }, false],
    ['waiting for its parent', { state: 'Z', begin: 500 }, true],
    ['another one of the same number', { state: 'S', begin: 501 }, true],
    ['gone', undefined, true],
  ];
  for (const [name, state, isDead] of cases) {
    if (state === undefined) processes.delete(10);
    else processes.set(10, state);
    assert.equal(me.isDead(other), isDead, name);
  }
});

test('a process whose state is unknown counts as alive: another host, boot or namespace, a hidden process, a name without evidence', () => {
  const gone = new Map<number, Other>([[20, { state: 'R', begin: 900 }]]);
  const me = processesOf(hostOf(20, gone));
  const all = new Map<number, Other>([[10, { state: 'S', begin: 500 }]]);
  const strangers = [
    processesOf(hostOf(10, all, { boot: 'boot-2' })).name(),
    processesOf(hostOf(10, all, { readLink: () => 'pid:[1]' })).name(),
    processesOf(
      hostOf(10, all, {
        read: () => {
          throw new Error('no /proc');
        },
      }),
    ).name(),
    'host:10:0badc0de',
    'another',
  ];
  for (const name of strangers) assert.equal(me.isDead(name), false, name);
  const hidden = processesOf(hostOf(20, gone, { exists: () => true }));
  assert.equal(hidden.isDead(processesOf(hostOf(10, all)).name()), false);
});

test(
  'a killed process of this host is dead, a running one is not',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const script =
      "import('./src/replica/checkpoint/lease.ts').then(({ realProcesses }) => { console.log(realProcesses().name()); setInterval(() => {}, 1000); })";
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    t.after(() => child.kill('SIGKILL'));
    const [part] = await once(child.stdout, 'data');
    const name = String(part).trim();
    assert.equal(realProcesses().isDead(name), false);
    child.kill('SIGKILL');
    await once(child, 'exit');
    assert.equal(realProcesses().isDead(name), true);
  },
);

test('the lease of a dead process is taken over at once, that of a living one never', async (t) => {
  const processes = new Map<number, Other>([
    [10, { state: 'S', begin: 500 }],
    [20, { state: 'R', begin: 900 }],
  ]);
  const { store, clock } = await makeWorld(sqliteEngine(), t, { settings: { owner: 'replica' } });
  const at = (pid: number) => newAcquirer(clock, processesOf(hostOf(pid, processes)));
  await acquireSource(store, 'feed', at(10));
  await assert.rejects(acquireSource(store, 'feed', at(20)), {
    code: 'failed',
    message:
      /^host:10:[0-9a-f]{8} is replicating feed into this store; its lease ends in 60 s unless it is renewed\.$/,
  });
  processes.delete(10);
  const held = await acquireSource(store, 'feed', at(20));
  await held.release();
  assert.equal(await store.checkpoints.leaseHolder('feed'), undefined);
});

test('a lease that ends years from now was written with a wrong clock: it is taken over if it is not renewed', async (t) => {
  const { store, clock } = await makeWorld(sqliteEngine(), t, { settings: { owner: 'replica' } });
  const far = clock.now() + 20 * 365 * 86_400_000;
  await store.checkpoints.lease('feed', { holder: 'else:1:0badc0de', now: clock.now(), until: far });
  let isAlive = true;
  const sleeping = {
    now: clock.now,
    sleep: async (milliseconds: number) => {
      clock.advance(milliseconds);
      const now = clock.now();
      if (isAlive)
        await store.checkpoints.lease('feed', { holder: 'else:1:0badc0de', now, until: far + now });
    },
  };
  await assert.rejects(acquireSource(store, 'feed', newAcquirer(sleeping)), { code: 'failed' });
  isAlive = false;
  const begun = clock.now();
  const held = await acquireSource(store, 'feed', newAcquirer(sleeping));
  assert.equal(clock.now() - begun, LEASE_DURATION);
  assert.equal((await store.checkpoints.leaseHolder('feed'))?.holder, held.lease().holder);
});

test('a source is released once a renewal of its lease that is being committed has ended', async (t) => {
  const { store, clock } = await makeWorld(sqliteEngine(), t, { settings: { owner: 'replica' } });
  const acquired = await acquireSource(store, 'feed', newAcquirer(clock));
  const order: string[] = [];
  const [begun, committed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const checkpoints: typeof store.checkpoints = {
    ...store.checkpoints,
    commit: async (source, change) => {
      begun.resolve();
      await committed.promise;
      order.push('renewed');
      return store.checkpoints.commit(source, change);
    },
  };
  const held = {
    ...acquired,
    release: () => {
      order.push('released');
      return acquired.release();
    },
  };
  const time = {
    clock: { now: clock.now, sleep: async () => undefined },
    signal: new AbortController().signal,
  };
  const running = whileAcquired({ checkpoints }, held, time, async () => {
    await begun.promise;
    setImmediate(committed.resolve);
    return 'done';
  });
  assert.equal(await running, 'done');
  assert.deepEqual(order, ['renewed', 'released']);
});
