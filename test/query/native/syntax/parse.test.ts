import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { errorOf } from '../../../../src/query/native/faults.ts';
import type { Filter, Operand, Value } from '../../../../src/query/native/syntax/nodes.ts';
import { parseFilter } from '../../../../src/query/native/syntax/parse.ts';

function showValue(value: Value): string {
  switch (value.kind) {
    case 'scalar':
      return `${value.type}:${value.text}`;
    case 'clock':
      return `${value.function}(${value.count}):${value.type}`;
    case 'pattern':
      return `${value.form}${value.ignoreCase ? '/i' : ''}:${value.text}`;
    case 'range':
      return `range:${value.from}..${value.to}`;
    case 'shape':
      return `${value.function}:${JSON.stringify(value.geometry)}`;
  }
}

function showOperand(operand: Operand): string {
  switch (operand.kind) {
    case 'name':
      return operand.name;
    case 'custom':
      return `[${operand.group}|${operand.label}]`;
    case 'call':
      return `${operand.function}(${[showOperand(operand.of), ...operand.rest.map(showValue)].join(';')})`;
    case 'arithmetic':
      return `(${showOperand(operand.left)} ${operand.operator} ${showOperand(operand.right)})`;
    case 'negate':
      return `-(${showOperand(operand.operand)})`;
    case 'broken':
      return 'BROKEN';
    default:
      return showValue(operand);
  }
}

function show(filter: Filter): string {
  switch (filter.kind) {
    case 'condition': {
      const { right } = filter;
      const values = right.kind === 'broken' ? 'BROKEN' : right.values.map(showValue).join(',');
      return `${showOperand(filter.left)} ${filter.operator} ${values}`;
    }
    case 'not':
      return `not{${show(filter.operand)}}`;
    default:
      return `${filter.kind}{${filter.terms.map(show).join(' ')}}`;
  }
}

function read(text: string): string {
  const { filter, faults } = parseFilter(text);
  assert.deepEqual(
    faults.map(({ message }) => message),
    [],
  );
  return filter === undefined ? 'nothing' : show(filter);
}

const messages = (text: string): string[] => parseFilter(text).faults.map(({ message }) => message);

function table(title: string, cases: readonly (readonly [string, string])[]): void {
  describe(title, () => {
    for (const [text, expected] of cases)
      it(text === '' ? 'an empty text' : text, () => assert.equal(read(text), expected));
  });
}

table('the joining of conditions', [
  ['', 'nothing'],
  [' \t', 'nothing'],
  ['A Eq 1 And B Eq 2 Or C Eq 3', 'or{and{A Eq integer:1 B Eq integer:2} C Eq integer:3}'],
  ['A Eq 1 Or B Eq 2 And C Eq 3', 'or{A Eq integer:1 and{B Eq integer:2 C Eq integer:3}}'],
  ['A Eq 1 Not B Eq 2 Or C Eq 3', 'or{and{A Eq integer:1 not{B Eq integer:2}} C Eq integer:3}'],
  ['A Eq 1 Or B Eq 2 Not C Eq 3', 'or{A Eq integer:1 and{B Eq integer:2 not{C Eq integer:3}}}'],
  ['Not A Eq 1 And B Eq 2', 'and{not{A Eq integer:1} B Eq integer:2}'],
  ['Not (A Eq 1 And B Eq 2)', 'not{and{A Eq integer:1 B Eq integer:2}}'],
  ['Not (Not A Eq 1)', 'not{not{A Eq integer:1}}'],
  ['(Not (A Eq 1))', 'not{A Eq integer:1}'],
  // The reference counts these two as one.
  ['(Not (Not A Eq 1))', 'not{A Eq integer:1}'],
  ['(Not (Not A Eq 1 And B Eq 2))', 'and{not{A Eq integer:1} B Eq integer:2}'],
  ['A Eq 1 And (B Eq 2 Or C Eq 3)', 'and{A Eq integer:1 or{B Eq integer:2 C Eq integer:3}}'],
  ['((A) Eq (1))', 'A Eq integer:1'],
  ['((A Eq 1))', 'A Eq integer:1'],
]);

