/**
 * The size of a line, a list and a record in a file is limited; what comes after one that is too large is read. A batch is as large
 * as a transaction of the store.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { importFile } from '../../src/cli/import/importer.ts';
import type { RawRecord } from '../../src/cli/import/record-json.ts';
import { RECORD_LIMITS, readRecords } from '../../src/cli/import/record-reader.ts';
import { sqliteEngine } from '../support/sqlite-engine.ts';
import { temporaryFile } from '../support/temporary.ts';
import { makeWorld } from '../support/world.ts';
import { linesOf, PLAT, place } from './run.ts';

const LIMITS = { record: 100, skipped: 2000 };

async function read(
  text: string,
  size: number,
  limits = LIMITS,
): Promise<{ records: RawRecord[]; fault: { line: number; reason: string } | undefined }> {
  async function* chunks(): AsyncIterable<Buffer> {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const read = await Array.fromAsync(readRecords(chunks(), undefined, limits));
  const fault = read.find((each) => each.text === '');
  const records = read.filter((each) => each.text !== '').map(({ counted: _, ...rest }) => rest);
  return { records, fault: fault && { line: fault.line, reason: fault.fault ?? '' } };
}

const large = (length: number): string => `{"ListingKey":"B","City":"${'x'.repeat(length)}"}`;
const small = (key: string): string => `{"ListingKey":"${key}"}`;
const SPACE = ' \n'.repeat(900);

for (const [form, wrap] of Object.entries({
  lines: (records: readonly string[]) => records.join('\n'),
  'an array': (records: readonly string[]) => `[${records.join(',\n')}]`,
  'Common Format': (records: readonly string[]) =>
    `{"@reso.context":"urn:reso:metadata:2.0:resource:property","value":[${records.join(',\n')}]}`,
})) {
  test(`${form}: a record that is too large is rejected with its line, and all others are read`, async () => {
    const text = wrap([small('A'), large(500), small('C'), large(40), small('E')]);
    for (const size of [1, 7, 64, 100, 101, 1000]) {
      const { records, fault } = await read(text, size);
      assert.deepEqual(
        records.map(({ line, fault: why }) => [line, why]),
        [
          [1, undefined],
          [2, `The record is larger than ${100 / (1 << 20)} MB; this is its beginning`],
          [3, undefined],
          [4, undefined],
          [5, undefined],
        ],
      );
      assert.equal(fault, undefined);
      assert.ok((records[1]?.text.length ?? 0) <= 1000);
      assert.deepEqual(
        [records[0]?.text, records[2]?.text, records[3]?.text],
        [small('A'), small('C'), large(40)],
      );
    }
  });

  test(`${form}: a record without an end is reported at a limit, and the file is not read further`, async () => {
    let taken = 0;
    async function* endless(): AsyncIterable<Buffer> {
      yield Buffer.from(wrap([small('A'), '{"ListingKey":"B","City":"']).replace(/["\]}]+$/, '"'));
      for (;;) {
        taken += 64;
        yield Buffer.from('x'.repeat(64));
      }
    }
    const records = await Array.fromAsync(readRecords(endless(), undefined, LIMITS));
    assert.deepEqual(
      records.map(({ line, text, fault }) => ({ line, text, fault })),
      [
        { line: 1, text: small('A'), fault: undefined },
        {
          line: 2,
          text: '',
          fault: `A record does not end within ${2000 / (1 << 20)} MB; the file is not read beyond it`,
        },
      ],
    );
    assert.ok(taken <= 2000 + 128, `${taken}`);
  });
}

test('white space before the first record is not kept in memory, and its lines are counted', async () => {
  const { records } = await read(`${SPACE}${small('A')}\n${small('B')}`, 64);
  assert.deepEqual(records, [
    { line: 901, text: small('A') },
    { line: 902, text: small('B') },
  ]);
});

test('a file with nothing but white space left is not read further after a limit; records before that are read', async () => {
  const only = 'More than';
  for (const [text, keys, line] of [
    [SPACE.repeat(2), [], 1],
    [`${small('A')}\n${SPACE.repeat(2)}${small('B')}`, [small('A')], 2],
    [`[${small('A')},\n${SPACE.repeat(2)}${small('B')}]`, [small('A')], 1],
  ] as const) {
    const { records, fault } = await read(text, 64);
    assert.deepEqual(
      records.map((record) => record.text),
      keys,
    );
    assert.match(fault?.reason ?? '', new RegExp(`^${only}`));
    assert.ok((fault?.line ?? 0) >= line, `line ${fault?.line}`);
  }
});

test('white space between and inside records: the records do not depend on how the file is divided into chunks', async () => {
  const blanks = ' \n\t \r\n'.repeat(30);
  const inner = `{"ListingKey":"I","City":"a${' '.repeat(70)}b"}`;
  const spread = `{\n"ListingKey":\n\n\n"S"}`;
  for (const text of [
    [small('A'), blanks, inner, '', blanks, small('B'), blanks].join('\n'),
    `${blanks}[${blanks}${inner}${blanks},${blanks}${spread},${small('B')}${blanks}]${blanks}`,
    `{"@reso.context":"urn:reso:metadata:2.0:resource:property","value":[${inner},${blanks}${spread}${blanks}]}`,
  ]) {
    const whole = await read(text, text.length, RECORD_LIMITS);
    assert.ok(whole.records.length >= 2);
    for (let size = 1; size < 80; size++) {
      const pieces = await read(text, size, RECORD_LIMITS);
      assert.deepEqual(pieces, whole, `${size}`);
    }
  }
});

test('records with 100,000 errors, 100,000 levels or odd numbers are rejected alone, each with a short reason', async (t) => {
  const at = place(t);
  const deep = (key: string, open: string, close: string, levels: number): string =>
    `{"ListingKey":"${key}","${key}":${open.repeat(levels)}1${close.repeat(levels)}}`;
  const fields = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`Field${index}`, index]));
  const media = Array.from({ length: 100_000 }, (_, index) => ({ MediaKey: `M${index}`, Order: 'x' }));
  const same = Array.from({ length: 100_000 }, () => ({ MediaKey: 'M' }));
  const lines: readonly (readonly [line: string, reason?: RegExp])[] = [
    [small('first')],
    [
      JSON.stringify({ ListingKey: 'fields', ...fields }),
      /^Property has no field Field0; .*; and 99980 more\. Add --infer /,
    ],
    [JSON.stringify({ ListingKey: 'media', Media: media }), /^Media\[0\]\.Order is "x", .*; and 99980 more$/],
    [JSON.stringify({ ListingKey: 'same', Media: same }), /^Media has the key M twice; .*; and 99979 more$/],
    [deep('City', '[', ']', 10_000), /^The record is nested more than 64 levels deep$/],
    [deep('Media', '[{"Media":', '}]', 10_000), /^The record is nested more than 64 levels deep$/],
    [deep('Other', '{"a":', '}', 100_000), /^The record is nested more than 64 levels deep$/],
    [
      `{"ListingKey":"both","ListPrice":1e400,"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
      /^The record is nested more than 64 levels deep$/,
    ],
    [
      '{"ListingKey":"tiny","ListPrice":1e-400}',
      /^ListPrice is 1e-400, which is beyond the precision of a number$/,
    ],
    ['{"ListingKey":"nul","City":"a\\u0000b"}', /^City contains a NUL character$/],
    ['{"ListingKey":"\\ud800"}', /^ListingKey contains half of a surrogate pair/],
    [`{"ListingKey":"${'k'.repeat(10_000)}"}`, /^ListingKey has 10000 characters, but takes at most 255$/],
    [
      JSON.stringify({ ListingKey: 'long', PublicRemarks: 'x'.repeat(5_000_000) }),
      /^PublicRemarks has 5000000 characters/,
    ],
    [small('last')],
  ];
  at.file('odd.ndjson', lines.map(([line]) => `${line}\n`).join(''));
  const { code, out, err } = await at.run(['import', '--store', 'm.db', '--strict', 'odd.ndjson', '--json']);
  assert.equal(code, 1, err);
  assert.ok(err.length < 20_000, `${err.length} characters`);
  assert.doesNotMatch(err, /^ +at /m);
  const [{ inserted, rejected, reasons }] = JSON.parse(out);
  assert.deepEqual([inserted, rejected], [2, lines.length - 2]);
  for (const [index, [, reason]] of lines.entries()) {
    if (reason === undefined) continue;
    const found = reasons.find((each: { line: number }) => each.line === index + 1);
    assert.match(found.reason, reason);
    assert.ok(found.reason.length < 7000);
  }
  const kept = readFileSync(at.path('odd.ndjson.rejected.ndjson'), 'utf8').trimEnd().split('\n');
  assert.equal(kept.length, lines.length - 2);
  assert.deepEqual(
    (await at.exported('m.db', 'Property')).map(({ ListingKey }) => ListingKey),
    ['first', 'last'],
  );
});

const FULL = process.env.PLAT_FULL === '1';
for (const [what, fill, error] of [
  [
    'one line',
    'x',
    /bomb\.ndjson\.gz:2: A record does not end within 1024 MB; the file is not read beyond it/,
  ],
  [
    'blank lines',
    '\n',
    /bomb\.ndjson\.gz:\d+: More than 1024 MB contain nothing but whitespace; plat does not read/,
  ],
] as const)
  test(`a gzip of ${what}, of 3 GB, is rejected in bounded memory and time`, { skip: !FULL }, async (t) => {
    const at = place(t);
    const piece = gzipSync(Buffer.alloc(64 << 20, fill), { level: 1 });
    const packed = [gzipSync(linesOf([{ ListingKey: 'A' }])), ...Array<Buffer>(48).fill(piece)];
    at.file('bomb.ndjson.gz', Buffer.concat(packed));
    const running = at.start(['import', '--store', 'm.db', 'bomb.ndjson.gz']);
    let most = 0;
    const look = setInterval(() => {
      try {
        const status = readFileSync(`/proc/${running.child.pid}/status`, 'utf8');
        most = Math.max(most, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
      } catch {
        // The process has ended, or this is not Linux.
      }
    }, 50);
    const begun = performance.now();
    const { code, err } = await running.ended;
    clearInterval(look);
    assert.equal(code, 1);
    assert.match(err, error);
    assert.ok(performance.now() - begun < 60_000);
    assert.ok(most < 700_000, `${most} kB`);
    assert.equal(RECORD_LIMITS.skipped, 1 << 30);
    assert.deepEqual((await at.exported('m.db', 'Property')).length, 1);
  });

test('files whose beginning is read before anything is stored do not stay open', (t) => {
  const at = place(t);
  const names = Array.from({ length: 100 }, (_, number) =>
    at.file(`f${number}.ndjson`, [{ ListingKey: `${number}`, PublicRemarks: 'x'.repeat(10_000) }]),
  );
  const line = `ulimit -n 100; exec "$NODE" "$PLAT" import --store m.db --json ${names.join(' ')}`;
  const env = { ...process.env, NODE: process.execPath, PLAT };
  const { status, stdout } = spawnSync('sh', ['-ec', line], { cwd: at.folder, env, encoding: 'utf8' });
  const reports: readonly { readonly inserted: number }[] = JSON.parse(stdout);
  assert.equal(status, 0);
  assert.deepEqual(
    reports.map(({ inserted }) => inserted),
    names.map(() => 1),
  );
});

test('an import writes as many records at once as the store currently stores in one transaction', async (t) => {
  const { store } = await makeWorld(sqliteEngine(), t);
  const path = temporaryFile('.ndjson');
  writeFileSync(
    path,
    Array.from({ length: 40 }, (_, at) => JSON.stringify({ MemberKey: `M${at}` })).join('\n'),
  );
  const written: number[] = [];
  const growing: typeof store = {
    ...store,
    recordsAtOnce: () => 5 * (1 + written.length),
    write: (resource, records, options) => {
      written.push(records.length);
      return store.write(resource, records, options);
    },
  };
  await importFile(
    growing,
    { path, name: path, form: 'json' },
    {
      ...{ resource: 'Member', map: new Map(), takesUnknown: false, remedy: '' },
      reading: { isLenient: false, dropsUnknown: false },
    },
    { update: () => undefined, reportLine: () => undefined },
    new AbortController().signal,
  );
  assert.deepEqual(written, [5, 10, 15, 10]);
});
