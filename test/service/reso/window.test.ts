/** Specification 4.4 rule 3; contract and I2: an answered window never gains a record later. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { listing } from '../../support/builders.ts';
import { type TestClock, testClock } from '../../support/clock.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { nativeAsker } from '../native/asker.ts';
import { type Asker, asker } from './asker.ts';

interface Place {
  readonly service: TestService;
  readonly feed: Asker;
}

async function place(clock?: TestClock): Promise<Place> {
  const service = await startTestService(
    { after },
    {
      ...(clock === undefined ? {} : { clock }),
      fill: async (world) => {
        await world.write('Property', listing('1', { BedroomsTotal: 1 }));
        world.clock.advance(60_000);
        await world.write('Property', listing('2', { BedroomsTotal: 1 }));
        world.clock.advance(60_000);
      },
    },
  );
  return { service, feed: asker(service, 'replication', await service.key('replication')) };
}

/** Takes the write lock as another process would. @returns releases it */
function lock({ store }: TestService): () => void {
  const writer = new DatabaseSync(store.name);
  writer.exec('BEGIN IMMEDIATE');
  return () => {
    writer.exec('ROLLBACK');
    writer.close();
  };
}

const window = (from: string, to: string): string =>
  `Property?$select=ListingKey&$filter=(ModificationTimestamp gt ${from} and ModificationTimestamp lt ${to})`;

test('4.4.3 consecutive windows with both bounds return every change once', async () => {
  const { service, feed } = await place();
  assert.deepEqual(await feed.keys(window('2026-06-01T11:59:30Z', '2026-06-01T12:00:30Z')), ['1']);
  assert.deepEqual(await feed.keys(window('2026-06-01T12:00:30Z', '2026-06-01T12:01:30Z')), ['2']);
  await service.write('Property', listing('1', { BedroomsTotal: 2 }));
  service.clock.advance(500);
  assert.deepEqual(await feed.keys(window('2026-06-01T12:01:30Z', service.clock.text())), ['1']);
});

test('a window that ends in the future is marked as open, and no other one', async () => {
  const { service, feed } = await place();
  const now = service.clock.text();
  const later = '2026-06-01T12:10:00Z';
  const marks: readonly (readonly [string, string | undefined])[] = [
    [`ModificationTimestamp lt ${now}`, undefined],
    [`ModificationTimestamp le ${now}`, undefined],
    [`ModificationTimestamp lt ${later}`, 'open'],
    [`ModificationTimestamp eq ${later}`, 'open'],
    [`${later} gt ModificationTimestamp`, 'open'],
    [`${now} gt ModificationTimestamp`, undefined],
    ['ModificationTimestamp lt 2026-06-02', 'open'],
    ['ModificationTimestamp lt 2026-06-01', undefined],
    ['ModificationTimestamp lt 2026-06-01T14:10:00+02:00', 'open'],
    [`BedroomsTotal eq 1 and (ListPrice eq null and (ModificationTimestamp lt ${later} and true))`, 'open'],
    [`ModificationTimestamp lt ${later} and ModificationTimestamp lt ${now}`, undefined],
    [`ModificationTimestamp lt ${now} and ModificationTimestamp lt ${later}`, undefined],
    ['ModificationTimestamp gt 2026-06-01T12:00:00Z', undefined],
    [`BedroomsTotal eq 1 or ModificationTimestamp lt ${later}`, undefined],
    [`OriginalEntryTimestamp lt ${later}`, undefined],
    ['BedroomsTotal eq 7', undefined],
  ];
  for (const [filter, mark] of marks) {
    const { answer } = await feed.page(`Property?$filter=${filter.replaceAll('+', '%2B')}`);
    assert.equal(answer.headers['x-plat-window'], mark, filter);
    const count = await feed.get(`Property/$count?$filter=${filter.replaceAll('+', '%2B')}`);
    assert.equal(count.headers['x-plat-window'], mark, filter);
  }
});

test('a window stays marked as open as long as its list is kept', async () => {
  const { service, feed } = await place();
  const open = window('2026-06-01T11:59:30Z', '2026-06-01T12:04:00Z');
  const first = await feed.page(`${open}&$top=1`);
  assert.equal(first.answer.headers['x-plat-window'], 'open');
  service.clock.advance(200_000);
  await service.write('Property', listing('3'));
  const second = await feed.page(first.next ?? '');
  assert.deepEqual(
    [second.answer.headers['x-plat-index'], second.answer.headers['x-plat-window']],
    ['cached', 'open'],
    'records may have been added to the window since',
  );
});

