/** Invalid input: each rejected record has a clear reason, the rest is stored, and nothing is lost. */
import assert from 'node:assert/strict';
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { constants, gunzipSync, gzipSync } from 'node:zlib';
import { openRejectedFile } from '../../src/cli/import/rejected-file.ts';
import { type Ended, linesOf, type Place, place, type RunOptions } from './run.ts';

/** The messages about the input, without the notice of a new store. */
async function run(at: Place, args: readonly string[], options?: RunOptions): Promise<Ended> {
  const ended = await at.run(args, options);
  return { ...ended, err: ended.err.replace(/^\S+ is a new store: none existed here\n/m, '') };
}

interface Rejected {
  readonly line: number;
  readonly reason: string;
}

/** The lines of the rejected file, with the text of their records. */
function rejected(at: Place, file: string): { why: readonly Rejected[]; texts: readonly string[] } {
  const texts = readFileSync(at.path(`${file}.rejected.ndjson`), 'utf8')
    .trimEnd()
    .split('\n');
  const why = texts.map((text): Rejected => {
    const { '@plat.rejected': rejected }: { '@plat.rejected': Rejected & { file: string } } =
      JSON.parse(text);
    assert.equal(rejected.file, file);
    return { line: rejected.line, reason: rejected.reason };
  });
  return { why, texts };
}

const MEGABYTES_10 = 10_000_000;

/** A line of the file, and the reason for which it is rejected; none: it is stored. */
const LINES: readonly (readonly [line: string, reason?: string])[] = [
  ['{"ListingKey":"1","StandardStatus":"Active","ListPrice":100,"City":"Ütrecht"}'],
  ['{"ListingKey":"2","ListPrice":"a lot"}', 'ListPrice is "a lot", but takes a number'],
  ['{"ListingKey":"3","BedroomsTotal":2.5}', 'BedroomsTotal is 2.5, but takes a whole number'],
  ['{"ListingKey":"4","CloseDate":"2020-13-01"}', 'CloseDate is "2020-13-01", but takes a date YYYY-MM-DD'],
  [
    '{"ListingKey":"5","InternetEntireListingDisplayYN":"yes"}',
    'InternetEntireListingDisplayYN is "yes", but takes true or false',
  ],
  ['{"ListingKey":"6","Appliances":"Dishwasher"}', 'Appliances is "Dishwasher", but takes a list'],
  ['{"ListingKey":11}', 'ListingKey is 11, but takes a string'],
  [
    '{"ListingKey":"7","ListPrise":5}',
    'Property has no field ListPrise (did you mean ListPrice?). Add --infer to declare fields that the dictionary does not have, or --extra-fields ignore to leave them out',
  ],
  [
    '{"ListingKey":"8","StandardStatus":"Nonsense"}',
    'StandardStatus is "Nonsense", which is not a value of the closed lookup StandardStatus',
  ],
  [`{"ListingKey":"9","City":"${'c'.repeat(51)}"}`, 'City has 51 characters, but takes at most 50'],
  [`{"ListingKey":"${'k'.repeat(256)}"}`, 'ListingKey has 256 characters, but takes at most 255'],
  ['{"StandardStatus":"Active"}', 'The record has no ListingKey'],
  ['{"ListingKey":"","City":"x"}', 'The record has no ListingKey'],
  [
    '{"ListingKey":"10","City":"',
    'The line is not JSON: Unterminated string in JSON at position 27 (line 1 column 28)',
  ],
  ['[1]', 'The record is not a JSON object'],
  ['null', 'The record is not a JSON object'],
  [
    '{"ListingKey":"12","ListPrice":12345678901234567890.12}',
    'ListPrice is 12345678901234567890.12, which is beyond the precision of a number',
  ],
  ['{"ListingKey":"13","ListPrice":1e400}', 'ListPrice is 1e400, which is beyond the precision of a number'],
  [
    '{"ListingKey":"14","PublicRemarks":"\\ud800 lone"}',
    'PublicRemarks contains half of a surrogate pair, which is not a character',
  ],
  ['{"ListingKey":"15","Media":{"MediaKey":"x"}}', 'Media is not a list'],
  ['{"ListingKey":"16","Media":[{"MediaURL":"https://x.example"}]}', 'Media[0] has no MediaKey'],
  [
    '{"ListingKey":"17","ListPrice":"x","BedroomsTotal":"y"}',
    'ListPrice is "x", but takes a number; BedroomsTotal is "y", but takes a whole number',
  ],
  [
    `{"ListingKey":"18","PublicRemarks":"${'r'.repeat(MEGABYTES_10)}"}`,
    `PublicRemarks has ${MEGABYTES_10} characters, but takes at most 4000`,
  ],
  ['   '],
  ['{"ListingKey":"19","ListPrice":450000.25}'],
];

