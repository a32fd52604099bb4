/**
 * Exact decimals for the arithmetic of literals: results are rounded to 20 places, half away from zero;
 * two integers divide to an integer, rounded down; a remainder has the sign of the divisor.
 */
import type { ArithmeticWord } from './nodes.ts';

interface Decimal {
  /** The value is `digits` divided by ten to the `scale`. */
  readonly digits: bigint;
  readonly scale: number;
}

export interface NumberText {
  readonly type: 'integer' | 'decimal';
  readonly text: string;
}

const PLACES = 20;
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[Ee](-?\d+))?$/;

const power = (exponent: number): bigint => 10n ** BigInt(exponent);

/** Reads what the lexer calls an integer or a decimal. */
function parseDecimal(text: string): Decimal {
  const [, sign = '', whole = '0', fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  const digits = BigInt(`${sign}${whole}${fraction}`);
  const scale = fraction.length - Number(exponent);
  return scale < 0 ? { digits: digits * power(-scale), scale: 0 } : { digits, scale };
}

function floorDivide(left: bigint, right: bigint): bigint {
  const quotient = left / right;
  return left % right !== 0n && left < 0n !== right < 0n ? quotient - 1n : quotient;
}

function halfAwayDivide(left: bigint, right: bigint): bigint {
  const negative = left < 0n !== right < 0n;
  const [dividend, divisor] = [left < 0n ? -left : left, right < 0n ? -right : right];
  const quotient = (2n * dividend + divisor) / (2n * divisor);
  return negative ? -quotient : quotient;
}

/** Rounds to a number of places, half away from zero. */
function rounded({ digits, scale }: Decimal, places: number): Decimal {
  if (scale <= places) return { digits, scale };
  return { digits: halfAwayDivide(digits, power(scale - places)), scale: places };
}

/** Plain digits with at least one place: `12.0`, `-0.05`. */
function decimalText(value: Decimal): string {
  const { digits, scale } = rounded(value, PLACES);
  const sign = digits < 0n ? '-' : '';
  const plain = (digits < 0n ? -digits : digits).toString().padStart(scale + 1, '0');
  const point = plain.length - scale;
  const fraction = plain.slice(point).replace(/0+$/, '');
  return `${sign}${plain.slice(0, point)}.${fraction === '' ? '0' : fraction}`;
}

/** Both sides in the same scale. */
function aligned(left: Decimal, right: Decimal): { left: bigint; right: bigint; scale: number } {
  const scale = Math.max(left.scale, right.scale);
  return {
    left: left.digits * power(scale - left.scale),
    right: right.digits * power(scale - right.scale),
    scale,
  };
}

function compute(operator: ArithmeticWord, first: Decimal, second: Decimal): Decimal {
  const { left, right, scale } = aligned(first, second);
  switch (operator) {
    case 'Add':
      return { digits: left + right, scale };
    case 'Sub':
      return { digits: left - right, scale };
    case 'Mul':
      return { digits: first.digits * second.digits, scale: first.scale + second.scale };
    case 'Div':
      return { digits: halfAwayDivide(left * power(PLACES), right), scale: PLACES };
    case 'Mod':
      return { digits: left - right * floorDivide(left, right), scale };
  }
}

export const isZero = (number: NumberText): boolean => parseDecimal(number.text).digits === 0n;

/** The result of arithmetic on two literals. The right side of `Div` and `Mod` must not be zero. */
export function calculate(operator: ArithmeticWord, left: NumberText, right: NumberText): NumberText {
  const [first, second] = [parseDecimal(left.text), parseDecimal(right.text)];
  if (left.type === 'decimal' || right.type === 'decimal') {
    return { type: 'decimal', text: decimalText(compute(operator, first, second)) };
  }
  const result =
    operator === 'Div' ? floorDivide(first.digits, second.digits) : compute(operator, first, second).digits;
  return { type: 'integer', text: result.toString() };
}

export function negated(number: NumberText): NumberText {
  const { digits, scale } = parseDecimal(number.text);
  if (number.type === 'integer') return { type: 'integer', text: (-digits).toString() };
  return { type: 'decimal', text: decimalText({ digits: -digits, scale }) };
}

/** A decimal as a whole number. */
export function toInteger(text: string, way: 'round' | 'ceiling' | 'floor' | 'truncate'): string {
  const { digits, scale } = parseDecimal(text);
  const unit = power(scale);
  switch (way) {
    case 'round':
      return halfAwayDivide(digits, unit).toString();
    case 'floor':
      return floorDivide(digits, unit).toString();
    case 'ceiling':
      return (-floorDivide(-digits, unit)).toString();
    case 'truncate':
      return (digits / unit).toString();
  }
}

/** A number as a decimal is written: `10` becomes `10.0`. */
export const toDecimal = (text: string): string => decimalText(parseDecimal(text));