table('the left side', [
  ['A Add 2 Mul 3 Eq 1', '(A Add integer:6) Eq integer:1'],
  ['A Add B Mul C Eq 1', '(A Add (B Mul C)) Eq integer:1'],
  ['A Sub B Sub C Eq 1', '((A Sub B) Sub C) Eq integer:1'],
  ['(A Sub (B Sub C)) Mul 2 Eq 1', '((A Sub (B Sub C)) Mul integer:2) Eq integer:1'],
  ['-A Mul 2 Eq 1', '(-(A) Mul integer:2) Eq integer:1'],
  ['--A Eq 1', 'A Eq integer:1'],
  ['A Add -(5) Eq 1', '(A Add integer:-5) Eq integer:1'],
  ['"The Group"."The Field" Eq 1', '[The Group|The Field] Eq integer:1'],
  ["substring(trim(A),1,2) Eq 'x'", 'substring(trim(A);integer:1;integer:2) Eq character:x'],
  ["concat(A,tolower('B')) Eq 'x'", 'concat(A;character:b) Eq character:x'],
  ["cast(A,'integer') Add 1 Eq 2", '(cast(A;character:integer) Add integer:1) Eq integer:2'],
  ["all(A) Eq 'x'", 'all(A) Eq character:x'],
]);

table('the right side', [
  ['A Eq (1,2)', 'A Eq integer:1,integer:2'],
  ['A Eq 1, 2 ,3', 'A Eq integer:1,integer:2,integer:3'],
  ["A Eq 'x',tolower('Y'),contains('z')", 'A Eq character:x,character:y,contains:z'],
  ["A Eq 'x',tolower(trim(' Y '))", 'A Eq character:x,character:y'],
  ['A Gt 2 Add 3 Mul 4', 'A Gt integer:14'],
  ['A Gt (2 Add 3) Mul 4', 'A Gt integer:20'],
  ['A Gt - 5 Add 3', 'A Gt integer:-2'],
  ['A Gt - - 5', 'A Gt integer:5'],
  ['A Gt 2 Sub -3', 'A Gt integer:5'],
  ['A Bt 1,2.5', 'A Bt integer:1,decimal:2.5'],
  ['A Bt floor(1.5),10', 'A Bt integer:1,integer:10'],
  ['A Bt 2020-01-01,now()', 'A Bt date:2020-01-01,now(0):datetime'],
  ['A Ge days(-7)', 'A Ge days(-7):date'],
  ['A Eq days(1),months(2)', 'A Eq days(1):date,months(2):date'],
  ['A Eq seconds(1),weekdays(-3)', 'A Eq seconds(1):datetime,weekdays(-3):date'],
  ['A Eq mindatetime()', 'A Eq datetime:1970-01-01T00:00:00Z'],
  ['A Eq maxdatetime()', 'A Eq datetime:9999-12-31T23:59:59Z'],
  ["A Eq regex('^a.c$','i')", 'A Eq regex/i:^a.c$'],
  ["A Eq regex('a','')", 'A Eq regex:a'],
  [String.raw`A Eq regex('\d\'')`, String.raw`A Eq regex:\d'`],
  ["A Eq startswith('x')", 'A Eq startswith:x'],
  ["A Ne endswith('x')", 'A Ne endswith:x'],
  ["A Eq range('M1','M4')", 'A Eq range:M1..M4'],
  ['A Eq 10:22', 'A Eq time:10:22'],
  ['A Eq null', 'A Eq null:null'],
  [String.raw`A Eq 'it\'s'`, "A Eq character:it's"],
]);