test('each bad line is reported with file, line and reason and goes to the rejected file; the rest is stored', async (t: TestContext) => {
  const at = place(t);
  at.file('bad.ndjson', `\uFEFF${LINES.map(([line]) => line).join('\r\n')}`);
  const { code, out, err } = await run(at, ['import', '--store', 'm.db', '--strict', 'bad.ndjson']);
  const expected = LINES.flatMap(([, reason], at) =>
    reason === undefined ? [] : [{ line: at + 1, reason }],
  );
  assert.equal(code, 1);
  assert.equal(
    out,
    `bad.ndjson: Property 2 new, 0 changed, 0 unchanged, 0 children stored, ${expected.length} rejected\n`,
  );
  const { why, texts } = rejected(at, 'bad.ndjson');
  assert.deepEqual(why, expected);
  const first = expected.slice(0, 20).map(({ line, reason }) => `bad.ndjson:${line}: ${reason}`);
  assert.deepEqual(err.trimEnd().split('\n'), [
    ...first,
    `bad.ndjson: ${expected.length - 20} more records were rejected`,
    'bad.ndjson: rejected records are in bad.ndjson.rejected.ndjson',
  ]);
  const kept = texts.map((text) =>
    text.replace(/^\{"@plat\.resource":"Property","@plat\.rejected":\{.*?\},/, '{'),
  );
  const objects = LINES.filter(([line, reason]) => reason !== undefined && /^\{.*\}$/s.test(line));
  for (const [line] of objects) assert.ok(kept.includes(line), `${line.slice(0, 80)} is kept to the digit`);
  assert.ok(texts.some((text) => text.endsWith('"@plat.text":"{\\"ListingKey\\":\\"10\\",\\"City\\":\\""}')));
  const stored = await at.exported('m.db', 'Property');
  assert.deepEqual(
    stored.map(({ ListingKey, ListPrice, City }) => [ListingKey, ListPrice, City]),
    [
      ['1', 100, 'Ütrecht'],
      ['19', 450000.25, undefined],
    ],
  );
});

test('values that can be converted without loss are accepted and counted by kind and field; --strict rejects them', async (t) => {
  const at = place(t);
  const lenient: readonly (readonly [json: string, field: string, value: unknown, kind: string])[] = [
    ['"Appliances":"Oven, Range,,Dishwasher"', 'Appliances', ['Oven', 'Range', 'Dishwasher'], 'listAsText'],
    ['"ListPrice":" 450000.25"', 'ListPrice', 450000.25, 'numberAsText'],
    ['"BedroomsTotal":"3"', 'BedroomsTotal', 3, 'numberAsText'],
    ['"InternetAddressDisplayYN":"Y"', 'InternetAddressDisplayYN', true, 'booleanAsText'],
    ['"InternetEntireListingDisplayYN":0', 'InternetEntireListingDisplayYN', false, 'booleanAsText'],
    ['"PostalCode":10025', 'PostalCode', '10025', 'textAsNumber'],
    ['"CloseDate":"2024-05-01T00:00:00Z"', 'CloseDate', '2024-05-01', 'dateAsTimestamp'],
    [
      '"OffMarketTimestamp":"2024-05-01T10:00:00.1234567+02:00"',
      'OffMarketTimestamp',
      '2024-05-01T08:00:00.123456Z',
      'fraction',
    ],
    ['"ClosePrice":""', 'ClosePrice', undefined, 'emptyText'],
    [`"City":"${'c'.repeat(60)}"`, 'City', 'c'.repeat(60), 'length'],
    ['"Latitude":41.123456789', 'Latitude', 41.123456789, 'decimals'],
    ['"Longitude":-97.123456780000001234', 'Longitude', -97.12345678, 'rounded'],
    ['"LotSizeArea":"9.5000000000000000001"', 'LotSizeArea', 9.5, 'rounded'],
    ['"StoriesTotal":1234567', 'StoriesTotal', 1234567, 'digits'],
    [
      '"OnMarketTimestamp":"2017-01-01T00:59:60+01:00"',
      'OnMarketTimestamp',
      '2017-01-01T00:00:00Z',
      'leapSecond',
    ],
    // A double holds it, and writes it with other digits.
    ['"BuildingName":12345678901234567168', 'BuildingName', '12345678901234567168', 'textAsNumber'],
  ];
  const members = lenient.map(([json]) => json).join(',');
  at.file('a.ndjson', `{"ListingKey":1,${members},"Media":[{"MediaKey":"M","Order":"2"}]}\n`);
  const { code, out, err } = await run(at, ['import', '--store', 'm.db', '--json', 'a.ndjson']);
  const [{ inserted, warnings }] = JSON.parse(out);
  assert.deepEqual([code, inserted], [0, 1], err);
  const expected: Record<string, Record<string, number>> = {
    textAsNumber: { 'Property.ListingKey': 1 },
  };
  for (const [, field, , kind] of lenient) {
    expected[kind] = { ...expected[kind], [`Property.${field}`]: 1 };
  }
  expected.numberAsText = { ...expected.numberAsText, 'Media.Order': 1 };
  assert.deepEqual(warnings, expected);
  assert.match(err, /^a\.ndjson: warning, a list as a text with commas: Property\.Appliances \(1\)$/m);
  const [stored] = await at.exported('m.db', 'Property');
  for (const [, field, value] of lenient) assert.deepEqual(stored?.[field], value, field);
  const strict = await run(at, ['import', '--store', 's.db', '--strict', 'a.ndjson']);
  assert.equal(strict.code, 1);
  assert.match(strict.err, /Longitude is -97\.123456780000001234, which is beyond the precision of a number/);
  at.file('b.ndjson', '{"ListingKey":"1","Latitude":41.123456789}\n');
  assert.match(
    (await run(at, ['import', '--store', 's.db', '--strict', 'b.ndjson'])).err,
    /Latitude is 41\.123456789, but takes at most 8 digits after the point/,
  );
  // A conversion that would lose something is an error.
  const lost = [
    '"ListPrice":"1,5"',
    '"ListPrice":"12345678901234567.5"',
    '"ListPrice":12345678901234567.5',
    '"ListPrice":1e-400',
    '"BedroomsTotal":"2.5"',
    '"BedroomsTotal":"2.0000000000000000001"',
    '"CloseDate":"05/01/2024"',
    '"OnMarketTimestamp":"2017-01-01T00:59:60Z"',
    '"CloseDate":"2024-05-01T10:00:00Z"',
    '"InternetAddressDisplayYN":"perhaps"',
    '"StandardStatus":"Nonsense"',
    '"City":{}',
  ];
  at.file('lost.ndjson', lost.map((json, index) => `{"ListingKey":"x${index}",${json}}\n`).join(''));
  assert.match(
    (await run(at, ['import', '--store', 'm.db', 'lost.ndjson'])).out,
    /Property 0 new, .* 12 rejected$/m,
  );
});

test('fields that the dictionary does not have are rejected with the remedy, or left out and counted', async (t) => {
  const at = place(t);
  at.file('a.ndjson', [{ ListingKey: '1', Local: 1, Media: [{ MediaKey: 'M', Odd: 2 }] }]);
  const reason =
    'Property has no field Local; Media has no field Media[0].Odd. Add --infer to declare fields that the dictionary does not have, or --extra-fields ignore to leave them out';
  const imported = await run(at, ['import', '--store', 'm.db', 'a.ndjson']);
  assert.match(imported.err, new RegExp(`^a.ndjson:1: ${reason.replaceAll(/[[\].]/g, '\\$&')}$`, 'm'));
  const left = await run(at, ['import', '--store', 'm.db', '--extra-fields', 'ignore', '--json', 'a.ndjson']);
  const [{ inserted, ignored }] = JSON.parse(left.out);
  assert.deepEqual([left.code, inserted, ignored], [0, 1, { unknown: { Local: 1, Odd: 1 } }]);
});

test('after its records are corrected, the rejected file can be imported; what is still invalid is reported with its new reason only', async (t) => {
  const at = place(t);
  at.file(
    'a.ndjson',
    linesOf([
      { ListingKey: '1', ListPrice: 'x' },
      { ListingKey: '2', ListPrice: 'y' },
    ]),
  );
  assert.equal((await run(at, ['import', '--store', 'm.db', 'a.ndjson'])).code, 1);
  const first = readFileSync(at.path('a.ndjson.rejected.ndjson'), 'utf8');
  at.file(
    'b.ndjson',
    first.replace('"ListPrice":"x"', '"ListPrice":7').replace('"ListPrice":"y"', '"ListPrice":true'),
  );
  const { code, out } = await run(at, ['import', '--store', 'm.db', 'b.ndjson']);
  assert.deepEqual(
    [code, out],
    [1, 'b.ndjson: Property 1 new, 0 changed, 0 unchanged, 0 children stored, 1 rejected\n'],
  );
  assert.equal(
    readFileSync(at.path('b.ndjson.rejected.ndjson'), 'utf8'),
    '{"@plat.resource":"Property","@plat.rejected":{"file":"b.ndjson","line":2,"reason":"ListPrice is true, but takes a number"},"ListingKey":"2","ListPrice":true}\n',
  );
});

test('a rejected text that is not a record is refused until a record replaces it, also by --infer', async (t) => {
  const at = place(t);
  at.file('a.ndjson', '{"ListingKey":"1",}\n');
  const imported = (name: string) => run(at, ['import', '--store', 'm.db', '--infer', name]);
  assert.equal((await imported('a.ndjson')).code, 1);
  const again = await imported('a.ndjson.rejected.ndjson');
  assert.equal(
    again.err.split('\n')[0],
    'a.ndjson.rejected.ndjson:1: The line has the text of something that is not a record; replace it with the record',
  );
  assert.ok(!existsSync(at.path('plat.config.json')), 'nothing is declared');
});

test('rejected records of several resources are imported from one file, each as its own resource', async (t) => {
  const at = place(t);
  const page = (resource: string, ...value: object[]) => ({
    '@reso.context': `urn:reso:metadata:2.0:resource:${resource}`,
    value,
  });
  at.file('a.json', [
    page('member', { MemberKey: 'm1', Local: 1 }),
    page('property', { ListingKey: '1', Local: 2 }, { ListingKey: '2' }),
    page('member', { MemberKey: 'm2', Local: 3 }),
  ]);
  assert.equal((await run(at, ['import', '--store', 'm.db', 'a.json'])).code, 1);
  // Imported again, with entries that remain from the first time.
  const rejected = (times: number): string => `a.json${'.rejected.ndjson'.repeat(times)}`;
  assert.equal((await run(at, ['import', '--store', 'm.db', rejected(1)])).code, 1);
  await at.done(['import', '--store', 'm.db', '--extra-fields', 'ignore', rejected(2)]);
  const keys = async (resource: string, key: string): Promise<unknown[]> =>
    (await at.exported('m.db', resource)).map((each) => each[key]);
  assert.deepEqual(await keys('Member', 'MemberKey'), ['m1', 'm2']);
  assert.deepEqual((await keys('Property', 'ListingKey')).toSorted(), ['1', '2']);
});

test('a line that is not valid UTF-8 is rejected, and goes to the rejected file byte for byte', async (t) => {
  const at = place(t);
  at.file(
    'latin.ndjson',
    Buffer.from('{"ListingKey":"1","City":"Malm\xf6"}\n{"ListingKey":"2","City":"Oslo"}\n', 'latin1'),
  );
  assert.equal((await run(at, ['import', '--store', 'm.db', 'latin.ndjson'])).code, 1);
  const { why, texts } = rejected(at, 'latin.ndjson');
  assert.deepEqual(why, [
    {
      line: 1,
      reason: 'The line contains bytes that are not UTF-8; the rejected file has it decoded as Latin-1',
    },
  ]);
  assert.match(texts[0] ?? '', /"City":"Malmö"\}$/);
  assert.deepEqual(
    (await at.exported('m.db', 'Property')).map(({ City }) => City),
    ['Oslo'],
  );
});

