/**
 * I2, with several processes that write to one store file while `plat serve` publishes it and readers walk windows:
 * a window that was answered, and not marked as open, never gains a record later.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openSqliteStore } from '../../../src/engines/sqlite/store.ts';
import { parseRecord } from '../../../src/records/parse-record.ts';
import { DEFAULT_SETTINGS } from '../../../src/records/settings.ts';
import { type Place, place } from '../../cli/run.ts';
import { makeKey } from '../../support/service.ts';
import { emptyStoreFile } from '../../support/sqlite-engine.ts';

const FULL = process.env.PLAT_FULL === '1';
const WRITERS = 4;
/** The minimum duration of writing. */
const MILLISECONDS = FULL ? 90_000 : 700;
/** The minimum result, for which a busy machine may take longer, up to `LONGEST`. */
const ENOUGH = { written: 50, windows: 10, records: 500 };
const LONGEST = MILLISECONDS + 120_000;
const WRITER = fileURLToPath(new URL('./writer.ts', import.meta.url));

/** A window that was answered, with the timestamps of its records by key. */
interface Answered {
  readonly url: string;
  readonly to: string;
  readonly seen: ReadonlyMap<string, string>;
}

/** How to request a window and read a page. */
interface Interface {
  url(from: string, to: string): string;
  read(body: Record<string, unknown>, url: string): { rows: readonly Row[]; next: string | undefined };
}

interface Row {
  readonly ListingKey: string;
  readonly ModificationTimestamp: string;
}

const reso = (root: string): Interface => ({
  url: (from, to) =>
    `${root}/Reso/OData/Property?$top=500&$select=ListingKey,ModificationTimestamp&$filter=(ModificationTimestamp gt ${from} and ModificationTimestamp lt ${to})`,
  read: ({ value, '@odata.nextLink': next }) => ({
    rows: rowsOf(value),
    next: typeof next === 'string' ? next : undefined,
  }),
});

const native = (root: string): Interface => ({
  url: (from, to) =>
    `${root}/v1/listings?_limit=500&_select=ListingKey,ModificationTimestamp&_filter=ModificationTimestamp bt ${from},${to}`,
  read({ D }, url) {
    assert.ok(typeof D === 'object' && D !== null && 'Results' in D && Array.isArray(D.Results));
    const token = 'SkipToken' in D ? D.SkipToken : undefined;
    const rows = rowsOf(D.Results.map(({ StandardFields }) => StandardFields));
    const next = rows.length === 0 ? undefined : `${url.replace(/&_skiptoken=.*/, '')}&_skiptoken=${token}`;
    return { rows, next };
  },
});

function rowsOf(value: unknown): Row[] {
  assert.ok(Array.isArray(value), JSON.stringify(value));
  return value.map(({ ListingKey, ModificationTimestamp }) => ({ ListingKey, ModificationTimestamp }));
}

class Reader {
  readonly answered: Answered[] = [];
  refused = 0;
  readonly #interface: Interface;
  readonly #token: string;

  constructor(asks: Interface, token: string) {
    this.#interface = asks;
    this.#token = token;
  }

  get records(): number {
    return this.answered.reduce((sum, { seen }) => sum + seen.size, 0);
  }

  get hasEnough(): boolean {
    return this.answered.length > ENOUGH.windows && this.records > ENOUGH.records;
  }

  /** The timestamps in a window by key; undefined if the window is open or does not settle in time. */
  async walk(url: string): Promise<Map<string, string> | undefined> {
    const seen = new Map<string, string>();
    for (let next: string | undefined = url; next !== undefined; ) {
      const response = await fetch(next, { headers: { authorization: `Bearer ${this.#token}` } });
      const text = await response.text();
      if (response.status === 503) {
        this.refused++;
        return undefined;
      }
      assert.equal(response.status, 200, text);
      if (response.headers.get('x-plat-window') === 'open') return undefined;
      const page = this.#interface.read(JSON.parse(text), next);
      for (const { ListingKey, ModificationTimestamp } of page.rows)
        seen.set(ListingKey, ModificationTimestamp);
      next = page.next;
    }
    return seen;
  }

  /** Reads consecutive windows, each up to the current time, until the writers are done. */
  async follow(isDone: () => boolean): Promise<void> {
    let from = new Date(Date.now() - 1000).toISOString();
    while (!isDone()) {
      const to = new Date().toISOString();
      const url = this.#interface.url(from, to);
      let seen: Map<string, string> | undefined;
      while (seen === undefined) seen = await this.walk(url);
      this.answered.push({ url, to, seen });
      from = to;
    }
  }

  /**
   * Asserts that no window has gained a record since its first answer. A record that changes between search and output is
   * returned in its new state, with a timestamp after the window.
   */
  async check(): Promise<void> {
    for (const { url, to, seen } of this.answered) {
      const now = await this.walk(url);
      assert.ok(now, url);
      for (const [key, stamp] of now) {
        const isKnown = Date.parse(stamp) <= Date.parse(to) ? seen.get(key) === stamp : seen.has(key);
        assert.ok(isKnown, `${key} of ${stamp} (before: ${seen.get(key)}) was added to ${url}`);
      }
    }
  }
}