table('functions of literals', [
  ["A Eq toupper('äß')", 'A Eq character:ÄSS'],
  ["A Eq trim(' a\t')", 'A Eq character:a'],
  ["A Eq length('a🏡c')", 'A Eq integer:3'],
  ["A Eq substring('a🏡cd',1)", 'A Eq character:🏡cd'],
  ["A Eq substring('abcd',1,2)", 'A Eq character:bc'],
  ["A Eq substring('abcd',9)", 'A Eq character:'],
  ["A Eq indexof('a🏡cd','c')", 'A Eq integer:2'],
  ["A Eq indexof('abc','x')", 'A Eq integer:-1'],
  ["A Eq concat('a','b')", 'A Eq character:ab'],
  ["A Eq cast('10.7','integer')", 'A Eq integer:10'],
  ["A Eq cast('-10.7','integer')", 'A Eq integer:-10'],
  ["A Eq cast(' 1.5e2 ','decimal')", 'A Eq decimal:150.0'],
  ["A Eq cast('+5','integer')", 'A Eq integer:5'],
  ["A Eq cast('abc','integer')", 'A Eq null:NULL'],
  ["A Eq cast('1e999','decimal')", 'A Eq null:NULL'],
  ["A Eq cast(10,'decimal')", 'A Eq decimal:10.0'],
  ["A Eq cast(10,'character')", 'A Eq character:10'],
  ["A Eq cast(10.50,'character')", 'A Eq character:10.5'],
  ["A Eq cast(NULL,'character')", 'A Eq character:'],
  ["A Eq cast(NULL,'integer')", 'A Eq integer:0'],
  ["A Eq cast(NULL,'decimal')", 'A Eq decimal:0.0'],
  ['A Eq round(2.5)', 'A Eq integer:3'],
  ['A Eq ceiling(2.1)', 'A Eq integer:3'],
  ['A Eq floor(-2.1)', 'A Eq integer:-3'],
  ['A Eq date(2013-07-26T23:00:00-06:00)', 'A Eq date:2013-07-26'],
  ['A Eq time(2013-07-26T23:00:05.25-06:00)', 'A Eq time:23:00:05.25'],
  ['A Eq time(2013-07-26T23:00)', 'A Eq time:23:00:00'],
  ['A Eq year(2013-07-26)', 'A Eq integer:2013'],
  ['A Eq month(2013-07-26T23:00Z)', 'A Eq integer:7'],
  ['A Eq day(2013-07-26)', 'A Eq integer:26'],
  ['A Eq hour(2013-07-26T23:01:05)', 'A Eq integer:23'],
  ['A Eq minute(2013-07-26T23:01:05)', 'A Eq integer:1'],
  ['A Eq second(2013-07-26T23:01:05)', 'A Eq integer:5'],
  ['A Eq fractionalseconds(2013-07-26T23:01:05.25)', 'A Eq decimal:0.25'],
  ['A Eq fractionalseconds(2013-07-26T23:01:05)', 'A Eq decimal:0.0'],
  ['A Eq dayofyear(2024-12-31)', 'A Eq integer:366'],
  ['A Eq dayofweek(2026-03-15)', 'A Eq integer:0'],
]);