test('a window waits 5 s while a writer holds the lock, and is then refused with Retry-After', async () => {
  const { service, feed } = await place();
  await feed.get('');
  service.clock.advance(900);
  const unlock = lock(service);
  const asked = window('2026-06-01T12:00:30Z', '2026-06-01T12:02:01Z');
  const before = service.clock.now();
  const { status, headers, json } = await feed.get(asked);
  assert.equal(status, 503);
  assert.equal(headers['retry-after'], '5');
  assert.deepEqual(json, {
    error: {
      code: 'windowNotSettled',
      message: 'Records inside this window are being written at this moment. Try again in 5 s.',
    },
  });
  assert.equal(service.clock.now() - before, 5000, 'the request waited 5 s');
  unlock();
  const { answer, rows } = await feed.page(asked);
  assert.deepEqual([rows, answer.headers['x-plat-index']], [[{ ListingKey: '2' }], 'fresh']);
});

test('a window that ends at the last promise or before does not wait for a writer, nor does any other request', async () => {
  const { service, feed } = await place();
  await feed.get('');
  const unlock = lock(service);
  const before = service.clock.now();
  assert.deepEqual(await feed.keys(window('2026-06-01T11:00:00Z', '2026-06-01T12:01:00Z')), ['1']);
  assert.deepEqual(await feed.keys(window('2026-06-01T12:01:00Z', '2026-06-01T12:02:00.500Z')), ['2']);
  assert.deepEqual(await feed.keys('Property'), ['1', '2']);
  assert.deepEqual(await feed.keys('Property?$filter=BedroomsTotal eq 1'), ['1', '2']);
  assert.equal((await feed.get("Property('1')")).status, 200);
  const later = await feed.page(window('2026-06-01T11:00:00Z', '2026-06-02T00:00:00Z'));
  assert.equal(
    later.answer.headers['x-plat-window'],
    'open',
    'a window that ends in the future is answered at once',
  );
  assert.equal(service.clock.now(), before);
  unlock();
});

test('a window is answered as soon as the writer has finished', async () => {
  const clock = testClock();
  let release: (() => void) | undefined;
  let waits = 0;
  const watched: TestClock = {
    ...clock,
    sleep: async (milliseconds) => {
      await clock.sleep(milliseconds);
      if (++waits === 3) release?.();
    },
  };
  const { service, feed } = await place(watched);
  await feed.get('');
  clock.advance(900);
  release = lock(service);
  assert.deepEqual(await feed.keys(window('2026-06-01T12:00:30Z', '2026-06-01T12:02:01Z')), ['2']);
  assert.equal(waits, 3);
});

test('I2 an answered window gains no record later, even if the clock is set back', async () => {
  const { service, feed } = await place();
  service.clock.advance(10_000);
  const date = new Date(String((await feed.get('')).headers.date)).toISOString();
  const asked = window('2026-06-01T12:01:30Z', date);
  assert.deepEqual(await feed.keys(asked), []);
  service.clock.advance(-3_600_000);
  await service.write('Property', listing('3'));
  const other = asker(service, 'replication', await service.key('replication'));
  assert.deepEqual(await other.keys(asked), []);
  const { ModificationTimestamp } = await feed.record("Property('3')?$select=ModificationTimestamp");
  assert.ok(Date.parse(String(ModificationTimestamp)) >= Date.parse(date), String(ModificationTimestamp));
});

test('the Date of every response is read from the clock that assigns timestamps', async () => {
  const { service, feed } = await place();
  const { headers } = await feed.get("Property('1')");
  assert.equal(headers.date, 'Mon, 01 Jun 2026 12:02:00 GMT');
  service.clock.set('2020-01-01T00:00:00Z');
  const dates = [await feed.get(''), await feed.get('Nothing')].map(({ headers: { date } }) => date);
  assert.deepEqual(dates, ['Mon, 01 Jun 2026 12:02:00 GMT', 'Mon, 01 Jun 2026 12:02:00 GMT']);
});

/** The current time of a client whose clock is ahead. Its next window begins where the last one ended. */
const ahead = ({ clock }: TestService, milliseconds: number): string =>
  new Date(clock.now() + milliseconds).toISOString();

