import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { errorOf } from '../../../src/query/native/faults.ts';
import { parseFilter } from '../../../src/query/native/parser.ts';
import { messages } from './show.ts';

describe('invalid filters', () => {
  const value =
    'a value: a number, a date, true, false, NULL, a function, or a text in single quotes (a field is not allowed here)';
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

describe('filters with wrong types', () => {
  const cases: readonly (readonly [string, string])[] = [
    ["A Gt 'x'", 'Gt cannot compare with a text, only Eq and Ne can at position 3'],
    ['A Lt true', 'Lt cannot compare with true or false, only Eq and Ne can at position 3'],
    ['A Ge NULL', 'Ge cannot compare with NULL, only Eq and Ne can at position 3'],
    ["A Le radius('1 2',3)", 'Le cannot compare with a shape, only Eq and Ne can at position 3'],
    ["A Bt tolower('a'),tolower('b')", 'Bt cannot compare with a text, only Eq and Ne can at position 3'],
    ['A Gt 1,2', 'Gt takes one value, only Eq and Ne take a list at position 3'],
    ['A Gt days(1),days(2)', 'Gt takes one value, only Eq and Ne take a list at position 3'],
    ["A Eq 1,'x'", 'the values differ in type: a whole number comes first, a text here at position 8'],
    ['A Bt 1,2020-01-01', 'the values differ in type: a whole number comes first, a date here at position 8'],
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
    ['A Eq year(2026-13-45)', '2026-13-45 is not a day of the calendar at position 6'],
    ["A Eq regex('[1','')", 'this is not a valid regular expression: missing closing ]: `[1` at position 6'],
    [
      "A Eq regex('(?=x)')",
      'this is not a valid regular expression: invalid or unsupported Perl syntax: `(?=` at position 6',
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

describe('several faults', () => {
  it('are all reported, each with its token', () => {
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

  it('quote only the beginning of a long text', () => {
    const { faults } = parseFilter(`A Eq 1 Add '${'x'.repeat(500)}'`);
    assert.deepEqual(
      faults.map(({ token }) => token),
      ['Add'],
    );
    const [unknown] = parseFilter(`${'x'.repeat(500)}(A) Eq 1`).faults;
    assert.equal(unknown?.token, `${'x'.repeat(60)}…`);
  });
});