test('a truncated gzip: its complete records are stored, and the missing end is reported', async (t) => {
  const at = place(t);
  const records = Array.from({ length: 3000 }, (_, index) => ({
    ListingKey: `K${index}`,
    City: `C${index}`,
  }));
  const whole = gzipSync(linesOf(records));
  at.file('cut.ndjson.gz', whole.subarray(0, whole.length / 2));
  at.file('none.ndjson.gz', 'no gzip at all');
  const cut = await run(at, ['import', '--store', 'm.db', '--json', 'cut.ndjson.gz', 'none.ndjson.gz']);
  assert.equal(cut.code, 1);
  const [first, second] = JSON.parse(cut.out);
  assert.deepEqual(first.reasons, [
    { line: 0, reason: 'The file cannot be read to its end: unexpected end of file' },
  ]);
  // As many records as the compressed bytes contain completely, whatever the speed of the reader.
  const held = gunzipSync(whole.subarray(0, whole.length / 2), { finishFlush: constants.Z_SYNC_FLUSH });
  assert.equal(first.inserted, held.toString().split('\n').length - 1);
  assert.deepEqual(second.reasons, [
    { line: 0, reason: 'The file cannot be read to its end: incorrect header check' },
  ]);
  assert.match(cut.err, /^cut\.ndjson\.gz: The file cannot be read to its end: unexpected end of file$/m);
  at.file('whole.ndjson.gz', whole);
  assert.equal(
    await at.done(['import', '--store', 'm.db', 'whole.ndjson.gz']),
    `whole.ndjson.gz: Property ${3000 - first.inserted} new, 0 changed, ${first.inserted} unchanged, 0 children stored, 0 rejected\n`,
  );
});

