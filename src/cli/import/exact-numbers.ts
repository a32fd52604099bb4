import { isTooDeep } from '../../records/nesting.ts';

/** Numbers of so many digits may not survive being read as a double. */
const LONG_NUMBER = /[:[,]\s*-?(?:\d[\d.]{15,}|\d[\d.]*[eE][+-]?\d{3,})/;

/** How many significant digits a double surely keeps. */
const KEPT = 15;

/** A number that would change by being read. */
export interface Inexact {
  readonly key: string;
  /** As it stands in the text. */
  readonly source: string;
}

/** Why a record is refused that has such a number in a field that takes numbers. */
export const inexactReason = ({ key, source }: Inexact): string =>
  `${key} is ${source}, which is beyond the precision of a number`;

/**
 * Reads JSON and finds numbers that would change by being read: beyond the digits or the range of a double. In the value
 * each of them is the text that it is written as, which a field that takes texts holds.
 * @throws SyntaxError for what is no JSON
 */
export function parseExactly(text: string): {
  readonly value: unknown;
  readonly inexact: readonly Inexact[];
} {
  if (!LONG_NUMBER.test(text)) return { value: JSON.parse(text), inexact: [] };
  const inexact: Inexact[] = [];
  const plain: unknown = JSON.parse(text);
  // It is refused for that, and what walks through it has no end.
  if (isTooDeep(plain)) return { value: plain, inexact };
  const value: unknown = JSON.parse(text, (key: string, parsed: unknown, context?: { source?: string }) => {
    const source = context?.source;
    if (typeof parsed === 'number' && source !== undefined && isChanged(parsed, source)) {
      inexact.push({ key, source });
      return source;
    }
    return parsed;
  });
  return { value, inexact };
}

function isChanged(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return true;
  const digits = significant(source);
  if (value === 0) return digits !== '';
  return (
    digits.length > KEPT &&
    digits !== significant(value.toPrecision(17)) &&
    digits !== significant(String(value))
  );
}

/** The digits of a number without sign, point, exponent and zeros around. */
const significant = (text: string): string =>
  text
    .replace(/[eE].*$/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+/, '')
    .replace(/0+$/, '');
