import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseExpressionText } from '../../../src/query/odata/parser.ts';
import { readWellKnownText } from '../../../src/query/well-known-text.ts';
import { refusal } from './fixture.ts';

const parse = (text: string) => parseExpressionText({ option: '$filter', text });

function literalOf(text: string) {
  const node = parse(text);
  return node.kind === 'literal' ? node.literal : node.kind;
}

test('a literal is recognized by its form', () => {
  const forms: Record<string, unknown> = {
    null: { form: 'null', text: 'null' },
    TRUE: { form: 'boolean', text: 'true' },
    '42': { form: 'integer', text: '42' },
    '-42': { form: 'integer', text: '-42' },
    '+42': { form: 'integer', text: '+42' },
    '4.0': { form: 'decimal', text: '4.0' },
    '1e-3': { form: 'decimal', text: '1e-3' },
    INF: { form: 'special', text: 'INF' },
    '-INF': { form: 'special', text: '-INF' },
    NaN: { form: 'special', text: 'NaN' },
    "'it''s'": { form: 'string', text: "it's" },
    "''": { form: 'string', text: '' },
    "''''": { form: 'string', text: "'" },
    '01234567-89AB-cdef-0123-456789abcdef': { form: 'guid', text: '01234567-89AB-cdef-0123-456789abcdef' },
    'a1234567-89ab-cdef-0123-456789abcdef': { form: 'guid', text: 'a1234567-89ab-cdef-0123-456789abcdef' },
    '2024-05-31': { form: 'date', text: '2024-05-31' },
    '-10000-04-01': { form: 'date', text: '-10000-04-01' },
    '2024-05-31T08:30Z': { form: 'timestamp', text: '2024-05-31T08:30Z' },
    '2024-05-31t08:30:59.123456-07:00': { form: 'timestamp', text: '2024-05-31t08:30:59.123456-07:00' },
    '08:30': { form: 'time', text: '08:30' },
    '08:30:59.5': { form: 'time', text: '08:30:59.5' },
    "duration'-P1DT2H3M4.5S'": { form: 'duration', text: '-P1DT2H3M4.5S' },
    "binary'Zg=='": { form: 'binary', text: 'Zg==' },
    "Namespace.Type'One,Two'": { form: 'enumeration', type: 'Namespace.Type', text: 'One,Two' },
    "Type'Single Family'": { form: 'enumeration', type: 'Type', text: 'Single Family' },
  };
  for (const [text, literal] of Object.entries(forms)) assert.deepEqual(literalOf(text), literal, text);
});

test('a malformed literal is rejected with its position', () => {
  const wrong: Record<string, string> = {
    "A eq 'abc":
      "$filter: found a string that is not closed at position 6, expected a closing ' (a quote inside a string is written '').",
    'A eq "abc"': '$filter: found "abc" at position 6, expected a value; a string must be in single quotes.',
    'A in ["abc]': '$filter: found a string that is not closed at position 7, expected a closing ".',
    'A in ["\\x"]': '$filter: found "\\x" at position 7, expected a JSON string.',
    'A gt 2024-13-01': '$filter: found 2024-13-01 at position 6, expected a date, such as 2024-05-31.',
    'A gt 2024-01-01T10:00:00':
      '$filter: found 2024-01-01T10:00:00 at position 6, expected a date and time with its zone, such as 2024-05-31T08:30:00Z (write + as %2B).',
    // The plus of an offset that arrived as a space.
    'A gt 2024-01-01T10:00:00 02:00':
      '$filter: found 2024-01-01T10:00:00 at position 6, expected a date and time with its zone, such as 2024-05-31T08:30:00Z (write + as %2B).',
    'A gt 24:00': '$filter: found 24:00 at position 6, expected a time of day, such as 08:30:00.',
    "A gt duration'P1Y'": "$filter: found 'P1Y' at position 14, expected a duration, such as P1DT12H.",
    "A eq binary'='": "$filter: found '=' at position 12, expected base64url text.",
    "A eq Type''": "$filter: found '' at position 10, expected a value of Type.",
    "A eq geography'POINT(1)'":
      "$filter: found 'POINT(1)' at position 15, expected a shape, such as SRID=4326;POINT(-122.4 37.7).",
    'A eq 42.': '$filter: found . at position 8, expected an operator, such as eq or and, or the end.',
    'A eq 5x': '$filter: found x at position 7, expected an operator, such as eq or and, or the end.',
    'A > 5': '$filter: found ">" at position 3, expected gt or ge.',
    'A && B': '$filter: found "&" at position 3, expected and.',
    'A eq ?': '$filter: found "?" at position 6, expected a name, a value or an operator.',
    "A eq '😀' 5": '$filter: found 5 at position 10, expected an operator, such as eq or and, or the end.',
    'A eq 😀': '$filter: found "😀" at position 6, expected a name, a value or an operator.',
  };
  for (const [text, message] of Object.entries(wrong)) {
    assert.deepEqual(
      refusal(() => parse(text)),
      ['syntax', message],
      text,
    );
  }
});

