/** CSV and TSV files of spreadsheets, and columns with other names. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { readRows } from '../../src/cli/import/row-reader.ts';
import type { Json } from '../support/world.ts';
import { type Place, place } from './run.ts';

const HEADER =
  'ListingKey,City,ListPrice,BedroomsTotal,InternetAddressDisplayYN,CloseDate,Appliances,PublicRemarks';
/** As LibreOffice writes a sheet: quoted where necessary, with empty rows at the end. */
const SHEET = [
  HEADER,
  '1,Ütrecht,450000.25,3,TRUE,2024-05-01,"Oven, Range","Two lines,',
  'and a ""quote"""',
  '2,,,,FALSE,,,',
  ',,,,,,,',
  '',
].join('\r\n');
const ROWS = [
  {
    ListingKey: '1',
    City: 'Ütrecht',
    ListPrice: 450000.25,
    BedroomsTotal: 3,
    InternetAddressDisplayYN: true,
    CloseDate: '2024-05-01',
    Appliances: ['Oven', 'Range'],
    PublicRemarks: 'Two lines,\r\nand a "quote"',
  },
  { ListingKey: '2', InternetAddressDisplayYN: false },
];

const FIELDS = HEADER.split(',');
const stored = async (at: Place, store: string): Promise<Json[]> =>
  (await at.exported(store, 'Property')).map((record) =>
    Object.fromEntries(FIELDS.flatMap((name) => (name in record ? [[name, record[name]]] : []))),
  );

test('a table with a header row is imported: quotes, line breaks in them, byte order marks, semicolons, tabs, UTF-16, gzip', async (t) => {
  const at = place(t);
  const semicolons = SHEET.replaceAll(',', ';')
    .replaceAll('"Oven; Range"', '"Oven, Range"')
    .replace('lines;', 'lines,');
  const tabs = SHEET.replaceAll(',', '\t')
    .replaceAll('Oven\t Range', 'Oven, Range')
    .replace('lines\t', 'lines,');
  const files: readonly (readonly [name: string, content: string | Buffer, args?: readonly string[]])[] = [
    ['a.csv', SHEET],
    ['mark.csv', `\uFEFF${SHEET}`],
    ['semicolons.CSV', semicolons],
    ['excel.csv', `sep=;\r\n${semicolons}`],
    ['tabs.tsv', tabs],
    ['wide.tab', Buffer.from(`\uFEFF${tabs}`, 'utf16le')],
    ['packed.csv.gz', gzipSync(SHEET)],
    ['any.txt', SHEET, ['--format', 'csv']],
  ];
  for (const [name, content, args = []] of files) {
    at.file(name, content);
    const out = await at.done(['import', '--store', `${name}.db`, '--strict', '--json', ...args, name]);
    const [{ inserted, rejected, warnings }] = JSON.parse(out);
    assert.deepEqual([inserted, rejected, warnings], [2, 0, {}], name);
    assert.deepEqual(await stored(at, `${name}.db`), ROWS, name);
  }
  // Excel's "CSV (Macintosh)": rows end with a carriage return, and lines of a cell with a line feed.
  at.file('macintosh.csv', SHEET.replace('\r\nand', '\nand').replaceAll('\r\n', '\r'));
  await at.done(['import', '--store', 'macintosh.db', '--strict', 'macintosh.csv']);
  const [first, ...others] = ROWS;
  const remarks = { PublicRemarks: 'Two lines,\nand a "quote"' };
  assert.deepEqual(await stored(at, 'macintosh.db'), [{ ...first, ...remarks }, ...others]);
  const piped = await at.done(['import', '--store', 'a.csv.db', '--format', 'csv', '-'], { input: SHEET });
  assert.match(piped, /^stdin: Property 0 new, 0 changed, 2 unchanged/);
});