test('an array without an end: its complete records are stored, the incomplete one and the missing end are reported', async (t) => {
  const at = place(t);
  at.file('cut.json', '[{"ListingKey":"1"},{"ListingKey":"2",\n "City":"B"},\n{"ListingKey":"3","Ci');
  const { code, out, err } = await run(at, ['import', '--store', 'm.db', 'cut.json']);
  assert.deepEqual(
    [code, out, err.split('\n').slice(0, 2)],
    [
      1,
      'cut.json: Property 2 new, 0 changed, 0 unchanged, 0 children stored, 2 rejected\n',
      [
        'cut.json:3: The line is not JSON: Unterminated string in JSON at position 21 (line 1 column 22)',
        'cut.json:3: The list does not end; the file is truncated',
      ],
    ],
  );
});

test('if a key occurs more than once, the last record wins, and that is reported', async (t) => {
  const at = place(t);
  const photos = [{ MediaKey: 'M1', MediaCategory: 'Photo', MediaURL: 'https://images.example/1.jpg' }];
  at.file('twice.ndjson', [
    { ListingKey: '1', ListPrice: 1, City: 'First', Media: photos },
    { ListingKey: '2', ListPrice: 2 },
    { ListingKey: '1', ListPrice: 3 },
    { ListingKey: '2', ListPrice: 4 },
    { ListingKey: '2', ListPrice: 5 },
  ]);
  const { code, err } = await run(at, ['import', '--store', 'm.db', 'twice.ndjson']);
  assert.deepEqual([code, err], [0, 'twice.ndjson: 3 keys occur more than once; the last record counts\n']);
  assert.deepEqual(
    (await at.exported('m.db', 'Property')).map(({ ListingKey, ListPrice, City }) => [
      ListingKey,
      ListPrice,
      City,
    ]),
    [
      ['1', 3, undefined],
      ['2', 5, undefined],
    ],
  );
  assert.deepEqual(
    (await at.exported('m.db', 'Media')).map(({ MediaKey }) => MediaKey),
    ['M1'],
    'a collection that the last record omits stays',
  );
});