describe('shapes', () => {
  const geometryOf = (text: string) => {
    const { filter, faults } = parseFilter(`Location Eq ${text}`);
    assert.deepEqual(faults, []);
    assert.ok(filter?.kind === 'condition' && filter.right.kind === 'values');
    const [value] = filter.right.values;
    assert.equal(value?.kind, 'shape');
    return value.geometry;
  };
  const point = (latitude: number, longitude: number) => ({ longitude, latitude });
  const square = [point(35, -68), point(35, -67), point(36, -67), point(36, -68), point(35, -68)];

  it('reads a radius around a point or a listing', () => {
    assert.deepEqual(geometryOf("radius(' 35.5  -68 ',2)"), {
      kind: 'circle',
      center: point(35.5, -68),
      miles: 2,
    });
    const record = '20260101000000000000000001';
    assert.deepEqual(geometryOf(`radius('${record}',0.5)`), { kind: 'circle-around', record, miles: 0.5 });
  });

  it('closes polygons and turns rectangles into them', () => {
    const areas = [[square]];
    assert.deepEqual(geometryOf("polygon('35 -68, 35 -67, 36 -67, 36 -68')"), { kind: 'areas', areas });
    assert.deepEqual(geometryOf("polygon('35 -68,35 -67,36 -67,36 -68,35 -68')"), { kind: 'areas', areas });
    assert.deepEqual(geometryOf("rectangle('35 -68, 36 -67')"), { kind: 'areas', areas });
  });

  it('reads well-known text, in which the longitude comes first', () => {
    const ring = '(-68 35,-67 35,-67 36,-68 36,-68 35)';
    assert.deepEqual(geometryOf(`wkt('POLYGON(${ring})')`), { kind: 'areas', areas: [[square]] });
    assert.deepEqual(geometryOf(`wkt('SRID=4326;polygon (${ring},${ring})')`), {
      kind: 'areas',
      areas: [[square, square]],
      srid: 4326,
    });
    assert.deepEqual(geometryOf(`wkt('MULTIPOLYGON((${ring}),(${ring}))')`), {
      kind: 'areas',
      areas: [[square], [square]],
    });
  });

  const others = [
    ["linestring('35 -68, 36 -67')", 'linestring()'],
    ["wkt('POINT(-68 35)')", 'the geometry POINT'],
    ["wkt('LINESTRING(-68 35,-67 36)')", 'the geometry LINESTRING'],
    ["wkt('MULTIPOINT((-68 35),(-67 36))')", 'the geometry MULTIPOINT'],
    ["wkt('MULTIPOINT(-68 35,-67 36)')", 'the geometry MULTIPOINT'],
    ["wkt('MULTILINESTRING((-68 35,-67 36))')", 'the geometry MULTILINESTRING'],
  ] as const;
  for (const [text, name] of others) {
    it(`knows ${text} as well formed`, () => assert.deepEqual(geometryOf(text), { kind: 'other', name }));
  }

  const wrong = [
    [
      "radius('35.12,-68.33',1.0)",
      'radius() takes one point "latitude longitude", or a ListingKey of 26 digits',
    ],
    [
      "radius('35 -68, 36 -67',1)",
      'radius() takes one point "latitude longitude", or a ListingKey of 26 digits',
    ],
    ["radius('35 -68',0)", 'radius() takes a length above zero'],
    ["polygon('35 -68, 35 -67')", 'polygon() takes at least three points "latitude longitude"'],
    ["polygon('35 -68, 35 -67, x y')", 'polygon() takes at least three points "latitude longitude"'],
    [
      "rectangle('35 -68, 36 -67, 37 -66')",
      'rectangle() takes two opposite corners "latitude longitude, latitude longitude"',
    ],
    ["linestring('35 -68')", 'linestring() takes at least two points "latitude longitude"'],
    ...[
      'POLYGON((1 2,3 4,1 2))',
      'POLYGON((1 2,3 4,5 6,7 8))',
      'POLYGON((1 2,3 4,5 6,1 2)',
      'CIRCLE(1 2)',
      'POINT(1 2) x',
      'POLYGON',
      'POINT(1 2,3 4)',
    ].map(
      (text) =>
        [
          `wkt('${text}')`,
          'wkt() takes well-known text, such as POLYGON((lon lat, lon lat, lon lat, lon lat))',
        ] as const,
    ),
  ] as const;
  for (const [text, reason] of wrong) {
    it(`refuses ${text}`, () =>
      assert.deepEqual(messages(`Location Eq ${text}`), [`_filter: ${reason} at position 13.`]));
  }
});

