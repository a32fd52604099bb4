import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { errorOf } from '../../../src/query/native/faults.ts';
import { parseFilter } from '../../../src/query/native/parser.ts';
import { messages } from './show.ts';

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
    ['5000 points', `A Eq polygon('${times(5000, '1 2', ',')}')`],
    ['1000 steps of a pattern', "A Eq regex('x{999}')"],
  ];
  for (const [title, text] of fits) {
    it(`accepts ${title}`, () => assert.deepEqual(messages(text), []));
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
    'steps in its regular expressions': 1000,
  };
  for (const [text, what, position] of large) {
    it(`rejects more ${what}: ${text.slice(0, 30)}`, () => {
      const error = errorOf(parseFilter(text).faults);
      assert.equal(error?.code, 'filterTooLarge');
      assert.equal(error?.native, 1041);
      assert.equal(error?.message, `_filter: more than ${limits[what]} ${what} at position ${position}.`);
    });
  }

  it('rejects results that are too large', () => {
    assert.deepEqual(messages(`A Eq ${times(8, '1.0E99', ' Mul ')}`), [
      '_filter: the result of Mul is too large to compare at position 39.',
    ]);
  });
});
