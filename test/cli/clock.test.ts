/** Commands on a machine whose clock is wrong for a while, beside a service that keeps running. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { listing } from '../support/builders.ts';
import { DAY } from '../support/clock.ts';
import { clockOff, place } from './run.ts';
import { ANY_PORT, addressesOf } from './serving.ts';

/** On a system without an identifier of its boot, a process cannot detect an earlier jump. */
const tellsStarts = existsSync('/proc/sys/kernel/random/boot_id');
const AHEAD = { env: clockOff(2 * DAY) };
const STORE = ['--store', 'm.db'];

test('a clock that jumped ahead is rejected by every command that assigns timestamps, unless it is confirmed', async (t) => {
  if (!tellsStarts) return t.skip('this system does not tell its starts apart');
  const at = place(t);
  for (const key of ['A', 'B', 'C']) at.file(`${key}.ndjson`, [listing(key)]);
  await at.done(['import', ...STORE, 'A.ndjson']);
  const refused =
    /^plat: The clock says \S+Z, and was set ahead by 2\.0 days since the store was last written to\. Nothing is written\. /m;
  for (const command of [
    ['import', 'B.ndjson'],
    ['delete', '--resource', 'Property', 'A'],
  ]) {
    const { code, err } = await at.run([...command, ...STORE], AHEAD);
    assert.deepEqual([command[0], code], [command[0], 1]);
    assert.match(err, refused);
  }
  assert.deepEqual(
    (await at.exported('m.db', 'Property')).map(({ ListingKey }) => ListingKey),
    ['A'],
  );
  // The clock is right after all; one confirmation is enough for the next commands.
  await at.done(['import', ...STORE, '--allow-clock-jump', 'B.ndjson'], AHEAD);
  await at.done(['import', ...STORE, 'C.ndjson'], AHEAD);
  assert.equal((await at.exported('m.db', 'Property')).length, 3);
  // A confirmation is stored even if nothing else is written.
  const further = { env: clockOff(4 * DAY) };
  const { out } = await at.run(['restamp', ...STORE, '--allow-clock-jump'], further);
  assert.equal(out, 'no timestamp is ahead of the clock\n');
  at.file('D.ndjson', [listing('D')]);
  await at.done(['import', ...STORE, 'D.ndjson'], further);
});

test('a clock that was behind and is corrected stops no writer, and no timestamp is moved back', async (t) => {
  if (!tellsStarts) return t.skip('this system does not tell its starts apart');
  const at = place(t);
  for (const key of ['A', 'B', 'C', 'Z']) at.file(`${key}.ndjson`, [listing(key)]);
  // The store was also written to in the past.
  await at.done(['import', ...STORE, 'Z.ndjson'], { env: clockOff(-10 * DAY) });
  await at.done(['import', ...STORE, '--allow-clock-jump', 'A.ndjson']);
  const behind = { env: clockOff(-2 * DAY) };
  await at.done(['import', ...STORE, 'B.ndjson'], behind);
  const { code, err } = await at.run(['restamp', ...STORE], behind);
  assert.equal(code, 1);
  assert.match(
    err,
    /^plat: The clock says \S+Z, and was set back by 2\.0 days since the store was last written to\. Nothing is restamped\. /m,
  );
  const right = await at.run(['import', ...STORE, 'C.ndjson']);
  assert.deepEqual([right.code, right.err], [0, '']);
  assert.equal((await at.exported('m.db', 'Property')).length, 4);
});

test('a store that was created under a clock that was ahead is restamped once the clock is right', async (t) => {
  const at = place(t);
  at.file('a.ndjson', [listing('A')]);
  await at.done(['import', ...STORE, 'a.ndjson'], AHEAD);
  const status = await at.run(['status', ...STORE]);
  assert.match(
    status.err,
    /the last timestamp, \S+Z, is 2\.0 days ahead of the clock.* "plat restamp" brings/,
  );
  assert.match(
    await at.done(['restamp', ...STORE]),
    /^moved back to \S+Z: 1 Property, \d+ Lookup, \d+ Field; epoch /m,
  );
  assert.deepEqual((await at.run(['status', ...STORE])).err, '');
  at.file('b.ndjson', [listing('B')]);
  await at.done(['import', ...STORE, 'b.ndjson']);
});

test('a store that a wrong clock has frozen is reported by every command, and restamped while it is served', async (t) => {
  const at = place(t);
  at.file('a.ndjson', [listing('A')]);
  at.file('b.ndjson', [listing('B')]);
  await at.done(['import', ...STORE, 'a.ndjson']);
  const running = at.start(['serve', ...STORE, ...ANY_PORT]);
  const { admin } = await addressesOf(running);
  const ready = async (): Promise<unknown> => (await fetch(`${admin}/ready`)).json();
  assert.deepEqual(await ready(), { ready: true });

  await at.done(['import', ...STORE, '--allow-clock-jump', 'b.ndjson'], AHEAD);
  const frozen =
    /the last timestamp, \S+Z, is 2\.0 days ahead of the clock: windows up to it stay empty; "plat restamp" brings it back/;
  const { problems } = Object(await ready());
  assert.match(problems.clock, frozen);
  const status = await at.run(['status', ...STORE, '--json']);
  assert.match(status.err, frozen);
  assert.equal(JSON.parse(status.out).ahead.isRestamping, false);
  const imported = await at.run(['import', ...STORE, 'a.ndjson']);
  assert.deepEqual([imported.code, frozen.test(imported.err)], [0, true]);

  const repaired = await at.done(['restamp', ...STORE]);
  assert.match(
    repaired,
    /^moved back to \S+Z: 1 Property; epoch [\w-]{12} has begun, and replicas read everything again$/m,
  );
  assert.deepEqual(await ready(), { ready: true });
  const stamps = (await at.exported('m.db', 'Property')).map(
    ({ ModificationTimestamp }) => ModificationTimestamp,
  );
  assert.ok(
    stamps.every((stamp) => Date.parse(String(stamp)) <= Date.now()),
    stamps.join(),
  );
  assert.equal(await at.done(['restamp', ...STORE]), 'no timestamp is ahead of the clock\n');
  running.child.kill('SIGTERM');
  assert.equal((await running.ended).code, 0);
});
