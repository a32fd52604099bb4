/** The systemd units of `deploy/`, checked by systemd-analyze with the paths of this checkout. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFile } from '../support/temporary.ts';
import { DEPLOY, deployed, unlessHere, whereIs } from './tools.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const UNITS = readdirSync(DEPLOY).filter((name) => /\.(service|timer)$/.test(name));
const skip = unlessHere('systemd-analyze', 'systemd');

const analyze = (...args: readonly string[]): { status: number | null; text: string } => {
  const { status, stdout, stderr } = spawnSync(whereIs('systemd-analyze') ?? '', args, { encoding: 'utf8' });
  return { status, text: `${stdout}${stderr}` };
};

test('the units refer to existing files of the package and to environment files of deploy/', () => {
  assert.deepEqual(UNITS, [
    'plat-backup.service',
    'plat-backup.timer',
    'plat-replicate.service',
    'plat.service',
  ]);
  for (const unit of UNITS) {
    const text = deployed(unit);
    for (const [, path = ''] of text.matchAll(/\/opt\/plat\/node_modules\/plat\/([\w./-]+)/g)) {
      assert.ok(existsSync(join(ROOT, path)), `${unit}: ${path}`);
    }
    for (const [, name = ''] of text.matchAll(/EnvironmentFile=\/etc\/plat\/([\w.]+)/g)) {
      assert.ok(existsSync(join(DEPLOY, name)), `${unit}: ${name}`);
    }
  }
});

test('systemd-analyze finds no errors in the units, and a low exposure level', { skip }, () => {
  const folder = temporaryFile('');
  mkdirSync(folder);
  for (const unit of UNITS) {
    const text = deployed(unit)
      .replaceAll('/opt/plat/node_modules/node/bin/node', process.execPath)
      .replaceAll('/opt/plat/node_modules/plat/', ROOT);
    writeFileSync(join(folder, unit), text);
  }
  const paths = UNITS.map((unit) => join(folder, unit));
  const verified = analyze('verify', '--man=no', ...paths);
  const ours = verified.text
    .split('\n')
    .filter((line) => line.includes(dirname(paths[0] ?? '')) || /plat/.test(line));
  assert.deepEqual([verified.status, ours], [0, []], verified.text);
  for (const path of paths.filter((each) => each.endsWith('.service'))) {
    const { status, text } = analyze('security', '--offline=true', '--threshold=20', '--no-pager', path);
    assert.equal(status, 0, text);
    assert.match(text, /Overall exposure level .*: [01]\.\d/);
  }
});