interface WriterProcess {
  readonly child: ChildProcess;
  /** The number of records written so far. */
  written(): number;
  /** Resolves when the process has ended on request; rejects if it ends otherwise. */
  readonly ended: Promise<void>;
  end(): void;
}

function startWriter(store: string, number: number, scope: TestContext): WriterProcess {
  const child = spawn(process.execPath, [WRITER, store, String(number)]);
  scope.after(() => void child.kill('SIGKILL'));
  let written = 0;
  let err = '';
  createInterface({ input: child.stdout }).on('line', (line) => {
    written = Number(line);
  });
  child.stderr.on('data', (part: Buffer) => {
    err += part;
  });
  const ended = new Promise<void>((resolve, reject) => {
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(err))));
  });
  return { child, written: () => written, ended, end: () => void child.stdin.end() };
}

/** Suspends the writers in turn, at any moment, even while they hold the lock. */
async function disturb(writers: readonly WriterProcess[], isDone: () => boolean): Promise<void> {
  for (let turn = 0; !isDone(); turn++) {
    const { child } = writers[turn % writers.length] ?? {};
    child?.kill('SIGSTOP');
    await setTimeout(100 + (turn % 7) * 40);
    child?.kill('SIGCONT');
    await setTimeout(20 + (turn % 3) * 15);
  }
}

async function serve(at: Place, store: string): Promise<string> {
  at.file(
    'plat.config.json',
    JSON.stringify({
      filterIndex: { minutes: 0 },
      limits: { replication: { requests: 1_000_000, seconds: 60 } },
    }),
  );
  const ports = ['--api-port', '0', '--replication-port', '0', '--floorplans-port', '0', '--admin-port', '0'];
  const running = at.start(['serve', '--store', store, '--log-level', 'error', ...ports]);
  const text = await running.until(/^admin .*\n/m);
  return /^replication +(http:\/\/[^/]+)\//m.exec(text)?.[1] ?? '';
}

test(`I2 a settled window gains no record while ${WRITERS} processes write and readers walk`, async (t) => {
  const at = place(t);
  const path = await emptyStoreFile(DEFAULT_SETTINGS);
  const store = await openSqliteStore({ path });
  t.after(() => store.close());
  const root = await serve(at, path);
  const reader = async (asks: Interface): Promise<Reader> =>
    new Reader(asks, await makeKey(store, 'replication'));
  const readers = [await reader(reso(root)), await reader(native(root))];
  let done = false;
  const writers = Array.from({ length: WRITERS }, (_, number) => startWriter(path, number, t));
  const disturbing = disturb(writers, () => done);
  const following = readers.map((each) => each.follow(() => done));
  const counts = (): number[] => writers.map(({ written }) => written());
  const isEnough = (): boolean =>
    counts().every((count) => count > ENOUGH.written) && readers.every((each) => each.hasEnough);
  const began = performance.now();
  const within = (milliseconds: number): boolean => performance.now() - began < milliseconds;
  const ended = Promise.all(writers.map((each) => each.ended));
  const writing = async (): Promise<void> => {
    while (within(MILLISECONDS) || (!isEnough() && within(LONGEST))) await setTimeout(50);
    for (const each of writers) each.end();
  };
  // A failure of a process or a reader ends the test at once.
  await Promise.all([
    writing(),
    ended.finally(() => {
      done = true;
    }),
    ...following,
    disturbing,
  ]);
  assert.ok(
    counts().every((count) => count > ENOUGH.written),
    `records written by each process: ${counts()}`,
  );
  for (const each of readers) {
    await each.check();
    assert.ok(each.hasEnough, `${each.answered.length} windows of ${each.records} records`);
  }
});

test('I2 timestamps never run backwards, even if processes with different clocks assign them', async (t) => {
  const path = await emptyStoreFile(DEFAULT_SETTINGS);
  const ahead = Date.now() + 3_600_000;
  const clocks = [Date.now, () => ahead, () => Date.now() - 86_400_000];
  const stamps: string[] = [];
  for (const [index, now] of [...clocks, ...clocks].entries()) {
    const store = await openSqliteStore({ path, clock: { now, sleep: async () => undefined } });
    t.after(() => store.close());
    const model = await store.model();
    const parsed = parseRecord(model.resource('Property'), { ListingKey: `${index}` }, model);
    assert.ok(parsed.ok);
    stamps.push((await store.write('Property', [parsed.record])).stamp);
  }
  assert.deepEqual(
    stamps,
    stamps.toSorted((a, b) => Date.parse(a) - Date.parse(b)),
  );
  assert.equal(Date.parse(stamps.at(-1) ?? ''), ahead);
});
