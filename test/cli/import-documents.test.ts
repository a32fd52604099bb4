/** The documents that a file may contain one after the other, and how errors in them are reported. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { mustBeReadable } from '../../src/cli/import/input-files.ts';
import { parseRecordJson } from '../../src/cli/import/record-json.ts';
import { readRecords } from '../../src/cli/import/record-reader.ts';
import { parseExactly } from '../../src/records/exact-json.ts';
import { temporaryFile } from '../support/temporary.ts';
import { place } from './run.ts';

interface Read {
  /** The keys of the records that were read. */
  readonly records: readonly unknown[];
  readonly faults: readonly (readonly [line: number, reason: string, text: string])[];
}

/** The records and reports for a text that arrives in chunks of that many bytes. */
async function read(text: string, size = 1 << 20): Promise<Read> {
  async function* chunks(): AsyncIterable<Buffer> {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const records: unknown[] = [];
  const faults: (readonly [number, string, string])[] = [];
  for await (const raw of readRecords(chunks())) {
    const json = raw.fault === undefined ? parseRecordJson(raw) : ({ ok: false, reason: raw.fault } as const);
    if (json.ok) records.push(json.value);
    else faults.push([raw.line, json.reason, raw.text]);
  }
  return { records, faults };
}

const blanks = fc
  .array(fc.constantFrom(' ', '\n', '\r\n', '\t', '', '\n\n'), { maxLength: 4 })
  .map((each) => each.join(''));

/** Texts that look like the syntax around records. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom(
    '}{',
    '"',
    '\\',
    '\\"',
    '],[',
    '{"value":[',
    '@odata.context',
    'a\nb',
    '\uFEFF',
    ':,',
    'ü\u2028',
  ),
);
/** V8 (Node 26.10) reads the member "\"" as one named "\\" if an object with that member was created before. */
const name = text.map((each) => each.replaceAll('\\', '/'));
const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.constantFrom(1, -2.5, 1e21, true, false, null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3 }),
  ),
})).value;
/** Records are identified by their key; those of a page may have annotations. */
const record = fc
  .tuple(fc.nat(), fc.dictionary(name, value, { maxKeys: 4 }), fc.boolean())
  .map(([key, members, isAnnotated]) => ({
    ...(isAnnotated ? { '@odata.id': `Property('${key}')`, '@odata.etag': 'W/"1"' } : {}),
    ListingKey: String(key),
    ...members,
  }));

/** The text of a value with white space in all places where it may be. */
const spread = (json: unknown, blank: () => string): string => {
  if (typeof json !== 'object' || json === null) return JSON.stringify(json);
  const around = (each: string): string => `${blank()}${each}${blank()}`;
  if (Array.isArray(json)) return `[${blank()}${json.map((each) => around(spread(each, blank))).join(',')}]`;
  const members = Object.entries(json).map(([name, each]) =>
    around(`${JSON.stringify(name)}${blank()}:${blank()}${spread(each, blank)}`),
  );
  return `{${blank()}${members.join(',')}}`;
};

const FORMS = ['record', 'list', 'odata', 'reso', 'odata4', 'lists', 'pages'] as const;

/** A document that contains records in some form; a page has other members around them. */
function documentOf(form: (typeof FORMS)[number], records: readonly object[]): unknown[] {
  const page = (head: object, tail: object): object => ({ ...head, value: records, ...tail });
  const odata = page({ '@odata.context': 'https://a.example/$metadata#Property', '@odata.count': 3 }, {});
  switch (form) {
    case 'record':
      return [...records];
    case 'list':
      return [records];
    case 'odata':
      return [page({}, { '@odata.nextLink': 'https://a.example/?$skiptoken={[,"value":[' })];
    case 'reso':
      return [page({ '@reso.context': 'urn:reso:metadata:2.0:resource:property' }, {})];
    case 'odata4':
      return [odata];
    case 'lists':
      return [[records, records.slice(0, 1)]];
    case 'pages':
      return [[odata, ...records]];
  }
}

const recordsIn = (form: (typeof FORMS)[number], records: readonly object[]): readonly object[] => {
  if (form === 'lists') return [...records, ...records.slice(0, 1)];
  return form === 'pages' ? [...records, ...records] : records;
};

