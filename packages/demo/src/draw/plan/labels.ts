/**
 * Where the labels of a floor plan stand. A label lies within the walls of its space, so that no two of them cross: its
 * name and sides as large as there is room for, else a shorter name, else a number that the legend of the sheet explains.
 */
import type { Placed } from '../../plan/columns.ts';
import type { Zone } from '../../plan/spaces.ts';
import { type Attributes, text } from '../svg.ts';
import { floorColor, INK, INNER_WALL, OUTER_WALL, SOFT_INK } from './style.ts';
import { ABOVE, BELOW, textWidth } from './text-width.ts';

const LARGEST = 15;
/** The smallest sizes that are read on the whole sheet: of a name as it is listed, and of a shorter one. */
const READABLE = 7.5;
const SMALLEST = 6.5;
/** The size of the sides beside that of the name. */
const SIDES = 0.82;
const LINE = 1.15;
/** Between a label and the walls, drawing units: the halo that keeps furniture off the letters. */
const HALO = 1.5;

/** `12' 6"` */
export function feetAndInches(feet: number): string {
  const inches = Math.round(feet * 12);
  const rest = inches % 12;
  return rest === 0 ? `${inches / 12}'` : `${Math.floor(inches / 12)}' ${rest}"`;
}

/** Words that are understood when they are shortened, and those that a plan does without. */
const SHORT: Readonly<Record<string, string>> = {
  Bathroom: 'Bath',
  Bedroom: 'Bed',
  Master: 'M.',
  Recreation: 'Rec.',
  Utility: 'Util.',
  Laundry: 'Lndry',
  Room: '',
};

function shortened(name: string): string {
  return name
    .split(' ')
    .map((word) => SHORT[word] ?? word)
    .filter((word) => word !== '')
    .join(' ');
}

/** One line of a label: where its middle stands on its base line. */
interface Line {
  readonly text: string;
  readonly size: number;
  readonly x: number;
  readonly y: number;
  readonly soft: boolean;
}

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A label in its place, in drawing units from the back left corner of the floor. */
export interface Label {
  readonly space: Placed;
  readonly lines: readonly Line[];
  /** Around this point the lines are turned to read upwards. */
  readonly upright?: { readonly x: number; readonly y: number };
  /** What the letters cover. */
  readonly box: Box;
}

/** What furniture at the outer wall leaves free, as parts of the height from that wall. */
const FREE: Partial<Record<Zone, number>> = { bedroom: 0.74, living: 0.66, study: 0.66, service: 0.68 };

/** What lies between the walls of a space; the halo of a label may reach so far. */
export function withinWalls(space: Box, foot: number): Box {
  const inset = (Math.max(OUTER_WALL, INNER_WALL) / 2) * foot;
  return {
    x: space.x * foot + inset,
    y: space.y * foot + inset,
    width: Math.max(0, space.width * foot - 2 * inset),
    height: Math.max(0, space.height * foot - 2 * inset),
  };
}

/** The lines of a label with their sizes beside that of the name. */
type Lines = readonly (readonly [text: string, scale: number])[];

/** Width and height of lines whose name has a font size of 1. */
function extentOf(lines: Lines): readonly [number, number] {
  const width = Math.max(...lines.map(([line, scale]) => textWidth(line, scale)));
  return [width, (lines.length - 1) * LINE + ABOVE + BELOW];
}

const clamp = (value: number, low: number, high: number): number => Math.max(low, Math.min(high, value));

