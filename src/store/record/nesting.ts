/**
 * How deep the values of a record may be nested. No record of the dictionary has more than ten levels; what is made to
 * have thousands would end whatever walks through it by recursion.
 */
const MOST_LEVELS = 64;

export const TOO_DEEP = `is nested more than ${MOST_LEVELS} levels deep`;

export const isTooDeep = (value: unknown): boolean => exceeds(value, MOST_LEVELS);

function exceeds(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((each) => exceeds(each, levels - 1));
  return Object.values(value).some((each) => exceeds(each, levels - 1));
}

/** The JSON text of a value that came as JSON; of one that is too deep, as much as shows that it is. */
export const jsonOf = (value: unknown): string =>
  JSON.stringify(isTooDeep(value) ? cut(value, MOST_LEVELS) : value) ?? 'null';

function cut(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return levels === 0 ? [] : value.map((each) => cut(each, levels - 1));
  if (levels === 0) return {};
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, cut(each, levels - 1)]));
}
