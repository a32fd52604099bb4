/** Files that are written under a temporary name: nobody reads an incomplete one, and only `kill -9` leaves one behind. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PartialFile } from '../../../src/store/files/partial-file.ts';
import { temporaryFile } from '../../support/temporary.ts';

function folder(): string {
  const path = temporaryFile('');
  mkdirSync(path);
  return path;
}

test('a file gets its name when it is complete, with the mode of the file that it replaces', () => {
  const place = folder();
  const file = join(place, 'a');
  {
    using partial = new PartialFile(file, '.partial');
    writeFileSync(partial.path, 'one');
    assert.deepEqual(readdirSync(place), ['a.partial']);
    partial.replaceTarget();
  }
  assert.deepEqual(readdirSync(place), ['a']);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  chmodSync(file, 0o640);
  {
    using partial = new PartialFile(file, '.partial');
    writeFileSync(partial.path, 'two');
    partial.replaceTarget();
  }
  assert.equal(readFileSync(file, 'utf8'), 'two');
  assert.equal(statSync(file).mode & 0o777, 0o640);
});

test('a failed file is removed, with the files next to it, and the previous one stays', () => {
  const place = folder();
  const file = join(place, 'a');
  writeFileSync(file, 'before');
  assert.throws(() => {
    using partial = new PartialFile(file, '.partial');
    for (const end of ['', '-wal', '-journal']) writeFileSync(`${partial.path}${end}`, 'half');
    throw new Error('no more');
  }, /no more/);
  assert.deepEqual(readdirSync(place), ['a']);
  assert.equal(readFileSync(file, 'utf8'), 'before');
});

test("a temporary file left by a killed process is not used by the next, and two processes do not use each other's", () => {
  const place = folder();
  const file = join(place, 'a');
  for (const end of ['', '-wal']) writeFileSync(`${file}.partial${end}`, 'stale');
  using first = new PartialFile(file, '.partial');
  assert.equal(readFileSync(first.path, 'utf8'), '');
  assert.deepEqual(readdirSync(place), ['a.partial']);
  using second = new PartialFile(file, '.partial');
  writeFileSync(second.path, 'second');
  assert.throws(() => first.replaceTarget(), { code: 'failed', message: /Another process is writing / });
  second.replaceTarget();
  assert.equal(readFileSync(file, 'utf8'), 'second');
});

test('the error for a file that cannot be created names that file, not the temporary one', () => {
  const file = join(folder(), 'no-folder', 'a');
  assert.throws(() => new PartialFile(file, '.partial'), {
    code: 'ENOENT',
    message: `ENOENT: no such file or directory, open '${file}'`,
    syscall: 'open',
    path: file,
  });
});

const SCRIPT = `
import { writeFileSync } from 'node:fs';
import { endOnSignals } from ${JSON.stringify(new URL('../../../src/cli/shutdown.ts', import.meta.url))};
import { PartialFile } from ${JSON.stringify(new URL('../../../src/store/files/partial-file.ts', import.meta.url))};
endOnSignals();
using partial = new PartialFile(process.argv[1], '.partial');
writeFileSync(partial.path, 'half');
process.stdout.write('begun');
setInterval(() => undefined, 1000);
await new Promise(() => undefined);
`;

for (const [signal, left] of [
  ['SIGINT', []],
  ['SIGTERM', []],
  ['SIGHUP', []],
  ['SIGKILL', ['a.partial']],
] as const) {
  test(`${signal} leaves ${left.length === 0 ? 'no file' : 'a file that the next opening removes'}`, async () => {
    const place = folder();
    const file = join(place, 'a');
    const child = spawn(process.execPath, ['--input-type=module', '-e', SCRIPT, file]);
    const ended = new Promise((resolve) => child.on('close', resolve));
    await new Promise((resolve) => child.stdout.once('data', resolve));
    child.kill(signal);
    await ended;
    assert.deepEqual(readdirSync(place), left);
    assert.equal(existsSync(file), false);
  });
}