describe('texts that are no filter', () => {
  const value =
    'a value: a number, a date, true, false, NULL, a function, or a text in single quotes (a field cannot stand here)';
  const condition = 'a condition, which begins with a field, a function or a parenthesis';
  const cases: readonly (readonly [string, string])[] = [
    ['A', 'found the end at position 2, expected an operator: Eq, Ne, Gt, Ge, Lt, Le or Bt'],
    ['A In 1', 'found "In" at position 3, expected an operator: Eq, Ne, Gt, Ge, Lt, Le or Bt'],
    ['A = 1', 'found "=" at position 3, expected an operator: Eq, Ne, Gt, Ge, Lt, Le or Bt'],
    ['A Eq', `found the end at position 5, expected ${value}`],
    ['A Eq B', `found "B" at position 6, expected ${value}`],
    ["A Eq 'x", `found a quote that is not closed at position 6, expected ${value}`],
    [
      "A Eq 'x''y'",
      String.raw`found "'y'" at position 9, expected And, Or, Not or the end (a quote inside a text is written \')`,
    ],
    [
      '"A"."B" Eq 1',
      `found a double quote that begins no "Group"."Field" at position 1, expected ${condition}`,
    ],
    ['A Eq 1 And', `found the end at position 11, expected ${condition}`],
    [
      'A Eq 1 And Not B Eq 2',
      'found "Not" at position 12, expected a condition ("A And Not B" is written "A Not B" or "A And (Not B)")',
    ],
    [
      'Not Not A Eq 1',
      'found "Not" at position 5, expected a condition ("Not Not A" is written "Not (Not A)")',
    ],
    ['A Eq 1 B Eq 2', 'found "B" at position 8, expected And, Or, Not or the end'],
    ['(A Eq 1', 'found the end at position 8, expected a closing parenthesis'],
    ['A Eq 1)', 'found ")" at position 7, expected And, Or, Not or the end'],
    ['A Add (B Eq 1) Eq 2', 'found "Eq" at position 10, expected a closing parenthesis'],
    ['(A Eq 1) Add 2 Eq 3', 'found "Add" at position 10, expected And, Or, Not or the end'],
    [
      'city Eq 1',
      'found "Eq" at position 6, expected "(" behind the function city (a field name begins with a capital letter)',
    ],
    ['A Eq 2020-01-01,2020-01-02', 'found "," at position 16, expected And, Or, Not or the end'],
    ['A Eq true,false', 'found "," at position 10, expected And, Or, Not or the end'],
    ['A Eq (1),2', 'found "," at position 9, expected And, Or, Not or the end'],
    ['A Eq 1,', 'found the end at position 8, expected a number, a text in single quotes or a function'],
    ["A Bt 'a','b'", `found "'a'" at position 6, expected a number, a date or a function`],
    ['A Bt 1', 'found the end at position 7, expected a comma and the upper end of the range'],
    ['A Bt 1,2,3', 'found "," at position 9, expected And, Or, Not or the end'],
    ['A Eq tolower(B)', 'found "B" at position 14, expected a literal value'],
    ["A Eq tolower(trim('x'))", 'found "trim" at position 14, expected a literal value'],
    ["A Eq 'x',tolower(B)", 'found "B" at position 18, expected a literal value or a function'],
    ['tolower(A', 'found the end at position 10, expected a closing parenthesis'],
    ['tolower(-(5)) Eq 1', 'found "-" at position 9, expected a field, a literal value or a function'],
    ['NULL Eq 1', `found "NULL" at position 1, expected ${condition}`],
    ['A\nEq 1', 'found "\n" at position 2, expected an operator: Eq, Ne, Gt, Ge, Lt, Le or Bt'],
    [`A Eq B${'x'.repeat(100)}`, `found "B${'x'.repeat(59)}…" at position 6, expected ${value}`],
  ];
  for (const [text, expected] of cases) {
    it(JSON.stringify(text), () => assert.deepEqual(messages(text), [`_filter: ${expected}.`]));
  }
});

