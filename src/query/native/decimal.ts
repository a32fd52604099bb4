/**
 * Exact arithmetic of literal numbers, on their texts. Results are rounded to 20 decimal places, half away from zero. Two integers
 * divide to an integer, rounded down; a remainder has the sign of the divisor.
 */
import Big from 'big.js';

export const ARITHMETIC_OPERATORS = ['Add', 'Sub', 'Mul', 'Div', 'Mod'] as const;
export type ArithmeticWord = (typeof ARITHMETIC_OPERATORS)[number];

export interface NumberText {
  readonly type: 'integer' | 'decimal';
  readonly text: string;
}

const PLACES = 20;
const Decimal = Big();
Decimal.DP = PLACES;
Decimal.RM = Big.roundHalfUp;

/** Plain digits; zero has no sign. */
const integerText = (value: Big): string => (value.eq(0) ? '0' : value.toFixed());

/** A decimal with at least one place: `12.0`, `-0.05`. */
function decimalText(value: Big): string {
  const text = integerText(value.round(PLACES));
  return text.includes('.') ? text : `${text}.0`;
}

const numberText = (type: NumberText['type'], value: Big): NumberText => ({
  type,
  text: type === 'integer' ? integerText(value) : decimalText(value),
});

function remainder(left: Big, right: Big): Big {
  const rest = left.mod(right);
  return rest.eq(0) || rest.lt(0) === right.lt(0) ? rest : rest.plus(right);
}

function compute(operator: ArithmeticWord, left: Big, right: Big, type: NumberText['type']): Big {
  switch (operator) {
    case 'Add':
      return left.plus(right);
    case 'Sub':
      return left.minus(right);
    case 'Mul':
      return left.times(right);
    case 'Div':
      return type === 'integer' ? left.minus(remainder(left, right)).div(right) : left.div(right);
    case 'Mod':
      return remainder(left, right);
  }
}

export const isZero = ({ text }: NumberText): boolean => new Decimal(text).eq(0);

/** The result of arithmetic on two literals. The right side of `Div` and `Mod` must not be zero. */
export function calculate(operator: ArithmeticWord, left: NumberText, right: NumberText): NumberText {
  const type = left.type === 'decimal' || right.type === 'decimal' ? 'decimal' : 'integer';
  return numberText(type, compute(operator, new Decimal(left.text), new Decimal(right.text), type));
}

export const negated = ({ type, text }: NumberText): NumberText =>
  numberText(type, new Decimal(text).times(-1));

/** A decimal as a whole number. */
export function toInteger(text: string, mode: 'round' | 'ceiling' | 'floor' | 'truncate'): string {
  const value = new Decimal(text);
  const whole = value.round(0, mode === 'round' ? Big.roundHalfUp : Big.roundDown);
  if (mode === 'floor' && whole.gt(value)) return integerText(whole.minus(1));
  return integerText(mode === 'ceiling' && whole.lt(value) ? whole.plus(1) : whole);
}

/** A number in the form of a decimal: `10` becomes `10.0`. */
export const toDecimal = (text: string): string => decimalText(new Decimal(text));