test('documents one after the other, with any white space, in any chunks, have exactly their records', async () => {
  const documents = fc.array(fc.tuple(fc.constantFrom(...FORMS), fc.array(record, { maxLength: 4 })), {
    maxLength: 5,
  });
  await fc.assert(
    fc.asyncProperty(
      documents,
      fc.array(blanks, { minLength: 1, maxLength: 5 }),
      fc.boolean(),
      fc.integer({ min: 1, max: 300 }),
      async (given, spaces, marks, size) => {
        let at = 0;
        const blank = (): string => spaces[at++ % spaces.length] ?? '';
        const whole = given
          .flatMap(([form, records]) => documentOf(form, records))
          .map((each) => `${marks ? '\uFEFF' : ''}${blank()}${spread(each, blank)}`)
          .join('');
        const expected = given.flatMap(([form, records]) => recordsIn(form, records));
        const { records, faults } = await read(`${whole}${blank()}`, size);
        assert.deepEqual(faults, []);
        assert.deepEqual(records, parseExactly(JSON.stringify(expected)));
      },
    ),
    { seed: 20261122, numRuns: process.env.PLAT_FULL === '1' ? 5000 : 300 },
  );
});

const A = '{"ListingKey":"A"}';
const B = '{"ListingKey":"B"}';
const C = '{"ListingKey":"C"}';
const NO_RECORD = 'There is a comma before the end of a list, where a record should be';

/** A text, the keys of the records in it, and the reports about it. */
const BROKEN: readonly (readonly [text: string, keys: string, faults: Read['faults']])[] = [
  [
    `${A}\n${B}x\n${C}`,
    'ABC',
    [[2, `The line is not JSON: Unexpected token 'x', "x" is not valid JSON`, 'x']],
  ],
  [`[${A},\n${B},\n]${C}`, 'ABC', [[3, NO_RECORD, ',']]],
  [`{"value":[${A},]}`, 'A', [[1, NO_RECORD, ',']]],
  [
    `${A},\n${B}\n,${C}`,
    'ABC',
    [
      [1, 'There is a comma where a document should begin', ','],
      [3, 'There is a comma where a document should begin', ','],
    ],
  ],
  [
    `[,${A},,\n${B}]`,
    'AB',
    [
      [1, 'There is a comma where a record should begin', ','],
      [1, 'There is a comma where a record should begin', ','],
    ],
  ],
  [`[${A}\n${B}]`, 'AB', [[2, 'A comma is missing between two records of a list', '']]],
  [`[${A}]]\n${B}`, 'AB', [[1, `The line is not JSON: Unexpected token ']', "]" is not valid JSON`, ']']]],
  [
    `[${A}]\n<html>\n[${B}]`,
    'AB',
    [[2, `The line is not JSON: Unexpected token '<', "<html>" is not valid JSON`, '<html>']],
  ],
  [
    `{"value":[${A}],"@odata.nextLink":oops}\n${B}`,
    'AB',
    [
      [
        1,
        `The text around the records of a page is not JSON: Unexpected token 'o', ..."nextLink":oops}" is not valid JSON`,
        ',"@odata.nextLink":oops}',
      ],
    ],
  ],
  [
    `{"value":[${A}],\n"value":[${B}]}${C}`,
    'AC',
    [[1, 'The page has the member value twice', `,\n"value":[${B}]}`]],
  ],
  [
    `{"value":[${A}],"@odata.count":1`,
    'A',
    [[1, 'The page does not end; the file is truncated', ',"@odata.count":1']],
  ],
  [`{"value":[${A},\n`, 'A', [[2, 'The list does not end; the file is truncated', '']]],
  [
    `${A}\n{"ListingKey":"X","City":"a","City":"b"}\n${B}`,
    'AB',
    [[2, 'The record has the member City twice', '{"ListingKey":"X","City":"a","City":"b"}']],
  ],
  [
    `[${A},\n{"ListingKey":"X","Rooms":[{"RoomKey":"1","Room\\u004bey":"2"}]}]`,
    'A',
    [
      [
        2,
        'The record has the member RoomKey twice',
        '{"ListingKey":"X","Rooms":[{"RoomKey":"1","Room\\u004bey":"2"}]}',
      ],
    ],
  ],
  // A truncated line does not affect the others, wherever it ends.
  [
    `{"ListingKey":"X","City":\n${A}\n${B}`,
    'AB',
    [[1, 'The line is not JSON: Unexpected end of JSON input', '{"ListingKey":"X","City":']],
  ],
  [
    `{"ListingKey":"X","Media":[{"MediaKey":"1"},\n${A}\n${B}\n`,
    'AB',
    [
      [
        1,
        'The line is not JSON: Unexpected end of JSON input',
        '{"ListingKey":"X","Media":[{"MediaKey":"1"},',
      ],
    ],
  ],
  // A record over many lines is reported once.
  [
    `{\n  "ListingKey": "X,\n  "Rooms": [\n    {\n      "RoomKey": "1"\n    }\n  ]\n}\n${A}`,
    'A',
    [
      [
        1,
        'The line is not JSON: Bad control character in string literal in JSON at position 21 (line 2 column 20)',
        '{\n  "ListingKey": "X,\n  "Rooms": [\n    {\n      "RoomKey": "1"\n    }\n  ]\n}',
      ],
    ],
  ],
  // In a list as well; a missing bracket ends with its record.
  [
    `[\n  ${A},\n  {"ListingKey":"X,\n"City":"x"},\n  {"ListingKey":"Y","Rooms":[{"RoomKey":"1"}},\n  ${B}\n]${C}`,
    'ABC',
    [
      [
        3,
        'The line is not JSON: Bad control character in string literal in JSON at position 17 (line 1 column 18)',
        '{"ListingKey":"X,\n"City":"x"}',
      ],
      [
        5,
        `The line is not JSON: Expected ',' or ']' after array element in JSON at position 42 (line 1 column 43)`,
        '{"ListingKey":"Y","Rooms":[{"RoomKey":"1"}}',
      ],
    ],
  ],
  [
    '["a", 1, null]',
    '',
    [
      // Valid JSON that is not a record is reported when records are checked.
    ],
  ],
];