test('a key that occurs again in the same file belongs to the originating system of its first record', async (t) => {
  const at = place(t);
  const ofSystem = (system: string, rest: object) => ({ OriginatingSystemID: system, ...rest });
  at.file('systems.ndjson', [
    ofSystem('X', { ListingKey: '1', City: 'First' }),
    ofSystem('Y', { ListingKey: '1', City: 'Second' }),
    ofSystem('Y', { ListingKey: '2' }),
  ]);
  const { code, err } = await run(at, ['import', '--store', 'm.db', 'systems.ndjson']);
  const reason = 'Property 1: The key belongs to the originating system X; this record is of Y';
  assert.equal(code, 1);
  assert.ok(err.includes(`systems.ndjson:2: ${reason}\n`), err);
  assert.deepEqual(
    (await at.exported('m.db', 'Property')).map(({ ListingKey, City }) => [ListingKey, City]),
    [
      ['1', 'First'],
      ['2', undefined],
    ],
  );
  at.file('rooms.ndjson', [
    { RoomKey: 'R1', ListingKey: '1' },
    { RoomKey: 'R1', ListingKey: '2' },
  ]);
  const rooms = await run(at, [
    ...['import', '--store', 'm.db', '--resource', 'PropertyRooms', 'rooms.ndjson'],
  ]);
  assert.equal(rooms.code, 1);
  assert.deepEqual(
    (await at.exported('m.db', 'PropertyRooms')).map(({ ListingKey }) => ListingKey),
    ['1'],
  );
});

