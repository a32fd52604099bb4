/**
 * How deep the values of a record may be nested. No record of the dictionary has more than ten levels; what is made to
 * have thousands would end whatever walks through it by recursion.
 */
const MOST_LEVELS = 64;

export const TOO_DEEP = `is nested more than ${MOST_LEVELS} levels deep`;

export const isTooDeep = (value: unknown): boolean => exceeds(value, MOST_LEVELS);

/** Every record is walked through: loops, since functions for each member take twice the time. */
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

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** The JSON text of a value that came as JSON; of one that is too deep, as much as shows that it is. */
export const jsonOf = (value: unknown): string =>
  JSON.stringify(isTooDeep(value) ? cut(value, MOST_LEVELS) : value) ?? 'null';

function cut(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return levels === 0 ? [] : value.map((each) => cut(each, levels - 1));
  if (levels === 0) return {};
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, cut(each, levels - 1)]));
}