test('text between, after or twice within documents is reported with its line; the rest is read', async () => {
  for (const [broken, keys, expected] of BROKEN) {
    for (const size of [1, 7, 1 << 20]) {
      const { records, faults } = await read(broken, size);
      assert.deepEqual(faults, expected, broken);
      const found = records.flatMap((each) =>
        typeof each === 'object' && each !== null && 'ListingKey' in each ? [each.ListingKey] : [],
      );
      assert.equal(found.join(''), keys, broken);
    }
  }
});

test('pages of several resources in one file, gzipped under any name: each page names its resource', async (t) => {
  const at = place(t);
  const page = (name: string, value: readonly object[]): string =>
    JSON.stringify({ '@odata.context': `https://a.example/odata/$metadata#${name}(ListingKey,City)`, value });
  const common = { '@reso.context': 'urn:reso:metadata:2.0:resource:office', value: [{ OfficeKey: 'O1' }] };
  at.file(
    'all.json',
    gzipSync(
      [
        page('Property', [{ ListingKey: '1' }]),
        page('Member', [{ MemberKey: 'M1' }, { MemberKey: 'M2' }]),
        JSON.stringify(common, undefined, 2),
        page('Property', [{ ListingKey: '2' }, { ListingKey: '1' }]),
        page('Listings', [{ ListingKey: '3' }]),
      ].join(''),
    ),
  );
  const { code, out, err } = await at.run(['import', '--store', 'm.db', 'all.json']);
  assert.deepEqual(
    { code, out: out.split('\n'), err },
    {
      code: 0,
      out: [
        'all.json: Property 3 new, 0 changed, 0 unchanged, 0 children stored, 0 rejected',
        'all.json: Member 2 new, 0 changed, 0 unchanged, 0 children stored, 0 rejected',
        'all.json: Office 1 new, 0 changed, 0 unchanged, 0 children stored, 0 rejected',
        '',
      ],
      err: 'm.db is a new store: none existed here\nall.json: 1 key occurs more than once; the last record counts\n',
    },
  );
});