test('in a condition of case, a number before a colon is not a time', () => {
  const branches = (text: string) => {
    const node = parse(text);
    assert.ok(node.kind === 'case');
    return node.branches.map(({ when, result }) => [
      when.kind === 'binary' && when.right.kind === 'literal' && when.right.literal,
      result.kind === 'literal' && result.literal,
    ]);
  };
  const ten = { form: 'integer', text: '10' };
  const twenty = { form: 'integer', text: '20' };
  const morning = { form: 'time', text: '10:20' };
  assert.deepEqual(branches('case(A gt 10:20)'), [[ten, twenty]]);
  assert.deepEqual(branches('case(A gt 10:20,A lt 10:20 )'), [
    [ten, twenty],
    [ten, twenty],
  ]);
  assert.deepEqual(branches('case(A gt 10:20 :20)'), [[morning, twenty]]);
  assert.deepEqual(branches('case((A gt 10:20):20)'), [[morning, twenty]]);
  assert.deepEqual(branches('case(A gt 1:10:20)'), [[{ form: 'integer', text: '1' }, morning]]);
});

test('shapes are parsed as well-known text', () => {
  const at = (longitude: number, latitude: number) => ({ longitude, latitude });
  const point = { kind: 'point', areas: [[[at(-122.4, 37.7)]]] };
  assert.deepEqual(readWellKnownText('SRID=4326;POINT(-122.4 37.7)'), { ...point, srid: 4326 });
  assert.deepEqual(readWellKnownText('Point ( -122.4  37.7 10 )'), point);
  for (const [text, kind, areas] of [
    ['Polygon((0 0,1e0 0,0 0),(0 0))', 'polygon', [[[at(0, 0), at(1, 0), at(0, 0)], [at(0, 0)]]]],
    ['LineString(0 0,1 1)', 'linestring', [[[at(0, 0), at(1, 1)]]]],
    ['MultiPoint((0 0),(1 1))', 'multipoint', [[[at(0, 0)]], [[at(1, 1)]]]],
    ['MultiPoint()', 'multipoint', []],
    ['MultiLineString((0 0,1 1))', 'multilinestring', [[[at(0, 0), at(1, 1)]]]],
    ['MultiPolygon(((0 0)))', 'multipolygon', [[[at(0, 0)]]]],
    ['Collection(Point(0 0),Collection(Point(1 1)))', 'collection', [[[at(0, 0)]], [[at(1, 1)]]]],
  ] as const) {
    assert.deepEqual(readWellKnownText(text), { kind, areas });
  }
  for (const text of [
    '',
    'POINT',
    'POINT(1)',
    'POINT(1 2 3 4 5)',
    'POINT(1 2,3 4)',
    'LINESTRING(1 1)',
    'POLYGON(1 1)',
    'COLLECTION()',
    'SRID=1234567;POINT(1 2)',
    'POINT(1 2) x',
    'CIRCLE(1 2)',
    `${'COLLECTION('.repeat(200)}POINT(1 2)${')'.repeat(200)}`,
  ]) {
    assert.equal(readWellKnownText(text), undefined, text);
  }
});
