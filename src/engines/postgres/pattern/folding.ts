import { holds, type Ranges, union } from './ranges.ts';

/** Characters beyond this have no capitals. */
const LAST_FOLDED = 0x1e943;
/** Whose capital is another letter's: no simple folding joins it to that one (Unicode, CaseFolding). */
const DOTLESS_I = 0x131;

let made: ReadonlyMap<number, readonly number[]> | undefined;

/** Characters that differ in case alone, each with all of its kind. Found once, from what JavaScript knows. */
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

/** The other case of a character, unless that is more than one character. */
function single(character: string, change: 'toUpperCase' | 'toLowerCase'): string {
  const changed = character[change]();
  return [...changed].length === 1 ? changed : character;
}

/** The characters of a class, and those that differ from one of them in case alone. */
export function foldRanges(ranges: Ranges): Ranges {
  const more: [number, number][] = [];
  for (const [point, group] of orbits()) {
    if (holds(ranges, point)) more.push(...group.map((each): [number, number] => [each, each]));
  }
  return union([...ranges, ...more]);
}
