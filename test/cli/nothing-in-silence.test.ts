/** I7: the outcome of every line of a file is reported, and what was not stored goes to the rejected file. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { importFile } from '../../src/cli/import/importer.ts';
import { sqliteEngine } from '../support/sqlite-engine.ts';
import { temporaryFile } from '../support/temporary.ts';
import { makeWorld } from '../support/world.ts';

const QUIET = { update: () => undefined, reportLine: () => undefined };

/** A line, and whether it can be stored. */
const line = fc.oneof(
  fc.record({
    good: fc.constant(true),
    text: fc
      .record({
        ListingKey: fc.integer({ min: 1, max: 30 }).map(String),
        ListPrice: fc.integer({ min: 0, max: 3 }),
      })
      .map((record) => JSON.stringify(record)),
  }),
  fc.record({
    good: fc.constant(false),
    text: fc.constantFrom(
      '{"ListingKey":"1","ListPrice":"x"}',
      '{"ListingKey":"2","Unknown":1}',
      '{"ListPrice":1}',
      '{"ListingKey":"3"',
      '}{',
      '"text"',
      '{"ListingKey":"4","ListPrice":1.00000000000000000001}',
      '{"ListingKey":"\\u0000"}',
      '{"ListingKey":"5","Rooms":[{"RoomKey":"r"},{"RoomKey":"r"}]}',
    ),
  }),
);

const STRICT = {
  resource: 'Property',
  map: new Map(),
  takesUnknown: false,
  reading: { isLenient: false, dropsUnknown: false },
  remedy: '',
};

test('I7 lines in = stored + unchanged + repeated + rejected, and each rejected line is in the rejected file', async (t) => {
  const { store, keys } = await makeWorld(sqliteEngine(), t);
  const file = temporaryFile('.ndjson');
  const rejectedFile = `${file}.rejected.ndjson`;
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 60 }), async (lines) => {
      writeFileSync(file, lines.map(({ text }) => `${text}\n`).join(''));
      const before = new Set(await keys('Property'));
      const [report] = await importFile(
        store,
        { path: file, name: file, form: 'json' },
        STRICT,
        QUIET,
        new AbortController().signal,
      );
      assert.ok(report !== undefined);
      const bad = lines.flatMap(({ good, text }, index) => (good ? [] : [{ text, line: index + 1 }]));
      const good = lines
        .filter((each) => each.good)
        .map(({ text }): { ListingKey: string } => JSON.parse(text));
      const unique = new Set(good.map(({ ListingKey }) => ListingKey));
      assert.equal(report.rejected, bad.length);
      assert.equal(report.duplicates, good.length - unique.size);
      assert.equal(report.inserted + report.changed + report.unchanged, unique.size);
      assert.equal(report.inserted, [...unique].filter((each) => !before.has(each)).length);
      assert.deepEqual(new Set(await keys('Property')), before.union(unique));
      assert.equal(existsSync(rejectedFile), bad.length > 0);
      if (bad.length === 0) return;
      const kept = readFileSync(rejectedFile, 'utf8').trimEnd().split('\n');
      assert.deepEqual(
        kept.map((each) => JSON.parse(each)['@plat.rejected'].line),
        bad.map((each) => each.line),
      );
      for (const [index, { text }] of bad.entries()) {
        const held = kept[index] ?? '';
        const whole = held.includes(text.slice(1)) || held.includes(JSON.stringify(text));
        assert.ok(whole, `${text} is kept in ${held}`);
      }
      rmSync(rejectedFile);
    }),
    { seed: 20260606, numRuns: 25 },
  );
});