test('the format of a file is detected from its bytes; a file without records is named by its type, and nothing is stored', async (t) => {
  const at = place(t);
  const records = `${A}\n{"ListingKey":"Ü"}\n`;
  const files: readonly (readonly [name: string, content: string | Buffer])[] = [
    ['plain.json.gz', records],
    ['packed.json', gzipSync(records)],
    ['wide.json', Buffer.from(`\uFEFF${records}`, 'utf16le')],
    ['wide-be.json', Buffer.from(`\uFEFF${records}`, 'utf16le').swap16()],
    ['unmarked.json', Buffer.from(records, 'utf16le')],
  ];
  for (const [index, [name, content]] of files.entries()) {
    at.file(name, content);
    const counts = index === 0 ? '2 new, 0 changed, 0 unchanged' : '0 new, 0 changed, 2 unchanged';
    const out = await at.done(['import', '--store', 'm.db', name]);
    assert.equal(out, `${name}: Property ${counts}, 0 children stored, 0 rejected\n`);
  }
  at.file('empty.json', '');
  const empty = await at.run(['import', '--store', 'm.db', 'empty.json']);
  assert.deepEqual(empty, {
    code: 0,
    out: 'empty.json: Property 0 new, 0 changed, 0 unchanged, 0 children stored, 0 rejected\n',
    err: 'empty.json: The file is empty\n',
  });
  const foreign: readonly (readonly [name: string, content: string | Buffer, error: string])[] = [
    [
      'a.zip',
      'PK\x03\x04\x14 records.json',
      'a.zip is a ZIP archive; unpack it: unzip -p a.zip | plat import … -.',
    ],
    [
      'a.tar.gz',
      gzipSync(`a.json${'\0'.repeat(251)}ustar  `),
      'a.tar.gz is a tar archive; unpack it: tar -xOf a.tar.gz | plat import … -.',
    ],
    [
      'a.xlsx',
      'PK\x03\x04 [Content_Types].xml',
      'a.xlsx is an Excel workbook; save the sheet as "CSV UTF-8" and import that.',
    ],
    [
      'a.ods',
      'PK\x03\x04 mimetypeapplication/vnd.oasis.opendocument.spreadsheet',
      'a.ods is an OpenDocument spreadsheet; save the sheet as CSV in UTF-8 and import that.',
    ],
    [
      'a.json',
      Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0]),
      'a.json is compressed with zstd; decompress it: zstd -dc a.json | plat import … -.',
    ],
    [
      'a.html',
      '\n<!DOCTYPE html><html>',
      'a.html is a web page (HTML); perhaps a login page or an error page; ask for JSON.',
    ],
    [
      'b.json.gz',
      gzipSync('<?xml version="1.0"?><feed/>'),
      'b.json.gz is XML; plat reads JSON, CSV and TSV: ask its source for JSON.',
    ],
    [
      'm2.db',
      'SQLite format 3\0',
      'm2.db is an SQLite database; if it is a store, "plat export" or "plat copy" with --store m2.db extracts its records.',
    ],
  ];
  for (const [name, content, error] of foreign) {
    at.file(name, content);
    const ended = await at.run(['import', '--store', 'n.db', 'packed.json', name]);
    assert.deepEqual(ended, { code: 2, out: '', err: `plat: ${error}\n` });
  }
});

test('a file that may not be read is reported before anything is stored', () => {
  const path = temporaryFile('.ndjson');
  writeFileSync(path, '{"ListingKey":"1"}', { mode: 0o000 });
  const isRoot = process.geteuid?.() === 0; // who may read everything
  if (isRoot) process.seteuid?.('nobody');
  try {
    const message = new RegExp(
      `^${path} cannot be read: EACCES: permission denied, (?:open|stat) '${path}'\\.$`,
    );
    assert.throws(() => mustBeReadable(path, undefined), { code: 'usage', message });
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
});

test('however a text is mutated, the records and reports do not depend on how it is divided into chunks', async () => {
  const cut = fc.tuple(
    fc.nat(400),
    fc.nat(3),
    fc.constantFrom('', '{', '}', '[', ']', ',', '"', ':', '\n', '\n{', 'x', '\\'),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom(...FORMS), fc.array(record, { maxLength: 3 })), {
        minLength: 1,
        maxLength: 3,
      }),
      fc.array(cut, { minLength: 1, maxLength: 4 }),
      fc.constantFrom('', '\n', '\n  '),
      fc.integer({ min: 1, max: 40 }),
      async (given, cuts, blank, size) => {
        let whole = given
          .flatMap(([form, records]) => documentOf(form, records))
          .map((each) => `${spread(each, () => blank)}\n`)
          .join('');
        for (const [at, length, put] of cuts) whole = whole.slice(0, at) + put + whole.slice(at + length);
        const [pieces, once] = [await read(whole, size), await read(whole)];
        assert.deepEqual(pieces, once);
      },
    ),
    { seed: 20261122, numRuns: process.env.PLAT_FULL === '1' ? 5000 : 300 },
  );
});