test('an invalid row is rejected with its line, and goes to the rejected file; the other rows are stored', async (t) => {
  const at = place(t);
  const rows = [
    'ListingKey,City,ListPrice',
    '1,a,1',
    '2,a',
    '3,a,1,more',
    '4,6" pipe,1',
    '5,"a"b,1',
    '6,a,much',
    '7,"a',
    'b",7',
    ',a,1',
    '2.02401E+25,a,1',
    `8,${'c'.repeat(60)},"8"`,
    '9,"a,9',
  ];
  at.file(
    'a.csv',
    Buffer.concat([
      Buffer.from(`${rows.join('\n')}\n`),
      Buffer.from('10,Malm\xf6,1\n', 'latin1'),
      Buffer.from('11,z,11'),
    ]),
  );
  const { code, out } = await at.run(['import', '--store', 'm.db', '--json', 'a.csv']);
  const [{ inserted, reasons, warnings }] = JSON.parse(out);
  assert.deepEqual([code, inserted, warnings], [1, 4, { length: { 'Property.City': 1 } }]);
  assert.deepEqual(
    reasons.map(({ line, reason }: { line: number; reason: string }) => [line, reason.slice(0, 51)]),
    [
      [3, 'The row has 2 values for 3 columns'],
      [4, 'The row has 4 values for 3 columns'],
      [5, 'The value in column 2 (City) has a quote inside; pu'],
      [6, 'The value in column 2 (City) has a quote inside; pu'],
      [7, 'ListPrice is "much", but takes a number'],
      [10, 'The record has no ListingKey'],
      [11, 'ListingKey is 2.02401E+25, a number that a spreadsh'],
      [13, 'A quote in this row is not closed'],
      [14, 'The row contains bytes that are not UTF-8; save the'],
    ],
  );
  assert.deepEqual(
    (await at.exported('m.db', 'Property')).map(({ ListingKey, City }) => [ListingKey, City]),
    [
      ['1', 'a'],
      ['11', 'z'],
      ['7', 'a\nb'],
      ['8', 'c'.repeat(60)],
    ],
  );
  const kept = readFileSync(at.path('a.csv.rejected.ndjson'), 'utf8').trimEnd().split('\n');
  assert.match(kept[1] ?? '', /,"@plat\.text":"3,a,1,more"\}$/);
  assert.match(kept[4] ?? '', /,"ListingKey":"6","City":"a","ListPrice":"much"\}$/);
  at.file('right.ndjson', (kept[4] ?? '').replace('"ListPrice":"much"', '"ListPrice":"6"'));
  assert.match(await at.done(['import', '--store', 'm.db', 'right.ndjson']), /1 new/);
});

test('--map gives columns and members their fields, by pairs or a file; a file that is not a table is reported with the remedy', async (t) => {
  const at = place(t);
  at.file('a.csv', 'MLS #,List Price,Junk\n1,5,x\n');
  at.file('a.ndjson', [{ 'MLS #': '2', 'List Price': 6, Junk: 1, City: 'a' }]);
  at.file('map.json', JSON.stringify({ 'MLS #': 'ListingKey', 'List Price': 'ListPrice', Junk: null }));
  at.file('map.txt', '# what they mean\nMLS #=ListingKey\nList Price = ListPrice\nJunk=\n');
  const pairs = ['MLS #=ListingKey', 'List Price=ListPrice', 'Junk='].flatMap((each) => ['--map', each]);
  for (const args of [['--map', 'map.json'], ['--map', 'map.txt'], pairs]) {
    await at.done(['import', '--store', 'm.db', ...args, 'a.csv', 'a.ndjson']);
  }
  at.file('plat.config.json', JSON.stringify({ map: JSON.parse(readFileSync(at.path('map.json'), 'utf8')) }));
  assert.match(await at.done(['import', '--store', 'm.db', 'a.csv']), /1 unchanged/);
  at.file('plat.config.json', '{}');
  assert.deepEqual(
    (await at.exported('m.db', 'Property')).map(({ ListingKey, ListPrice, City }) => [
      ListingKey,
      ListPrice,
      City,
    ]),
    [
      ['1', 5, undefined],
      ['2', 6, 'a'],
    ],
  );
  at.file('twice.csv', 'ListingKey,City,City\n');
  at.file('json.csv', '[{"ListingKey":"1"}]');
  at.file('table.json', '\uFEFFListingKey,City\n1,a\n');
  at.file('quote.csv', 'ListingKey,"City\n1,a\n');
  const key = ['--map', 'MLS #=ListingKey'];
  const cases: readonly (readonly [args: readonly string[], message: string])[] = [
    [
      ['a.csv'],
      'a.csv: no column is ListingKey, the key of Property; name its column with --map "COLUMN=ListingKey" (columns: MLS #, List Price, Junk).',
    ],
    [
      [...key, 'a.csv'],
      'a.csv: List Price, Junk are not fields of Property: --map "List Price=ListPrice" gives a column its field, --infer declares new fields, --extra-fields ignore leaves them out.',
    ],
    [
      [...key, '--map', 'Junk=ListingKey', 'a.csv'],
      'a.csv: two columns are ListingKey; --map "COLUMN=" leaves one of them out.',
    ],
    [['twice.csv'], 'twice.csv: two columns are City; give one of them another name in the header.'],
    [['json.csv'], 'json.csv contains JSON, not a table; --format json reads it.'],
    [
      ['table.json'],
      'table.json looks like a table (ListingKey,City…), not like JSON; use --format csv or --format tsv, or a file name that ends in .csv or .tsv.',
    ],
    [['quote.csv'], 'quote.csv:1: A quote in this row is not closed.'],
    [['--map', 'nothing', 'a.csv'], '--map nothing: it is neither a file nor source=Field.'],
  ];
  for (const [args, message] of cases) {
    const ended = await at.run(['import', '--store', 'm.db', ...args]);
    assert.deepEqual(ended, { code: 2, out: '', err: `plat: ${message}\n` });
  }
  const left = await at.run([
    'import',
    '--store',
    'm.db',
    ...key,
    '--extra-fields',
    'ignore',
    '--json',
    'a.csv',
  ]);
  const [{ ignored }] = JSON.parse(left.out);
  assert.deepEqual([left.code, ignored], [0, { unknown: { 'List Price': 1, Junk: 1 } }]);
});