/** Sets lines into a space around the point that furniture leaves free. */
function setLines(
  space: Placed,
  lines: Lines,
  { turned, free, foot, size }: { turned: boolean; free: number; foot: number; size: number },
): Label {
  const room = withinWalls(space, foot);
  const [wide, high] = extentOf(lines).map((extent) => extent * size);
  const [width = 0, height = 0] = turned ? [high, wide] : [wide, high];
  const middle = space.y * foot + space.height * foot * free;
  const x = room.x + (room.width - width) / 2;
  const y = clamp(middle - height / 2, room.y + HALO, room.y + room.height - height - HALO);
  const center = { x: x + width / 2, y: y + height / 2 };
  const top = center.y - (high ?? 0) / 2;
  return {
    space,
    lines: lines.map(([line, scale], index) => ({
      text: line,
      size: size * scale,
      x: center.x,
      y: top + (ABOVE + index * LINE) * size,
      soft: scale < 1,
    })),
    ...(turned ? { upright: center } : {}),
    box: { x, y, width, height },
  };
}

/** The largest size at which lines stay within the walls. */
function sizeFor(space: Placed, lines: Lines, turned: boolean, foot: number): number {
  const room = withinWalls(space, foot);
  const [along, across] = turned ? [room.height, room.width] : [room.width, room.height];
  const [width, height] = extentOf(lines);
  return Math.min(LARGEST, (along - 2 * HALO) / width, (across - 2 * HALO) / height);
}

/** A name in one line, or a word a line. */
function* breaks(name: string): Generator<readonly string[]> {
  yield [name];
  const words = name.split(' ');
  if (words.length > 1) yield words;
}

/**
 * Places the name of a space, with its sides where it has some.
 * @returns undefined where the space is too small for both: it then gets a number
 */
export function placeLabel(
  space: Placed,
  sides: string | undefined,
  wallInFront: boolean,
  foot: number,
): Label | undefined {
  const below: Lines = sides === undefined ? [] : [[sides, SIDES]];
  for (const [name, least] of [
    [space.name, READABLE],
    [shortened(space.name), SMALLEST],
  ] as const) {
    if (name === '') continue;
    let best: Label | undefined;
    let reached = least;
    for (const turned of [false, true]) {
      for (const words of breaks(name)) {
        const lines: Lines = [...words.map((word) => [word, 1] as const), ...below];
        // Another form is taken only where it reads clearly better than the plainer one.
        const size = sizeFor(space, lines, turned, foot);
        if (size < reached) continue;
        const part = turned ? 0.5 : (FREE[space.zone] ?? 0.5);
        best = setLines(space, lines, { turned, free: wallInFront ? 1 - part : part, foot, size });
        reached = size * 1.25;
      }
    }
    if (best !== undefined) return best;
  }
  return undefined;
}

/** Places the number under which the legend tells of a space, however small that is. */
export function placeNumber(space: Placed, number: number, foot: number): Label {
  const lines: Lines = [[number.toString(), 1]];
  const size = Math.max(0.1, sizeFor(space, lines, false, foot));
  return setLines(space, lines, { turned: false, free: 0.5, foot, size: Math.min(size, 10) });
}

/** A text that keeps its width in any font. */
function fixedText(x: number, y: number, content: string, size: number, more: Attributes): string {
  return text(x, y, content, {
    'font-size': size,
    textLength: textWidth(content, size),
    lengthAdjust: 'spacingAndGlyphs',
    ...more,
  });
}

/** A text of this size, or as much smaller as the width requests. */
export function fittedText(
  x: number,
  y: number,
  content: string,
  { size, width }: { readonly size: number; readonly width: number },
  more: Attributes,
): string {
  return fixedText(x, y, content, Math.min(size, (size * width) / textWidth(content, size)), more);
}

export function drawLabel({ space, lines, upright }: Label): string {
  const turn: Attributes =
    upright === undefined ? {} : { transform: `rotate(-90 ${upright.x} ${upright.y})` };
  const halo = { stroke: floorColor(space.zone), 'stroke-width': 2 * HALO, 'paint-order': 'stroke' };
  return lines
    .map((line) =>
      fixedText(line.x, line.y, line.text, line.size, {
        fill: line.soft ? SOFT_INK : INK,
        ...halo,
        ...turn,
      }),
    )
    .join('');
}