test('a child without its parent is stored and reported, and becomes visible with the parent', async (t) => {
  const at = place(t);
  at.file('rooms.ndjson', [{ RoomKey: 'R1', ListingKey: 'L1', RoomType: 'Kitchen' }]);
  at.file('listing.ndjson', [{ ListingKey: 'L1' }]);
  const { code, err } = await run(at, [
    'import',
    '--store',
    'm.db',
    '--resource',
    'PropertyRooms',
    'rooms.ndjson',
  ]);
  assert.deepEqual(
    [code, err],
    [0, 'rooms.ndjson: 1 record names a parent that is not stored, and is kept until it arrives\n'],
  );
  const orphans = async (): Promise<number> => {
    const { resources } = JSON.parse(await at.done(['status', '--store', 'm.db', '--json']));
    return resources.find(({ resource }: { resource: string }) => resource === 'PropertyRooms').orphans;
  };
  assert.equal(await orphans(), 1);
  await at.done(['import', '--store', 'm.db', 'listing.ndjson']);
  assert.equal(await orphans(), 0);
});

test('timestamps and agent and office values of the input are ignored, and reported once per file', async (t) => {
  const at = place(t);
  const record = (key: string) => ({
    ListingKey: key,
    ModificationTimestamp: '2001-01-01T00:00:00Z',
    PhotosChangeTimestamp: '2001-01-01T00:00:00Z',
    ListAgentKey: 'A1',
    ListAgentFullName: 'Somebody',
  });
  at.file('a.ndjson', [record('1'), record('2')]);
  const { code, err } = await run(at, ['import', '--store', 'm.db', 'a.ndjson']);
  assert.equal(code, 0);
  assert.deepEqual(err.trimEnd().split('\n').toSorted(), [
    'a.ndjson: ignored, since they come from Member and Office: ListAgentFullName (2)',
    'a.ndjson: ignored, since this store assigns timestamps itself: ModificationTimestamp (2), PhotosChangeTimestamp (2)',
  ]);
  const [stored] = await at.exported('m.db', 'Property');
  assert.ok(String(stored?.ModificationTimestamp) > '2026');
  at.file('b.ndjson', [{ ...record('1'), ModificationTimestamp: '2002-02-02T00:00:00Z' }]);
  assert.match(await at.done(['import', '--store', 'm.db', 'b.ndjson']), /0 changed, 1 unchanged/);
  assert.deepEqual((await at.exported('m.db', 'Property'))[0], stored, 'they are not part of the content');
  assert.match(
    await at.done(['status', '--store', 'm.db']),
    /^ListAgentKey: 1 keys in 2 listings refer to no record$/m,
  );
});

