/** Server-sent events of the admin port: their content, who may receive them, and how a stream ends. */
import assert from 'node:assert/strict';
import { type IncomingMessage, request } from 'node:http';
import { after, test } from 'node:test';
import { LiveFeed } from '../../../src/service/console/live-feed.ts';
import { startTestService } from '../../support/service.ts';

/** Reads the first event of a stream, or the body of an error. */
function firstEvent(address: string, token?: string): Promise<{ text: string; response: IncomingMessage }> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const asked = request(address, { headers }, (response) => {
      let text = '';
      response.on('error', () => undefined);
      response.on('data', (part: Buffer) => {
        text += part.toString();
        if (text.includes('\n\n') || text.endsWith('}}')) resolve({ text, response });
      });
    });
    asked.on('error', reject);
    asked.end();
  });
}

test('the stream sends current figures at once, to admin keys only, and ends when the service closes', async () => {
  const works: (() => Promise<void> | void)[] = [];
  const service = await startTestService({ after: (work) => void works.push(work) });
  const address = `${service.addresses.admin}/stream`;
  const refused = await firstEvent(address);
  assert.equal(refused.response.statusCode, 401);
  const { text, response } = await firstEvent(address, await service.key('admin'));
  assert.equal(response.headers['content-type'], 'text/event-stream');
  const [, data = ''] = /^event: figures\ndata: (.*)\n\n$/.exec(text) ?? [];
  assert.deepEqual(Object.keys(JSON.parse(data)), ['at', 'problems', 'surfaces']);
  const ended = new Promise((resolve) => response.once('end', resolve));
  for (const work of works.toReversed()) await work();
  await ended;
});

test('a viewer of the replication gets its state at once, on each change, and otherwise only now and then', async () => {
  let state = 'walking';
  let lag = 0;
  const live = new LiveFeed(async () => ({}), {
    replication: {
      whole: async () => ({ state, lag: ++lag }),
      lasting: ({ state: is }: { state?: string }) => is ?? '',
    },
    every: 1,
  });
  const stop = new AbortController();
  after(() => stop.abort());
  const [plain, viewer] = [live.events(stop.signal), live.events(stop.signal, true)];
  const figures = 'event: figures\ndata: {}\n\n';
  const report = (is: string, at: number) => `event: replication\ndata: {"state":"${is}","lag":${at}}\n\n`;
  assert.equal((await plain.next()).value, figures);
  assert.equal((await viewer.next()).value, figures + report('walking', 1));
  const next = async () => (await viewer.next()).value;
  // The first tick repeats the state for viewers that connected before it.
  assert.equal(await next(), figures + report('walking', 2));
  assert.deepEqual([await next(), await next()], [figures, figures]);
  state = 'done';
  assert.equal(await next(), figures + report('done', 5));
  // A value that changes with time alone is sent only now and then.
  for (let quiet = 0; quiet < 6; quiet++) assert.equal(await next(), figures);
  assert.equal(await next(), figures + report('done', 12));
  assert.equal((await plain.next()).value, figures);
});

test('figures are read once per tick for all viewers, and an unavailable store is an event', async () => {
  let reads = 0;
  const live = new LiveFeed(
    async () => {
      reads++;
      if (reads === 4) throw new Error('away');
      return { reads };
    },
    { every: 1 },
  );
  const stop = new AbortController();
  after(() => stop.abort());
  const [one, two] = [live.events(stop.signal), live.events(stop.signal)];
  assert.match((await one.next()).value, /"reads":1/);
  assert.match((await two.next()).value, /"reads":2/);
  const [third, same] = await Promise.all([one.next(), two.next()]);
  assert.deepEqual([third.value, same.value], ['event: figures\ndata: {"reads":3}\n\n', third.value]);
  const [away] = await Promise.all([one.next(), two.next()]);
  assert.equal(away.value, 'event: away\ndata: {}\n\n');
  stop.abort();
  assert.deepEqual([(await one.next()).done, (await two.next()).done], [true, true]);
});
