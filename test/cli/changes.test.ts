/** `plat changes`: the sequence of changes for pipelines. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { test } from 'node:test';
import { CheckpointFile } from '../../src/cli/checkpoint-file.ts';
import { PlatError } from '../../src/errors/index.ts';
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

const linesOf = (out: string): string[] =>
  out
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const { resource, key, kind, record } = JSON.parse(line);
      const price = record === undefined ? '' : ` ${record.ListPrice}`;
      return `${kind} ${resource} ${key}${price}`;
    });

test('the sequence is written from the start or from a number, with records, as a role sees them', async (t) => {
  const at = place(t);
  await imported(at, listing('1', 5), { ...listing('2', 6), InternetEntireListingDisplayYN: false });
  await imported(at, listing('1', 7));
  const changes = (...more: string[]) => at.done(['changes', '--store', 'm.db', ...more]);
  const all = await changes();
  assert.deepEqual(linesOf(all), ['created Property 1', 'created Property 2', 'changed Property 1']);
  const [, second = ''] = all.split('\n');
  const { sequence, at: moment } = JSON.parse(second);
  assert.match(moment, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  assert.deepEqual(linesOf(await changes('--since', String(sequence))), ['changed Property 1']);
  assert.deepEqual(linesOf(await changes('--since', 'end')), []);
  assert.deepEqual(linesOf(await changes('--records', '--role', 'idx')), [
    'created Property 1 7',
    'changed Property 1 7',
  ]);
  assert.deepEqual(linesOf(await changes('--resources', 'Member,Office')), []);
  const wrong = (...more: string[]) => at.run(['changes', '--store', 'm.db', ...more]);
  assert.deepEqual(await wrong('--resources', 'Propperty'), {
    code: 2,
    out: '',
    err: 'plat: There is no resource Propperty. Did you mean Property?\n',
  });
  assert.deepEqual(await wrong('--role', 'nobody'), {
    code: 2,
    out: '',
    err: 'plat: There is no role nobody; there are private, idx, vow, public, portal.\n',
  });
  assert.equal((await wrong('--since', 'x')).code, 2);
  const gone = await wrong('--since', '900000000');
  assert.equal(gone.code, 1);
  assert.match(
    gone.err,
    /^plat: The changes since this position are no longer known\. Download everything, then follow from the position [\w.-]+\. Or empty the copy, and use --since start to read every existing record again\.\n$/,
  );
});

test('a checkpoint continues after the lines already written, and a file without a position is rejected', async (t) => {
  const at = place(t);
  await imported(at, listing('1', 5));
  const changes = () => at.run(['changes', '--store', 'm.db', '--checkpoint', 'p.txt']);
  assert.deepEqual(linesOf((await changes()).out), ['created Property 1']);
  assert.deepEqual(linesOf((await changes()).out), []);
  await imported(at, listing('1', 6), listing('2', 6));
  assert.deepEqual(linesOf((await changes()).out), ['changed Property 1', 'created Property 2']);
  const kept = readFileSync(at.path('p.txt'), 'utf8');
  assert.match(kept, /^\d+\.[\w-]+\n$/);
  at.file('p.txt', 'something else');
  const refused = await changes();
  assert.equal(refused.code, 2);
  assert.match(
    refused.err,
    /p\.txt does not contain a position in a sequence of changes\. To start over, delete it\./,
  );
});

test('--follow writes what other processes commit, and a signal ends it with exit code 0', async (t) => {
  const at = place(t);
  await imported(at, listing('1', 5));
  const following = at.start(['changes', '--store', 'm.db', '--follow', '--checkpoint', 'p.txt']);
  await following.until(/"key":"1"/);
  await imported(at, listing('2', 6));
  await following.until(/"key":"2"/);
  following.child.kill('SIGINT');
  const { code, out } = await following.ended;
  assert.equal(code, 0);
  assert.deepEqual(linesOf(out), ['created Property 1', 'created Property 2']);
  const next = await at.done(['changes', '--store', 'm.db', '--checkpoint', 'p.txt']);
  assert.deepEqual(linesOf(next), []);
});

/** Records whose lines fill a pipe several times, in one commit and one page: a reader that stops blocks the writer within the page. */
const LONG = 'K'.repeat(240);
const many = (count: number) => Array.from({ length: count }, (_, index) => listing(`${LONG}${index}`, 5));

/** Starts to follow from the checkpoint, and stops reading at the first lines. */
async function stopsReading(at: Place) {
  const process = at.start(['changes', '--store', 'm.db', '--follow', '--checkpoint', 'p.txt']);
  const { stdout } = process.child;
  assert.ok(stdout !== null);
  await once(stdout, 'data');
  stdout.pause();
  return { ...process, stdout };
}

