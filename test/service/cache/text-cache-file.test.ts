/** The file of texts: reads return what was written or nothing, whatever happens to the file, and it keeps to its limit. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { fstatSync, ftruncateSync, readdirSync, readSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { FileSpace } from '../../../src/service/cache/file-space.ts';
import {
  type CachedText,
  type PlacedText,
  TextCacheFile,
} from '../../../src/service/cache/text-cache-file.ts';
import { makeRandom } from '../../oracle/random.ts';
import { temporaryFile } from '../../support/temporary.ts';
import { canBeFound, descriptorOf } from './unlinked-file.ts';

const MEGABYTE = 1024 * 1024;
const HOUR = 60 * 60 * 1000;
/** A file of texts, with its warnings and dropped texts. */
function textFile(t: TestContext, { bytes = 8 * MEGABYTE, path = temporaryFile('.db-pages-text') } = {}) {
  const warnings: string[] = [];
  const now = { milliseconds: 0 };
  const taken = { bytes: 0 };
  const file = new TextCacheFile({
    ...{ path, bytes },
    taken: () => taken.bytes,
    warn: (message) => warnings.push(message),
    now: () => now.milliseconds,
  });
  t.after(() => file.close());
  const dropped = new Set<CachedText>();
  let released = 0;
  /** Stores texts that are the parts of one body. */
  const keepAs = async (
    kind: CachedText['kind'],
    ...contents: readonly string[]
  ): Promise<readonly CachedText[]> => {
    const body = Buffer.from(contents.join(','));
    let start = 0;
    const placed = contents.map((content): PlacedText => {
      const text: CachedText = file.reserveText(kind, Buffer.byteLength(content), () => dropped.add(text));
      const one = { text, start };
      start += text.length + 1;
      return one;
    });
    await file.writeTexts({ body, release: () => released++ }, placed);
    return placed.map(({ text }) => text);
  };
  const keep = (...contents: readonly string[]): Promise<readonly CachedText[]> =>
    keepAs('response', ...contents);
  /** Reads texts as one body; undefined if any of them is damaged. */
  const read = async (...texts: readonly CachedText[]): Promise<string | undefined> => {
    let start = 0;
    const placed = texts.map((text) => {
      const one = { text, start };
      start += text.length + 1;
      return one;
    });
    const { body, release } = file.newBody(start - 1);
    const isRight = await file.readTexts(body, placed);
    const text = Buffer.from(body).toString();
    release?.();
    return isRight ? text : undefined;
  };
  return { file, path, warnings, now, taken, dropped, keep, keepAs, read, released: () => released };
}

test('FileSpace: allocations never overlap, and all space is free once every allocation is released', () => {
  const random = makeRandom(3);
  const space = new FileSpace();
  const taken: { at: number; length: number }[] = [];
  for (let step = 0; step < 3000; step++) {
    if (random.chance(0.55)) {
      const length = random.between(1, 50);
      const at = space.allocate(length, 1000);
      const overlaps = (other: { at: number; length: number }): boolean =>
        at !== undefined && at < other.at + other.length && other.at < at + length;
      assert.ok(!taken.some(overlaps));
      if (at !== undefined) {
        assert.ok(at + length <= 1000);
        taken.push({ at, length });
      }
    } else {
      const [one] = taken.splice(random.between(0, taken.length - 1), 1);
      if (one !== undefined) space.free(one.at, one.length);
    }
    assert.equal(space.end, Math.max(0, ...taken.map(({ at, length }) => at + length)));
  }
  for (const { at, length } of taken) space.free(at, length);
  assert.equal(space.end, 0);
  assert.equal(space.allocate(1000, 1000), 0);
});

test('texts are read as they were written, in any order, while others are added and removed', async (t) => {
  const random = makeRandom(5);
  const { keep, read, file, dropped, path, warnings } = textFile(t);
  const kept = new Map<CachedText, string>();
  const content = (): string => random.pick(['ä', 'b', '{"c":1}']).repeat(random.between(1, 30_000));
  for (let step = 0; step < 60; step++) {
    const contents = Array.from({ length: random.between(1, 5) }, content);
    for (const [index, text] of (await keep(...contents)).entries()) kept.set(text, contents[index] ?? '');
    for (const text of [...kept.keys()].filter(() => random.chance(0.3))) {
      file.free(text);
      kept.delete(text);
    }
    const some = [...kept].filter(() => random.chance(0.3));
    if (some.length === 0) continue;
    const expected = some.map(([, each]) => each).join(',');
    assert.ok((await read(...some.map(([text]) => text))) === expected);
    const turned = some.toReversed();
    assert.ok((await read(...turned.map(([text]) => text))) === turned.map(([, each]) => each).join(','));
  }
  assert.deepEqual([dropped.size, warnings], [0, []]);
  const beside = readdirSync(dirname(path)).filter((name) => name.startsWith(basename(path)));
  assert.deepEqual(beside, [], 'the file is unlinked');
});