test('a window that ends up to 5 s ahead of the clock waits for its end, in both interfaces', async () => {
  const { service, feed } = await place();
  const native = nativeAsker(service, 'replication', await service.key('replication'));
  const [to, later] = [ahead(service, 4000), ahead(service, 8000)];
  const began = service.clock.now();
  const { rows, answer, next } = await feed.page(window('2026-06-01T12:00:30Z', to));
  assert.deepEqual([rows, next], [[{ ListingKey: '2' }], undefined]);
  assert.equal(answer.headers['x-plat-window'], undefined);
  assert.equal(service.clock.now() - began, 4000);
  await service.write('Property', listing('3'));
  assert.ok(Date.parse(String((await feed.record("Property('3')")).ModificationTimestamp)) >= Date.parse(to));
  const page = await native.page(`listings?_filter=ModificationTimestamp bt ${to},${later}&_limit=10`);
  assert.deepEqual(page.keys, ['3'], 'the next window contains what was written since');
});

test('a bound between two timestamps includes the first, so its window waits until that is past', async () => {
  const { service, feed } = await place();
  const native = nativeAsker(service, 'replication', await service.key('replication'));
  const between = (): string => service.clock.text().replace('Z', '0001Z');
  for (const answered of [
    async (to: string) => feed.keys(window('2026-06-01T12:00:30Z', to)),
    async (to: string) =>
      (await native.page(`listings?_filter=ModificationTimestamp bt 2026-06-01T12:00:30Z,${to}&_limit=10`))
        .keys,
  ]) {
    const began = service.clock.now();
    assert.deepEqual(await answered(between()), ['2']);
    assert.equal(service.clock.now() - began, 25);
  }
});

test('a window that ends up to a minute ahead is answered up to now, with a nextLink for the rest', async () => {
  const { service, feed } = await place();
  const to = '2026-06-01T12:02:20Z';
  const asked = `${window('2026-06-01T11:59:30Z', to)}&$top=1`;
  const seen: unknown[] = [];
  const waits: number[] = [];
  const marks: unknown[] = [];
  let written = 0;
  for (let url: string | undefined = asked; url !== undefined; ) {
    const began = service.clock.now();
    const page: Awaited<ReturnType<Asker['page']>> = await feed.page(url);
    waits.push(service.clock.now() - began);
    marks.push(page.answer.headers['x-plat-window']);
    seen.push(...page.rows.map(({ ListingKey }) => ListingKey));
    // Records are written during the walk, with keys that it has already passed.
    if (written < 4) await service.write('Property', listing(`0${written++}`));
    url = page.next;
  }
  assert.deepEqual(seen.toSorted(), ['00', '01', '02', '03', '1', '2'], 'every record is returned once');
  assert.ok(service.clock.now() >= Date.parse(to), 'the walk ends after the end of the window');
  assert.equal(waits[0], 0, 'existing records are returned at once');
  assert.ok(waits.length <= 12 && Math.max(...waits) <= 5000, `${waits}`);
  assert.deepEqual([marks[0], marks.at(-1)], ['partial', undefined]);
  // The next window begins at the end of this one.
  await service.write('Property', listing('4'));
  service.clock.advance(1000);
  assert.deepEqual(await feed.keys(window(to, service.clock.text())), ['4']);
});

test('a window that ends ahead and cannot have a nextLink is refused until its end has passed', async () => {
  const { service, feed } = await place();
  const native = nativeAsker(service, 'replication', await service.key('replication'));
  const to = ahead(service, 20_000);
  const message =
    'This window ends 20 s ahead of the clock of this service, and records will still enter it. Try again in 20 s, or end it at the Date of a response.';
  const began = service.clock.now();
  for (const path of [
    `${window('2026-06-01T11:59:30Z', to)}&$skip=1`,
    `Property/$count?$filter=ModificationTimestamp lt ${to}`,
  ]) {
    const { status, headers, json } = await feed.get(path);
    assert.deepEqual(
      [status, headers['retry-after'], json],
      [503, '20', { error: { code: 'windowAhead', message } }],
    );
  }
  const refused = await native.get(`listings?_filter=ModificationTimestamp bt 2026-06-01T11:59:30Z,${to}`);
  assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '21']);
  assert.equal(service.clock.now(), began, 'the refusals do not wait');
  service.clock.advance(20_000);
  assert.deepEqual(await feed.keys(`${window('2026-06-01T11:59:30Z', to)}&$skip=1`), ['2']);
});
