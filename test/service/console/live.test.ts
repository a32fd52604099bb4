/** Server-sent events of the admin port: what comes, who may see it, and how it ends. */
import assert from 'node:assert/strict';
import { type IncomingMessage, request } from 'node:http';
import { after, test } from 'node:test';
import { Live } from '../../../src/service/console/live.ts';
import { startTestService } from '../../support/service.ts';

/** The first event of a stream, and the stream. */
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

test('the present comes at once, to an admin key alone, and ends with the service', async () => {
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

test('whoever looks at the replication is told of it at once, and again when something happened', async () => {
  let state = 'walking';
  let lag = 0;
  const live = new Live(async () => ({}), {
    replication: {
      whole: async () => ({ state, lag: ++lag }),
      lasting: ({ state: is }: { state?: string }) => is ?? '',
    },
    every: 1,
  });
  const gone = new AbortController();
  after(() => gone.abort());
  const [plain, told] = [live.events(gone.signal), live.events(gone.signal, true)];
  const figures = 'event: figures\ndata: {}\n\n';
  const report = (is: string, at: number) => `event: replication\ndata: {"state":"${is}","lag":${at}}\n\n`;
  assert.equal((await plain.next()).value, figures);
  assert.equal((await told.next()).value, figures + report('walking', 1));
  const next = async () => (await told.next()).value;
  // The first event of the clock tells it for those who came before it.
  assert.equal(await next(), figures + report('walking', 2));
  assert.deepEqual([await next(), await next()], [figures, figures]);
  state = 'done';
  assert.equal(await next(), figures + report('done', 5));
  // What moves with time alone is told now and then.
  for (let quiet = 0; quiet < 6; quiet++) assert.equal(await next(), figures);
  assert.equal(await next(), figures + report('done', 12));
  assert.equal((await plain.next()).value, figures);
});

test('figures are read once for all who look, and a store that is away is an event', async () => {
  let reads = 0;
  const live = new Live(
    async () => {
      reads++;
      if (reads === 4) throw new Error('away');
      return { reads };
    },
    { every: 1 },
  );
  const gone = new AbortController();
  after(() => gone.abort());
  const [one, two] = [live.events(gone.signal), live.events(gone.signal)];
  assert.match((await one.next()).value, /"reads":1/);
  assert.match((await two.next()).value, /"reads":2/);
  const [third, same] = await Promise.all([one.next(), two.next()]);
  assert.deepEqual([third.value, same.value], ['event: figures\ndata: {"reads":3}\n\n', third.value]);
  const [away] = await Promise.all([one.next(), two.next()]);
  assert.equal(away.value, 'event: away\ndata: {}\n\n');
  gone.abort();
  assert.deepEqual([(await one.next()).done, (await two.next()).done], [true, true]);
});