test('--infer finds the types of a table in its texts', async (t) => {
  const at = place(t);
  const rows = Array.from({ length: 12 }, (_, index) =>
    [
      index,
      index * 1.5,
      index % 2 === 0 ? 'Yes' : 'No',
      `0100${index}`,
      '2024-05-01',
      ['Oak', 'Pine'][index % 2],
      index === 4 ? '' : index,
    ].join(),
  );
  at.file('a.csv', `ListingKey,L_Amount,L_YN,L_Code,L_Day,L_Wood,L_Count\n${rows.join('\n')}\n`);
  assert.match(await at.done(['import', '--store', 'm.db', '--infer', 'a.csv']), /12 new, .* 0 rejected/);
  const { dictionary }: { dictionary: { customFields: Json[]; lookups: Json[] } } = JSON.parse(
    readFileSync(at.path('plat.config.json'), 'utf8'),
  );
  assert.deepEqual(
    dictionary.customFields.map(({ name, type, lookup }) => [name, type, lookup]),
    [
      ['L_Amount', 'decimal(14,2)', undefined],
      ['L_YN', 'boolean', undefined],
      ['L_Code', 'string', undefined],
      ['L_Day', 'date', undefined],
      ['L_Wood', 'string', 'L_Wood'],
      ['L_Count', 'integer', undefined],
    ],
  );
  assert.deepEqual(dictionary.lookups, [{ lookup: 'L_Wood', values: ['Oak', 'Pine'] }]);
  const [first] = await at.exported('m.db', 'Property');
  assert.deepEqual([first?.L_Code, first?.L_YN, first?.L_Amount], ['01000', true, 0]);
});

test('the rows of a table do not depend on how it is divided into chunks, whatever texts it contains', async () => {
  const cell = fc.oneof(
    fc.string({ maxLength: 6 }),
    fc.constantFrom('"', '""', ',', ';', '\t', 'a\nb', 'a\r\nb', 'ü', ' x ', '[1]', '{'),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(cell, { minLength: 3, maxLength: 3 }), { maxLength: 8 }),
      fc.constantFrom(',', ';', '\t'),
      fc.constantFrom('\n', '\r\n'),
      fc.integer({ min: 1, max: 50 }),
      async (rows, delimiter, end, size) => {
        const line = (cells: readonly string[]): string =>
          cells
            .map((each) =>
              /["\r\n]/.test(each) || each.includes(delimiter) ? `"${each.replaceAll('"', '""')}"` : each,
            )
            .join(delimiter);
        const bytes = Buffer.from([['A', 'B', 'C'], ...rows].map((each) => `${line(each)}${end}`).join(''));
        async function* chunks(): AsyncIterable<Buffer> {
          for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
        }
        const columns = (header: readonly string[]) =>
          header.map((name) => ({ title: name, name, isNested: false, isKey: false }));
        const options = { file: 'f', beginning: bytes, form: 'csv', columns } as const;
        const read = await Array.fromAsync(readRows(chunks(), options));
        const expected = rows
          .filter((cells) => cells.some((each) => each.trim() !== ''))
          .map((cells) =>
            Object.fromEntries(cells.map((each, at) => ['ABC'[at], each === '' ? null : each])),
          );
        assert.deepEqual(
          read.map(({ text, fault }) => fault ?? JSON.parse(text)),
          expected,
        );
      },
    ),
    { seed: 20261122, numRuns: process.env.PLAT_FULL === '1' ? 3000 : 150 },
  );
});
