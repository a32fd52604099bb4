/** `plat changes`: the sequence of changes for pipelines. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type Place, place } from './run.ts';

const listing = (key: string, price: number) => ({
  ListingKey: key,
  ListPrice: price,
  StandardStatus: 'Active',
});

async function imported(at: Place, ...records: readonly object[]): Promise<void> {
  at.file('l.ndjson', records);
  await at.done(['import', '--store', 'm.db', 'l.ndjson']);
}

const told = (out: string): string[] =>
  out
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const { resource, key, kind, record } = JSON.parse(line);
      const price = record === undefined ? '' : ` ${record.ListPrice}`;
      return `${kind} ${resource} ${key}${price}`;
    });

test('the sequence is written from the start or a number, with records, as a role sees them', async (t) => {
  const at = place(t);
  await imported(at, listing('1', 5), { ...listing('2', 6), InternetEntireListingDisplayYN: false });
  await imported(at, listing('1', 7));
  const changes = (...more: string[]) => at.done(['changes', '--store', 'm.db', ...more]);
  const all = await changes();
  assert.deepEqual(told(all), ['created Property 1', 'created Property 2', 'changed Property 1']);
  const [, second = ''] = all.split('\n');
  const { sequence, at: moment } = JSON.parse(second);
  assert.match(moment, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  assert.deepEqual(told(await changes('--since', String(sequence))), ['changed Property 1']);
  assert.deepEqual(told(await changes('--since', 'end')), []);
  assert.deepEqual(told(await changes('--records', '--role', 'idx')), [
    'created Property 1 7',
    'changed Property 1 7',
  ]);
  assert.deepEqual(told(await changes('--resources', 'Member,Office')), []);
  const wrong = (...more: string[]) => at.run(['changes', '--store', 'm.db', ...more]);
  assert.deepEqual(await wrong('--resources', 'Propperty'), {
    code: 2,
    out: '',
    err: 'plat: There is no resource Propperty. Did you mean Property?\n',
  });
  assert.deepEqual(await wrong('--role', 'nobody'), {
    code: 2,
    out: '',
    err: 'plat: There is no role nobody.\n',
  });
  assert.equal((await wrong('--since', 'x')).code, 2);
  const gone = await wrong('--since', '900000000');
  assert.equal(gone.code, 1);
  assert.match(
    gone.err,
    /^plat: What has changed since this position is no longer known\. Download everything, then follow from the position [\w.-]+\. Or empty the copy, and with --since start every record that exists comes anew\.\n$/,
  );
});

test('a checkpoint goes on where the lines before it ended, and one of something else is refused', async (t) => {
  const at = place(t);
  await imported(at, listing('1', 5));
  const changes = () => at.run(['changes', '--store', 'm.db', '--checkpoint', 'p.txt']);
  assert.deepEqual(told((await changes()).out), ['created Property 1']);
  assert.deepEqual(told((await changes()).out), []);
  await imported(at, listing('1', 6), listing('2', 6));
  assert.deepEqual(told((await changes()).out), ['changed Property 1', 'created Property 2']);
  const kept = readFileSync(at.path('p.txt'), 'utf8');
  assert.match(kept, /^\d+\.[\w-]+\n$/);
  at.file('p.txt', 'something else');
  const refused = await changes();
  assert.equal(refused.code, 2);
  assert.match(refused.err, /p\.txt holds no position in a sequence of changes\. To begin anew, delete it\./);
});

test('--follow writes what other processes commit, and a signal ends it well', async (t) => {
  const at = place(t);
  await imported(at, listing('1', 5));
  const following = at.start(['changes', '--store', 'm.db', '--follow', '--checkpoint', 'p.txt']);
  await following.until(/"key":"1"/);
  await imported(at, listing('2', 6));
  await following.until(/"key":"2"/);
  following.child.kill('SIGINT');
  const { code, out } = await following.ended;
  assert.equal(code, 0);
  assert.deepEqual(told(out), ['created Property 1', 'created Property 2']);
  const next = await at.done(['changes', '--store', 'm.db', '--checkpoint', 'p.txt']);
  assert.deepEqual(told(next), []);
});
