import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { describeWriter } from '../../../src/store/files/lock-holders.ts';
import { temporaryFile } from '../../support/temporary.ts';

const skip = existsSync('/proc/locks') ? false : 'this system has no list of locks';

/** Takes the write lock of the file that its argument names, and keeps it until stdin ends. */
const WRITER = `const { DatabaseSync } = require('node:sqlite');
  new DatabaseSync(process.argv[1]).exec('BEGIN IMMEDIATE');
  process.stdout.write('has it');
  process.stdin.resume();`;

test('the process that has the write lock of a store is known as long as it has it', { skip }, async () => {
  const path = temporaryFile('.db');
  using here = new DatabaseSync(path);
  here.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (a)');
  assert.equal(describeWriter(path), null);
  const other = spawn(process.execPath, ['--eval', WRITER, path]);
  await once(other.stdout, 'data');
  assert.equal(describeWriter(path), `Process ${other.pid}`);
  other.stdin.end();
  await once(other, 'exit');
  assert.equal(describeWriter(path), null);
  here.exec('BEGIN IMMEDIATE');
  assert.equal(describeWriter(path), null, 'this process does not wait for itself');
});
