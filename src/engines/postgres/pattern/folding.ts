import { holds, type Ranges, union } from './ranges.ts';

/** Later characters have no upper case. */
const LAST_FOLDED = 0x1e943;
/** Its upper case is that of another letter, but simple case folding does not equate the two (Unicode, CaseFolding). */
const DOTLESS_I = 0x131;

let made: ReadonlyMap<number, readonly number[]> | undefined;

/** Groups of characters that differ only in case, derived once from JavaScript's case conversions. */
function orbits(): ReadonlyMap<number, readonly number[]> {
  if (made !== undefined) return made;
  const groups = new Map<string, number[]>();
  for (let point = 1; point <= LAST_FOLDED; point++) {
    if (point === DOTLESS_I || (point >= 0xd800 && point <= 0xdfff)) continue;
    const character = String.fromCodePoint(point);
    const folded = single(single(character, 'toUpperCase'), 'toLowerCase');
    const group = groups.get(folded);
    if (group === undefined) groups.set(folded, [point]);
    else group.push(point);
  }
  const found = new Map<number, readonly number[]>();
  for (const group of groups.values()) {
    if (group.length > 1) for (const point of group) found.set(point, group);
  }
  made = found;
  return found;
}

/** The other case of a character, if that is a single character. */
function single(character: string, change: 'toUpperCase' | 'toLowerCase'): string {
  const changed = character[change]();
  return [...changed].length === 1 ? changed : character;
}

/** The characters of a class, and those that differ from one of them only in case. */
export function foldRanges(ranges: Ranges): Ranges {
  const more: [number, number][] = [];
  for (const [point, group] of orbits()) {
    if (holds(ranges, point)) more.push(...group.map((each): [number, number] => [each, each]));
  }
  return union([...ranges, ...more]);
}
