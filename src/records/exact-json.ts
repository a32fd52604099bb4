/** Parses JSON without losing the digits of its numbers. This module knows nothing of fields. */
import { LongNumber } from '../shared/json.ts';
import { isTooDeep } from './nesting.ts';
import { isChanged, isInexact } from './value.ts';

/** Numbers of so many digits, or with an exponent, may not survive parsing. */
const LONG_NUMBER = /[:[,]\s*(-?(?:\d[\d.]{15,}(?:[eE][+-]?\d+)?|\d[\d.]*[eE][+-]?\d+))/g;

/** Whether a double is not the number that is written. */
const isLost = (value: number, source: string): boolean =>
  isInexact(value) || (String(value) !== source && isChanged(value, source));

/**
 * Parses JSON. Numbers beyond the digits or the range of a double are LongNumbers, except in a value that is nested too deeply for
 * any record.
 * @throws SyntaxError for invalid JSON
 */
export function parseExactly(text: string): unknown {
  const plain: unknown = JSON.parse(text);
  if (!hasLostNumbers(text)) return plain;
  // Validation rejects deep nesting; the reviver below could exhaust the stack.
  if (isTooDeep(plain)) return plain;
  return JSON.parse(text, (_key: string, parsed: unknown, context?: { source?: string }) => {
    const source = context?.source;
    return typeof parsed === 'number' && source !== undefined && isLost(parsed, source)
      ? new LongNumber(source)
      : parsed;
  });
}

/** The same; undefined if the text is not JSON. */
export function exactJson(text: string): unknown {
  try {
    return parseExactly(text);
  } catch {
    return undefined;
  }
}

/** Whether the text has such a number, or looks so within a string. */
function hasLostNumbers(text: string): boolean {
  for (const [, source = ''] of text.matchAll(LONG_NUMBER)) if (isLost(Number(source), source)) return true;
  return false;
}