const THOUSAND = Array.from({ length: 1000 }, (_, at) => ({
  ListingKey: `${at}`,
  PublicRemarks: `${(at * 7919) % 5003} `.repeat(50),
}));

test('a gzip with data after its end, or with a flipped byte: all records before that are stored', async (t) => {
  const at = place(t);
  const whole = gzipSync(linesOf(THOUSAND));
  at.file('garbage.ndjson.gz', Buffer.concat([whole, Buffer.from('garbage')]));
  const ended = await run(at, ['import', '--store', 'g.db', 'garbage.ndjson.gz']);
  assert.deepEqual(ended, {
    code: 1,
    out: 'garbage.ndjson.gz: Property 1000 new, 0 changed, 0 unchanged, 0 children stored, 1 rejected\n',
    err: [
      'garbage.ndjson.gz: The file cannot be read to its end: incorrect header check',
      'garbage.ndjson.gz: rejected records are in garbage.ndjson.gz.rejected.ndjson\n',
    ].join('\n'),
  });
  // Beyond the first bytes that are read at once, and with a checksum that does not match.
  const first = gzipSync(linesOf(THOUSAND.slice(0, 800)), { level: 0 });
  const second = gzipSync(linesOf(THOUSAND.slice(800)));
  second[second.length - 8] = 255 - (second.at(-8) ?? 0);
  at.file('sum.ndjson.gz', Buffer.concat([first, second]));
  assert.ok(first.length > 2 * 65_536);
  const sum = await run(at, ['import', '--store', 's.db', 'sum.ndjson.gz']);
  assert.equal(
    sum.out,
    'sum.ndjson.gz: Property 1000 new, 0 changed, 0 unchanged, 0 children stored, 1 rejected\n',
  );
  assert.match(sum.err, /^sum\.ndjson\.gz: The file cannot be read to its end: incorrect data check$/m);
});

test('if the rejected file cannot be written, the lines are reported, and everything else is stored', async (t) => {
  const at = place(t);
  const bad = Array.from({ length: 23 }, (_, line) => ({ ListingKey: `b${line}`, ListPrice: 'much' }));
  const good = Array.from({ length: 2500 }, (_, line) => ({ ListingKey: `g${line}` }));
  const [first, ...others] = bad;
  at.file('f.ndjson', [first, good[0], ...others, ...good.slice(1)]);
  at.file('f2.ndjson', [{ ListingKey: 'second' }]);
  mkdirSync(at.path('f.ndjson.rejected.ndjson'));
  const { code, out, err } = await run(at, ['import', '--store', 'm.db', 'f.ndjson', 'f2.ndjson']);
  const fault = 'Path is a directory: rm returned EISDIR (is a directory) f.ndjson.rejected.ndjson';
  const reason = 'ListPrice is "much", but takes a number';
  const lines = [1, ...Array.from({ length: 22 }, (_, line) => line + 3)];
  const messages = lines.map((line) => `f.ndjson:${line}: ${reason}`);
  assert.deepEqual(err.split('\n'), [
    ...messages.slice(20),
    ...messages.slice(0, 20),
    `f.ndjson: f.ndjson.rejected.ndjson cannot be written (${fault}): 23 rejected records are missing from it, of line 1, 3-24`,
    '',
  ]);
  assert.deepEqual(
    { code, out },
    {
      code: 1,
      out: [
        'f.ndjson: Property 2500 new, 0 changed, 0 unchanged, 0 children stored, 23 rejected',
        'f2.ndjson: Property 1 new, 0 changed, 0 unchanged, 0 children stored, 0 rejected\n',
      ].join('\n'),
    },
  );
});

const LINUX = { skip: process.platform !== 'linux' };