describe('filters whose types do not fit', () => {
  const cases: readonly (readonly [string, string])[] = [
    ["A Gt 'x'", 'Gt cannot compare with a text, only Eq and Ne can at position 3'],
    ['A Lt true', 'Lt cannot compare with true or false, only Eq and Ne can at position 3'],
    ['A Ge NULL', 'Ge cannot compare with NULL, only Eq and Ne can at position 3'],
    ["A Le radius('1 2',3)", 'Le cannot compare with a shape, only Eq and Ne can at position 3'],
    ["A Bt tolower('a'),tolower('b')", 'Bt cannot compare with a text, only Eq and Ne can at position 3'],
    ['A Gt 1,2', 'Gt takes one value, only Eq and Ne take a list at position 3'],
    ['A Gt days(1),days(2)', 'Gt takes one value, only Eq and Ne take a list at position 3'],
    ["A Eq 1,'x'", 'the values differ in type, a whole number stands first and here a text at position 8'],
    [
      'A Bt 1,2020-01-01',
      'the values differ in type, a whole number stands first and here a date at position 8',
    ],
    ['A Eq 1 Div 0', 'Div by zero at position 12'],
    ['A Eq 1.5 Mod 0.0', 'Mod by zero at position 14'],
    ['A Div 0 Eq 1', 'Div by zero at position 7'],
    ["A Eq 1 Add 'x'", 'Add takes numbers, not a text at position 12'],
    ['A Eq 1 Add 2,3', 'Add takes numbers, not a list at position 12'],
    ['trim(A) Mul 2 Eq 1', 'Mul takes numbers, not a text at position 9'],
    ['-trim(A) Eq 1', 'a text cannot be negative at position 1'],
    ["A Eq -'x'", 'only a single number can be negative at position 6'],
    ['A Eq - (1,2)', 'only a single number can be negative at position 6'],
    ['1 Eq 1', 'the left side of each condition names a field at position 3'],
    ["'a' Eq 'b'", 'the left side of each condition names a field at position 5'],
    ['now() Gt 2020-01-01', 'the left side of each condition names a field at position 7'],
    [
      "cast(A,'date') Eq 1",
      "cast() takes a field or value and one of 'character', 'decimal', 'integer' at position 1",
    ],
    ['substring(A,-1) Eq 1', 'substring() takes a start and a length of zero or more at position 1'],
    ['tolower() Eq 1', 'tolower() takes 1 argument, not 0 at position 1'],
    ["substring(A) Eq 'x'", 'substring() takes 2 or 3 arguments, not 1 at position 1'],
    ['now(1) Eq 1', 'now() takes 0 arguments, not 1 at position 1'],
    [
      'A Eq floor(2)',
      'argument 1 of floor() is a whole number, not a field or a decimal number at position 6',
    ],
    ["contains(A) Eq 'x'", 'argument 1 of contains() is a field, not a text at position 1'],
    [
      'tolower(length(A)) Eq 1',
      'argument 1 of tolower() is a whole number, not a field or a text at position 1',
    ],
    [
      'year(now()) Eq 1',
      'argument 1 of year() is a function of its own, not a field or a timestamp or a date at position 1',
    ],
    ['length(all(A)) Eq 1', 'argument 1 of length() is all(), not a field or a text at position 1'],
    ['A Eq year(2026-13-45)', '2026-13-45 is no day of the calendar at position 6'],
    ["A Eq regex('[1','')", 'this is no regular expression: missing closing ]: `[1` at position 6'],
    [
      "A Eq regex('(?=x)')",
      'this is no regular expression: invalid or unsupported Perl syntax: `(?=` at position 6',
    ],
    ["A Eq regex('x','g')", "regex() takes the flag 'i' or none, not 'g' at position 6"],
  ];
  for (const [text, expected] of cases) {
    it(text, () => assert.deepEqual(messages(text), [`_filter: ${expected}.`]));
  }

  it('suggests the function that was meant', () => {
    assert.deepEqual(messages("A Eq startwith('x')"), [
      '_filter: found the function "startwith" at position 6, expected a function of this language, such as startswith.',
    ]);
    assert.deepEqual(messages('geodistance(A) Eq 1'), [
      '_filter: found the function "geodistance" at position 1, expected a function of this language.',
    ]);
  });
});