test('the space of a freed text is not reused while the text is being read', async (t) => {
  const { keep, read, file } = textFile(t);
  const [one = assert.fail()] = await keep('a'.repeat(2 * MEGABYTE));
  const reading = read(one);
  file.free(one);
  const [other = assert.fail()] = await keep('b'.repeat(2 * MEGABYTE));
  assert.ok((await reading) === 'a'.repeat(2 * MEGABYTE));
  assert.ok((await read(other)) === 'b'.repeat(2 * MEGABYTE));
  const [last = assert.fail()] = await keep('c'.repeat(1000));
  assert.equal(last.at, 0, 'the space is reused after the read');
});

const texts = ['first', 'second', 'third'].map((each) => each.repeat(20_000));

/** Kinds of damage to a file of these texts. */
const DAMAGE: Readonly<Record<string, (descriptor: number) => void>> = {
  'a flipped bit': (descriptor) => {
    const byte = Buffer.alloc(1);
    readSync(descriptor, byte, 0, 1, 150_000);
    writeSync(descriptor, Buffer.of((byte[0] ?? 0) ^ 4), 0, 1, 150_000);
  },
  'a missing end': (descriptor) => ftruncateSync(descriptor, 250_000),
  'an empty file': (descriptor) => ftruncateSync(descriptor, 0),
  'exchanged texts': (descriptor) => {
    const all = Buffer.alloc(fstatSync(descriptor).size);
    readSync(descriptor, all, 0, all.length, 0);
    writeSync(descriptor, Buffer.concat([all.subarray(100_000), all.subarray(0, 100_000)]), 0, all.length, 0);
  },
  'foreign content': (descriptor) => void writeSync(descriptor, Buffer.alloc(400_000, '{"x":1}'), 0),
};

for (const [what, damage] of Object.entries(DAMAGE)) {
  test(
    `a damaged file is detected, and its texts are written again: ${what}`,
    { skip: !canBeFound },
    async (t) => {
      const { keep, read, path, dropped, warnings } = textFile(t);
      const kept = await keep(...texts);
      assert.ok((await read(...kept)) === texts.join(','));
      damage(descriptorOf(t, path));
      assert.equal(await read(...kept), undefined);
      assert.ok(dropped.size > 0);
      assert.deepEqual(warnings, [`${path} was damaged: the damaged texts are read from the store`]);
      const again = await keep(...texts);
      assert.ok((await read(...again)) === texts.join(','), 'the texts are written again');
    },
  );
}

test('the content of another file of texts is rejected', { skip: !canBeFound }, async (t) => {
  const [one, other] = [textFile(t), textFile(t)];
  const kept = await one.keep(...texts);
  await other.keep(...texts.map((each) => each.toUpperCase()));
  const bytes = Buffer.alloc(300_000);
  readSync(descriptorOf(t, other.path), bytes, 0, bytes.length, 0);
  writeSync(descriptorOf(t, one.path), bytes, 0, bytes.length, 0);
  assert.equal(await one.read(...kept), undefined);
});

test('a file that is damaged repeatedly is no longer used', { skip: !canBeFound }, async (t) => {
  const { keep, read, path, file, warnings } = textFile(t);
  for (let round = 0; round < 5; round++) {
    const kept = await keep(...texts);
    ftruncateSync(descriptorOf(t, path), 0);
    assert.equal(await read(...kept), undefined);
  }
  assert.ok(file.isOff);
  assert.deepEqual(warnings, [
    `${path} was damaged: the damaged texts are read from the store`,
    `${path} cannot be used: pages without gzip are read from the store, and compressed blocks stay in memory`,
  ]);
});

test('texts use at most three quarters of the limit, and a text that was read within an hour is not evicted', async (t) => {
  const { keep, read, now, dropped, taken, file } = textFile(t, { bytes: 4 * MEGABYTE });
  const [first = assert.fail(), second = assert.fail()] = await keep(
    'a'.repeat(MEGABYTE),
    'b'.repeat(MEGABYTE),
  );
  const [third = assert.fail(), fourth = assert.fail()] = await keep(
    'c'.repeat(MEGABYTE - 10),
    'd'.repeat(MEGABYTE),
  );
  assert.deepEqual([...dropped], [fourth]);
  assert.ok(file.isFull('response'));
  now.milliseconds = HOUR / 2;
  assert.ok((await read(second, third))?.startsWith('bb'));
  now.milliseconds = HOUR + 1;
  const [fifth = assert.fail()] = await keep('e'.repeat(MEGABYTE));
  assert.deepEqual([...dropped], [fourth, first]);
  assert.ok(!file.isFull('response'));
  assert.equal(await read(fifth, second), `${'e'.repeat(MEGABYTE)},${'b'.repeat(MEGABYTE)}`);
  taken.bytes = 2.5 * MEGABYTE;
  file.truncateToLimit();
  assert.ok(
    dropped.has(third) && dropped.has(second) && !dropped.has(fifth),
    'the file of blocks needs the space',
  );
  assert.equal(await read(fifth), 'e'.repeat(MEGABYTE));
});