test('a process that is killed within a page, or loses its reader, does not move its checkpoint beyond the written lines', async (t) => {
  const at = place(t);
  await imported(at, listing('1', 5));
  const rest = () => at.done(['changes', '--store', 'm.db', '--checkpoint', 'p.txt']);
  assert.deepEqual(linesOf(await rest()), ['created Property 1']);
  const kept = readFileSync(at.path('p.txt'), 'utf8');
  await imported(at, ...many(900));

  const killed = await stopsReading(at);
  killed.child.kill('SIGKILL');
  killed.stdout.resume();
  const lines = (await killed.ended).out.split('\n').length;
  assert.ok(lines < 900, `${lines} lines of the page were read`);
  assert.equal(readFileSync(at.path('p.txt'), 'utf8'), kept);

  const left = await stopsReading(at);
  left.stdout.destroy();
  const { code, err } = await left.ended;
  assert.deepEqual({ code, err }, { code: 1, err: '' });
  assert.equal(readFileSync(at.path('p.txt'), 'utf8'), kept);

  assert.equal(linesOf(await rest()).length, 900);
  assert.deepEqual(linesOf(await rest()), []);
});

test('a follower that is killed at any time and resumes writes every change, the last ones possibly twice', async (t) => {
  const at = place(t);
  const [commits, kills] = process.env.PLAT_FULL === '1' ? [60, 30] : [6, 2];
  const seen: string[] = [];
  const sequenceIn = (line: string): number => JSON.parse(line).sequence;
  await imported(at, listing('0', 5));
  for (let commit = 1, following: ReturnType<Place['start']> | undefined; commit <= commits; commit++) {
    following ??= at.start(['changes', '--store', 'm.db', '--follow', '--checkpoint', 'p.txt']);
    await imported(at, listing(String(commit), 5));
    await following.until(new RegExp(`"key":"${commit}"`));
    if (commit % (commits / kills) !== 0) continue;
    following.child.kill('SIGKILL');
    seen.push(...(await following.ended).out.split('\n').filter(Boolean));
    following = undefined;
    const kept = existsSync(at.path('p.txt'))
      ? Number.parseInt(readFileSync(at.path('p.txt'), 'utf8'), 10)
      : 0;
    // A position is one after the number of the entry.
    assert.ok(kept <= Math.max(...seen.map(sequenceIn)) + 1, `${kept} is ahead of ${seen.at(-1)}`);
  }
  seen.push(
    ...(await at.done(['changes', '--store', 'm.db', '--checkpoint', 'p.txt'])).split('\n').filter(Boolean),
  );
  const first = [...new Set(seen)];
  assert.deepEqual(
    linesOf(first.join('\n')),
    Array.from({ length: commits + 1 }, (_, commit) => `created Property ${commit}`),
  );
});

test('a checkpoint that another process has changed, or that cannot be written, is reported and left unchanged', (t) => {
  const at = place(t);
  const path = at.path('p.txt');
  const read = () => readFileSync(path, 'utf8');
  const [one, other] = [new CheckpointFile(path), new CheckpointFile(path)];
  one.save('1.a');
  one.save('2.b');
  const reason = (error: unknown) => error instanceof PlatError && [error.code, error.message];
  const refused = (work: () => void): unknown => {
    try {
      work();
    } catch (error) {
      return reason(error);
    }
    return assert.fail('it was kept');
  };
  assert.deepEqual(
    refused(() => other.save('1.a')),
    [
      'failed',
      `The checkpoint ${path} was changed by another process. Each process that follows changes needs its own checkpoint.`,
    ],
  );
  assert.equal(read(), '2.b\n');
  const full = new CheckpointFile(path, () => {
    throw new Error('ENOSPC: no space left on device, write');
  });
  assert.deepEqual(
    refused(() => full.save('3.c')),
    [
      'failed',
      `The checkpoint ${path} cannot be written: ENOSPC: no space left on device, write. It stays as it was, so later lines will be repeated.`,
    ],
  );
  assert.deepEqual([read(), full.position, readdirSync(at.folder)], ['2.b\n', '2.b', ['p.txt']]);
  symlinkSync('p.txt', at.path('link'));
  new CheckpointFile(at.path('link')).save('3.c');
  assert.equal(read(), '3.c\n');
  mkdirSync(at.path('folder'));
  assert.deepEqual(
    refused(() => new CheckpointFile(at.path('folder'))),
    ['usage', `${at.path('folder')} is a folder, not a file.`],
  );
  // Before a line is written.
  mkdirSync(at.path('new.partial'));
  assert.match(
    String(refused(() => new CheckpointFile(at.path('new')))),
    /^usage,The checkpoint .*new cannot be used: Path is a directory: /,
  );
});