describe('the limits', () => {
  const times = (count: number, text: string, between: string): string =>
    Array.from({ length: count }, () => text).join(between);
  const fits: readonly (readonly [string, string])[] = [
    ['75 conditions', times(75, 'A Eq 1', ' Or ')],
    ['200 values', `A Eq ${times(200, '1', ',')}`],
    ['200 operands on the left', `${times(200, 'A', ' Add ')} Eq 1`],
    ['200 operands on the right', `A Eq ${times(200, '1', ' Mul ')}`],
    ['2 levels of parentheses', '((A Eq 1) And B Eq 2)'],
    ['100 parentheses around a field', `${'('.repeat(98)}A${')'.repeat(98)} Eq 1`],
    ['5 levels of functions', "trim(trim(trim(trim(trim(A))))) Eq 'x'"],
    ['365000 days', 'A Gt days(-365000)'],
    ['500 points', `A Eq polygon('${times(499, '1 2', ',')}')`],
    ['1000 steps of a pattern', "A Eq regex('x{999}')"],
  ];
  for (const [title, text] of fits) {
    it(`takes ${title}`, () => assert.deepEqual(messages(text), []));
  }

  const large: readonly (readonly [string, string, number])[] = [
    [times(76, 'A Eq 1', ' Or '), 'conditions', 753],
    [`A Eq ${times(201, '1', ',')}`, 'values in one condition', 406],
    [`${times(201, 'A', ' Add ')} Eq 1`, 'values in one condition', 1197],
    [`A Eq ${times(201, '1', ' Mul ')}`, 'values in one condition', 1202],
    ['(((A Eq 1)))', 'levels of parentheses', 6],
    [`${'('.repeat(101)}A`, 'open parentheses', 101],
    [`A Eq ${'('.repeat(101)}1`, 'open parentheses', 106],
    ["trim(trim(trim(trim(trim(trim(A)))))) Eq 'x'", 'levels of functions', 26],
    [`concat(A${times(201, ",'x'", '')}) Eq 'x'`, 'arguments of a function', 806],
    ['A Gt days(365001)', 'days away in days()', 6],
    ['A Gt weekdays(-365001)', 'days away in weekdays()', 6],
    [`A Eq polygon('${times(501, '1 2', ',')}')`, 'points in one shape', 6],
    ["A Eq regex('x{600}') Or A Eq regex('(y{9}){50}')", 'steps in its regular expressions', 30],
    [String.raw`A Eq regex('[\pL]{50}')`, 'steps in its regular expressions', 6],
  ];
  const limits: Readonly<Record<string, number>> = {
    conditions: 75,
    'values in one condition': 200,
    'levels of parentheses': 2,
    'open parentheses': 100,
    'levels of functions': 5,
    'arguments of a function': 200,
    'days away in days()': 365000,
    'days away in weekdays()': 365000,
    'points in one shape': 500,
    'steps in its regular expressions': 1000,
  };
  for (const [text, what, position] of large) {
    it(`refuses more ${what}: ${text.slice(0, 30)}`, () => {
      const error = errorOf(parseFilter(text).faults);
      assert.equal(error?.code, 'filterTooLarge');
      assert.equal(error?.native, 1041);
      assert.equal(error?.message, `_filter: more than ${limits[what]} ${what} at position ${position}.`);
    });
  }

  it('refuses results without bound', () => {
    assert.deepEqual(messages(`A Eq ${times(8, '1.0E99', ' Mul ')}`), [
      '_filter: the result of Mul is too large to compare at position 39.',
    ]);
  });
});

describe('several faults', () => {
  it('are told all, each with its token', () => {
    const { faults } = parseFilter("A Gt 'x' And B Eq 1 Div 0 And nofunction(C) Eq 2 And D Eq");
    assert.deepEqual(
      faults.map(({ token, status }) => [token, status]),
      [
        ['Gt', 'Fatal'],
        ['0', 'Fatal'],
        ['nofunction', 'Fatal'],
        ['', 'Fatal'],
      ],
    );
    const error = errorOf(faults);
    assert.equal(error?.code, 'typeMismatch');
    assert.equal(error?.target, '_filter');
    assert.equal(error?.sparkql.length, 4);
    assert.equal(error?.sparkql[0]?.message, error?.message);
  });

  it('are cut where they quote a long text', () => {
    const { faults } = parseFilter(`A Eq 1 Add '${'x'.repeat(500)}'`);
    assert.deepEqual(
      faults.map(({ token }) => token),
      ['Add'],
    );
    const [unknown] = parseFilter(`${'x'.repeat(500)}(A) Eq 1`).faults;
    assert.equal(unknown?.token, `${'x'.repeat(60)}…`);
  });
});