test('blocks leave a part of the space of texts to compressed blocks, and both to responses', async (t) => {
  const { keepAs, read, dropped, file } = textFile(t, { bytes: 4 * MEGABYTE });
  const half = (letter: string): string => letter.repeat(MEGABYTE / 2 - 100);
  const blocks = await keepAs('block', ...['a', 'b', 'c', 'd', 'e'].map(half));
  const full = () => (['block', 'compressed block', 'response'] as const).filter((kind) => file.isFull(kind));
  assert.deepEqual([[...dropped], full()], [blocks.slice(4), ['block']]);
  const compressed = await keepAs('compressed block', ...['f', 'g'].map(half));
  const all = [...blocks.slice(4), ...compressed.slice(1)];
  assert.deepEqual([[...dropped], full()], [all, ['block', 'compressed block']]);
  const [response = assert.fail()] = await keepAs('response', 'h'.repeat(MEGABYTE / 4));
  assert.equal(await read(response), 'h'.repeat(MEGABYTE / 4));
  assert.deepEqual([...dropped], all);
});

test('the file shrinks when the file of blocks grows', { skip: !canBeFound }, async (t) => {
  const { keep, path, taken, file } = textFile(t, { bytes: 4 * MEGABYTE });
  await keep(...['a', 'b', 'c', 'd'].map((each) => each.repeat(MEGABYTE / 2)));
  const descriptor = descriptorOf(t, path);
  assert.equal(fstatSync(descriptor).size, 2 * MEGABYTE + 3);
  taken.bytes = 3 * MEGABYTE;
  file.truncateToLimit();
  assert.equal(fstatSync(descriptor).size, MEGABYTE);
});

test('texts that exceed the limit of pending writes are dropped', async (t) => {
  const { keep, dropped, read, released } = textFile(t, { bytes: 200 * MEGABYTE });
  const large = 'x'.repeat(24 * MEGABYTE);
  const [[one = assert.fail()], [other = assert.fail()]] = await Promise.all([keep(large), keep(large)]);
  assert.deepEqual([dropped.has(one), dropped.has(other), released()], [false, true, 2]);
  assert.ok((await read(one)) === large);
});

test('closing a file during reads and writes releases every body, and later reads return nothing', async (t) => {
  const { keep, read, file, released, warnings } = textFile(t);
  const [one = assert.fail()] = await keep('a'.repeat(MEGABYTE));
  const under = [read(one), keep('b'.repeat(MEGABYTE)), keep('c'.repeat(MEGABYTE))];
  file.close();
  await Promise.all(under);
  assert.equal(released(), 3);
  assert.equal(await read(one), undefined);
  await keep('d');
  assert.deepEqual([released(), warnings], [4, []]);
});

test('an unwritable folder causes one warning, and no text is kept until it can be written again', async (t) => {
  const nowhere = temporaryFile('.txt');
  writeFileSync(nowhere, '');
  const path = join(nowhere, 'x-pages-text');
  const { file, keep, read, now, warnings, dropped, released } = textFile(t, { path });
  const warning = `${path} cannot be used: pages without gzip are read from the store, and compressed blocks stay in memory`;
  for (let round = 0; round < 3; round++) await keep('a', 'b');
  assert.deepEqual(warnings, [warning]);
  assert.deepEqual([dropped.size, released()], [6, 3]);
  now.milliseconds = HOUR / 6 - 1;
  assert.ok(file.isOff);
  now.milliseconds++;
  await keep('a', 'b');
  assert.ok(file.isOff);
  assert.deepEqual([warnings, dropped.size], [[warning], 8], 'the warning is not repeated');
  rmSync(nowhere);
  now.milliseconds += HOUR / 6;
  const [a = assert.fail(), b = assert.fail()] = await keep('a', 'b');
  assert.equal(await read(b, a), 'b,a');
  assert.deepEqual([warnings.length, dropped.size], [1, 8]);
});

test(
  'a full disk causes one warning, and texts that do not fit are dropped',
  { skip: process.platform === 'win32' },
  async () => {
    const path = temporaryFile('-pages-text');
    const module = new URL('../../../src/service/cache/text-cache-file.ts', import.meta.url).href;
    // The file size limit of the system, which takes effect in the middle of a write.
    const program = `
    import { TextCacheFile } from ${JSON.stringify(module)};
    const warnings = [];
    const file = new TextCacheFile({ path: ${JSON.stringify(path)}, bytes: 1e8, taken: () => 0, now: () => 0, warn: (_, error) => warnings.push(error.code) });
    let dropped = 0;
    const keep = async (length) => {
      const text = file.reserveText('block', length, () => dropped++);
      await file.writeTexts({ body: new Uint8Array(length) }, [{ text, start: 0 }]);
    };
    await keep(10_000);
    const first = dropped;
    await keep(10_000_000);
    console.log(JSON.stringify([first, dropped, warnings, file.isOff]));`;
    const shell = 'ulimit -f 2000; exec "$0" --input-type=module --eval "$1"';
    const { stdout } = await promisify(execFile)('sh', ['-c', shell, process.execPath, program]);
    assert.deepEqual(JSON.parse(stdout), [0, 2, ['EFBIG'], true]);
  },
);
