/**
 * Parses JSON without losing what a plain parser drops: digits of numbers, and repeated members. This module does not know fields.
 */
import { isObject, LongNumber } from '../shared/json.ts';
import { isTooDeep, MOST_LEVELS } from './nesting.ts';
import { isUnsafeInteger, losesDigits } from './value.ts';

/** Numbers with this many digits, or with an exponent, may not survive parsing. */
const LONG_NUMBER = /[:[,]\s*(-?(?:\d[\d.]{15,}(?:[eE][+-]?\d+)?|\d[\d.]*[eE][+-]?\d+))/g;

/** Whether a double differs from the number in the text. */
const differsFromSource = (value: number, source: string): boolean =>
  isUnsafeInteger(value) || (String(value) !== source && losesDigits(value, source));

/**
 * Parses JSON. Numbers beyond the digits or the range of a double are LongNumbers, except in a value that is nested too deeply for
 * any record.
 * @throws SyntaxError for invalid JSON
 */
export function parseExactly(text: string): unknown {
  const plain: unknown = JSON.parse(text);
  if (!hasInexactNumbers(text)) return plain;
  // Validation rejects deep nesting; the reviver below could exhaust the stack.
  if (isTooDeep(plain)) return plain;
  return JSON.parse(text, (_key: string, parsed: unknown, context?: { source?: string }) => {
    const source = context?.source;
    return typeof parsed === 'number' && source !== undefined && differsFromSource(parsed, source)
      ? new LongNumber(source)
      : parsed;
  });
}

/** Separates the name of a repeated member from the number of the occurrence. */
export const REPEATED = '@plat.repeated';

/** Like `parseExactly`, but renames members that occur again in their object. Undefined if the text is not JSON. */
export function parseWithRepeatedMembers(text: string): unknown {
  try {
    const value = parseExactly(text);
    const members = countMembers(value);
    if (Number.isNaN(members) || members === countNames(text)) return value;
    const marked = renameRepeatedMembers(text);
    return marked === text ? value : parseExactly(marked);
  } catch {
    return undefined;
  }
}

/** The number of members of all objects in a value; NaN if it is nested too deeply for any record. */
export function countMembers(value: unknown, levels = MOST_LEVELS): number {
  if (Array.isArray(value)) {
    if (levels === 0) return Number.NaN;
    let count = 0;
    for (const each of value) if (typeof each === 'object') count += countMembers(each, levels - 1);
    return count;
  }
  if (!isObject(value) || value instanceof LongNumber) return 0;
  if (levels === 0) return Number.NaN;
  const names = Object.keys(value);
  let count = names.length;
  for (const name of names) {
    const each = value[name];
    if (typeof each === 'object') count += countMembers(each, levels - 1);
  }
  return count;
}

/** The number of names of members in a text. */
function countNames(text: string): number {
  const end = /"\s*:/g;
  let count = 0;
  while (end.test(text)) {
    const quote = text.lastIndexOf('"', end.lastIndex - 2);
    let before = quote - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    // A quote after an odd number of backslashes is part of a text.
    if ((quote - before) % 2 === 1) count++;
  }
  return count;
}

const BACKSLASH = 0x5c;

function renameRepeatedMembers(text: string): string {
  let marked = '';
  let from = 0;
  for (const { end, occurrence } of repeatedMembers(text)) {
    marked += `${text.slice(from, end - 1)}${REPEATED}${occurrence}`;
    from = end - 1;
  }
  return marked + text.slice(from);
}

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g;

/**
 * Yields the repeated members of objects, with the position after their names and the number of the occurrence.
 * @param text valid JSON
 */
export function* repeatedMembers(
  text: string,
): Generator<{ readonly name: string; readonly end: number; readonly occurrence: number }> {
  const objects: (Map<string, number> | undefined)[] = [];
  let last = { token: '', end: 0 };
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    if (token === '{') objects.push(new Map());
    else if (token === '[') objects.push(undefined);
    else if (token === '}' || token === ']') objects.pop();
    else if (token === ':') {
      const name: unknown = JSON.parse(last.token);
      const members = objects.at(-1);
      if (typeof name !== 'string' || members === undefined) continue;
      const occurrence = (members.get(name) ?? 0) + 1;
      if (occurrence > 1) yield { name, end: last.end, occurrence };
      members.set(name, occurrence);
    }
    last = { token, end: index + token.length };
  }
}

/** Whether the text contains such a number, or a string that looks like one. */
function hasInexactNumbers(text: string): boolean {
  for (const [, source = ''] of text.matchAll(LONG_NUMBER))
    if (differsFromSource(Number(source), source)) return true;
  return false;
}
