/** Limits the nesting of records. This module does not know the dictionary. */
import { isObject } from '../shared/json.ts';

/** The maximum nesting: records of the dictionary have ten levels, and thousands would overflow recursive functions. */
export const MOST_LEVELS = 64;

export const TOO_DEEP = `is nested more than ${MOST_LEVELS} levels deep`;

export const isTooDeep = (value: unknown): boolean => exceeds(value, MOST_LEVELS);

/** This runs for every record. It uses loops because a function call per member takes twice the time. */
function exceeds(value: unknown, levels: number): boolean {
  if (Array.isArray(value)) {
    if (levels === 0) return true;
    for (const each of value) if (typeof each === 'object' && exceeds(each, levels - 1)) return true;
    return false;
  }
  if (!isObject(value)) return false;
  if (levels === 0) return true;
  for (const name of Object.keys(value)) {
    const each = value[name];
    if (typeof each === 'object' && exceeds(each, levels - 1)) return true;
  }
  return false;
}

/** Writes a parsed value as JSON. A value that is nested too deeply is cut off at the limit. */
export const jsonOf = (value: unknown): string =>
  JSON.stringify(isTooDeep(value) ? cut(value, MOST_LEVELS) : value) ?? 'null';

function cut(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return levels === 0 ? [] : value.map((each) => cut(each, levels - 1));
  if (levels === 0) return {};
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, cut(each, levels - 1)]));
}
