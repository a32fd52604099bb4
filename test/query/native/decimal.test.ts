import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  type ArithmeticWord,
  calculate,
  isZero,
  type NumberText,
  negated,
  toDecimal,
  toInteger,
} from '../../../src/query/native/decimal.ts';

const read = (text: string): NumberText => ({ type: text.includes('.') ? 'decimal' : 'integer', text });

describe('arithmetic of literals', () => {
  const cases: readonly (readonly [string, ArithmeticWord, string, string])[] = [
    ['0.1', 'Add', '0.2', '0.3'],
    ['1', 'Add', '2', '3'],
    ['1', 'Add', '2.0', '3.0'],
    ['10', 'Sub', '12', '-2'],
    ['7', 'Mul', '0.1', '0.7'],
    ['1.0E8', 'Mul', '1', '100000000.0'],
    ['9.1E-6', 'Add', '0', '0.0000091'],
    ['7', 'Div', '2', '3'],
    ['-7', 'Div', '2', '-4'],
    ['7', 'Div', '-2', '-4'],
    ['-7', 'Div', '-2', '3'],
    ['7', 'Mod', '2', '1'],
    ['-7', 'Mod', '2', '1'],
    ['7', 'Mod', '-2', '-1'],
    ['32.7', 'Mod', '20.7', '12.0'],
    ['-0.5', 'Mod', '2', '1.5'],
    ['7', 'Div', '10.1', '0.69306930693069306931'],
    ['2.0', 'Div', '3', '0.66666666666666666667'],
    ['-2.0', 'Div', '3', '-0.66666666666666666667'],
    ['1.0', 'Div', '4', '0.25'],
    ['0.00000000000000000001', 'Div', '2', '0.00000000000000000001'],
    ['0.00000000000000000001', 'Div', '3', '0.0'],
    ['007', 'Add', '1', '8'],
  ];
  for (const [left, operator, right, expected] of cases) {
    it(`${left} ${operator} ${right} is ${expected}`, () => {
      assert.deepEqual(calculate(operator, read(left), read(right)), read(expected));
    });
  }

  it('negates numbers', () => {
    assert.deepEqual(
      ['5', '-5', '0', '5.10', '-0.5'].map((text) => negated(read(text)).text),
      ['-5', '5', '0', '-5.1', '0.5'],
    );
  });

  it('recognizes zero in every form', () => {
    assert.deepEqual(
      ['0', '-0', '00', '0.0', '0.0E5', '0.01', '1'].map((text) => isZero(read(text))),
      [true, true, true, true, true, false, false],
    );
  });

  const ways = ['round', 'floor', 'ceiling', 'truncate'] as const;
  const wholes: readonly (readonly [string, readonly string[]])[] = [
    ['0.5', ['1', '0', '1', '0']],
    ['-0.5', ['-1', '-1', '0', '0']],
    ['2.4', ['2', '2', '3', '2']],
    ['-2.4', ['-2', '-3', '-2', '-2']],
    ['3.0', ['3', '3', '3', '3']],
    ['2.5E1', ['25', '25', '25', '25']],
    ['1.5E-3', ['0', '0', '1', '0']],
  ];
  for (const [text, expected] of wholes) {
    it(`rounds ${text} to ${expected.join(', ')}`, () => {
      assert.deepEqual(
        ways.map((way) => toInteger(text, way)),
        expected,
      );
    });
  }

  it('writes integers as decimals', () => {
    assert.deepEqual(['10', '-3', '1.50', '1.0E3'].map(toDecimal), ['10.0', '-3.0', '1.5', '1000.0']);
  });

  const whole = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n });
  const integer = whole.map((value): NumberText => ({ type: 'integer', text: value.toString() }));

  it('divides so that quotient and remainder give the dividend again', () => {
    fc.assert(
      fc.property(
        whole,
        whole.filter((value) => value !== 0n),
        (dividend, divisor) => {
          const [left, right] = [read(dividend.toString()), read(divisor.toString())];
          const quotient = BigInt(calculate('Div', left, right).text);
          const remainder = BigInt(calculate('Mod', left, right).text);
          assert.equal(quotient * divisor + remainder, dividend);
          assert.ok(
            divisor > 0n ? remainder >= 0n && remainder < divisor : remainder <= 0n && remainder > divisor,
          );
        },
      ),
      { seed: 7, numRuns: 300 },
    );
  });

  it('subtracts what it added', () => {
    const decimal = fc.tuple(whole, fc.integer({ min: 1, max: 20 })).map(([digits, places]) => {
      const plain = (digits < 0n ? -digits : digits).toString().padStart(places + 1, '0');
      return read(`${digits < 0n ? '-' : ''}${plain.slice(0, -places)}.${plain.slice(-places)}`);
    });
    const number = fc.oneof(integer, decimal);
    fc.assert(
      fc.property(number, number, (left, right) => {
        const back = calculate('Sub', calculate('Add', left, right), right);
        assert.equal(toDecimal(back.text), toDecimal(left.text).replace(/^-(0\.0)$/, '$1'));
      }),
      { seed: 7, numRuns: 300 },
    );
  });
});
