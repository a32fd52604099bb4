import type { Placed } from '../../plan/columns.ts';
import type { Zone } from '../../plan/spaces.ts';
import { type Attributes, text } from '../svg.ts';
import { floorColor, INK, SOFT_INK } from './style.ts';

/** Mean width of a letter as a part of the font size. */
const LETTER = 0.57;
const LARGEST = 15;
const SMALLEST = 6.5;

/** `12' 6"` */
export function feetAndInches(feet: number): string {
  const inches = Math.round(feet * 12);
  const rest = inches % 12;
  return rest === 0 ? `${inches / 12}'` : `${Math.floor(inches / 12)}' ${rest}"`;
}

/** The lines of a name: as it is, or a word a line where it is narrow. */
function linesOf(name: string, width: number): string[] {
  const fits = name.length * LETTER * 10 <= width;
  return fits ? [name] : name.split(' ');
}

/** What furniture at the outer wall leaves free, as parts of the height from that wall. */
const FREE: Partial<Record<Zone, number>> = { bedroom: 0.74, living: 0.66, study: 0.66, service: 0.68 };

/** Name and sides of a space, as large as it has room for. */
export function drawLabel(
  space: Placed,
  sides: string | undefined,
  wallInFront: boolean,
  foot: number,
): string {
  const [width, height] = [space.width * foot, space.height * foot];
  const upright = height > width * 1.9 && width < space.name.length * LETTER * 11;
  const [along, across] = upright ? [height, width] : [width, height];
  const words = upright ? [space.name] : linesOf(space.name, along * 0.9);
  const lines = sides === undefined ? words : [...words, sides];
  const longest = Math.max(
    ...words.map((word) => word.length),
    sides === undefined ? 0 : sides.length * 0.82,
  );
  const size = Math.max(
    SMALLEST,
    Math.min(LARGEST, (along * 0.9) / (longest * LETTER), (across * 0.86) / (lines.length * 1.18)),
  );
  const free = upright ? 0.5 : (FREE[space.zone] ?? 0.5);
  const x = space.x * foot + width / 2;
  const y = space.y * foot + height * (wallInFront ? 1 - free : free);
  const first = y - ((lines.length - 1) * size * 1.15) / 2 + size * 0.35;
  const turn: Attributes = upright ? { transform: `rotate(-90 ${x} ${y})` } : {};
  const halo = { stroke: floorColor(space.zone), 'stroke-width': 3, 'paint-order': 'stroke' };
  return lines
    .map((line, index) => {
      const isSides = sides !== undefined && index === lines.length - 1;
      return text(x, first + index * size * 1.15, line, {
        'font-size': isSides ? size * 0.82 : size,
        fill: isSides ? SOFT_INK : INK,
        ...halo,
        ...turn,
      });
    })
    .join('');
}