test(
  'a folder that cannot be written does not stop an import, and a stale rejected file is reported',
  LINUX,
  async (t) => {
    const at = place(t);
    at.file('good.ndjson', [{ ListingKey: '1' }]);
    const { code, out, err } = await run(at, ['import', '--store', 'm.db', '/proc/version', 'good.ndjson']);
    assert.equal(code, 1);
    assert.match(out, /^\/proc\/version: Property 0 new, .* 1 rejected\ngood\.ndjson: Property 1 new, /);
    assert.match(err, /^\/proc\/version:1: The line is not JSON: /);
    assert.match(
      err,
      /^\/proc\/version: \/proc\/version\.rejected\.ndjson cannot be written \(E\w+: .*\): 1 rejected record is missing from it, of line 1$/m,
    );
    mkdirSync(at.path('good.ndjson.rejected.ndjson'));
    const stale = await run(at, ['import', '--store', 'm.db', 'good.ndjson']);
    assert.equal(stale.code, 0);
    assert.match(
      stale.err,
      /^good\.ndjson: good\.ndjson\.rejected\.ndjson of an earlier import cannot be removed: /,
    );
  },
);

test('a full disk: the rejected file ends with a complete line', (t) => {
  const path = place(t).path('r.ndjson');
  let room = 2;
  using rejects = openRejectedFile(path, (descriptor, text) => {
    appendFileSync(descriptor, room > 0 ? text : text.slice(0, 10));
    if (room-- <= 0) throw new Error('ENOSPC: no space left on device, write');
  });
  const faults = [1, 2, 3, 4].map((line) =>
    rejects.add('Member', 'f', line, 'why', `{"ListingKey":"${line}"}`),
  );
  const full = 'ENOSPC: no space left on device, write';
  assert.deepEqual(faults, [undefined, undefined, full, full]);
  assert.equal(rejects.stale, undefined);
  assert.deepEqual(
    readFileSync(path, 'utf8').split('\n'),
    ['1', '2']
      .map(
        (key) =>
          `{"@plat.resource":"Member","@plat.rejected":{"file":"f","line":${key},"reason":"why"},"ListingKey":"${key}"}`,
      )
      .concat(''),
  );
});

test('a medium of two listings is reported with both of them; --strict rejects the later listing', async (t) => {
  const at = place(t);
  const line = (key: string, ...media: readonly string[]): string =>
    `${JSON.stringify({ ListingKey: key, Media: media.map((each) => ({ MediaKey: each })) })}\n`;
  // M2 has only moved: its former listing follows without it.
  at.file('a.ndjson', line('A', 'M1', 'M2') + line('B', 'M3'));
  at.file('b.ndjson', line('B', 'M1', 'M2', 'M3') + line('C', 'M3') + line('A', 'M1'));
  await at.done(['import', '--store', 'm.db', 'a.ndjson']);
  const { code, out, err } = await run(at, ['import', '--store', 'm.db', '--json', 'b.ndjson']);
  const [{ taken, takings, rejected }] = JSON.parse(out);
  assert.deepEqual(
    [code, rejected, taken, takings],
    [
      0,
      0,
      2,
      [
        { child: 'Media M1', from: 'Property B', by: 'Property A' },
        { child: 'Media M3', from: 'Property B', by: 'Property C' },
      ],
    ],
    err,
  );
  assert.match(
    err,
    /^b\.ndjson: warning, 2 records are in two parent records, and remain in the later one: Media M1 \(Property B, now Property A\), Media M3 \(Property B, now Property C\)$/m,
  );
  await at.done(['import', '--store', 's.db', 'a.ndjson']);
  const strict = await run(at, ['import', '--store', 's.db', '--strict', 'b.ndjson']);
  assert.equal(strict.code, 1);
  assert.deepEqual(strict.err.split('\n').slice(0, 3), [
    'b.ndjson:1: Property B: Media M1 is under Property A, and a record has one parent',
    'b.ndjson:2: Property C: Media M3 is under Property B, and a record has one parent',
    'b.ndjson: rejected records are in b.ndjson.rejected.ndjson',
  ]);
});
