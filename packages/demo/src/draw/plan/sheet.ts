import type { Placed } from '../../plan/columns.ts';
import { type Floor, layoutFloors } from '../../plan/floors.ts';
import type { Side } from '../../plan/openings.ts';
import type { PlanRoom } from '../../plan/spaces.ts';
import type { FieldValues } from '../../values.ts';
import { amountOf, flagOf, wordOf, wordsOf } from '../facts.ts';
import { document, group, path, polygon, rect, text } from '../svg.ts';
import {
  DECK_DEPTH,
  drawFloor,
  fitLabels,
  GARAGE_DEPTH,
  type Labels,
  PORCH_DEPTH,
  type Sides,
  type Surroundings,
  sidesOf,
} from './floor.ts';
import { fittedText, type Label, placeNumber } from './labels.ts';
import { INK, PAPER, SOFT_INK } from './style.ts';

const SHEET = { width: 1400, height: 1000 };
const MARGIN = 46;
const TITLE_BLOCK = 92;
/** Between floors, and below each for its title; drawing units. */
const SPACING = 54;
const CAPTION = 40;

const NARROW = new Set(['Townhouse']);

/** A floor with what stands around it, feet. */
interface Piece {
  readonly floor: Floor;
  readonly around: Surroundings;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

function makePiece(floor: Floor, listing: FieldValues): Piece {
  const { layout, level } = floor;
  const entry = layout.spaces.some(({ zone }) => zone === 'entry');
  const narrow = NARROW.has(wordOf(listing, 'PropertySubType'));
  const house = wordsOf(listing, 'PatioAndPorchFeatures');
  const spaces = Math.min(3, amountOf(listing, 'GarageSpaces'));
  const garage = entry && !narrow && flagOf(listing, 'AttachedGarageYN') ? 4 + spaces * 9 : 0;
  const grounded = entry && level !== 'Basement' && !flagOf(listing, 'PropertyAttachedYN');
  const deck = grounded && house.includes('Deck');
  const porch = grounded && house.includes('Front Porch');
  const blind = new Set<Side>(narrow ? ['left', 'right'] : []);
  const above = Math.max(deck ? DECK_DEPTH : 0, garage > 0 ? GARAGE_DEPTH - layout.depth : 0);
  return {
    floor,
    around: { garage, deck, porch, blind },
    left: garage,
    top: above,
    width: layout.width + garage,
    height: layout.depth + above + (porch ? PORCH_DEPTH : 0),
  };
}

/** Sets pieces in rows of `columns`; gives the drawing units in a foot that fill what the legend leaves of the sheet. */
function scaleFor(pieces: readonly Piece[], columns: number, legend: number): number {
  const rows = Math.ceil(pieces.length / columns);
  const inRow = (row: number): readonly Piece[] => pieces.slice(row * columns, (row + 1) * columns);
  const widths = Array.from({ length: rows }, (_, row) =>
    inRow(row).reduce((sum, { width }) => sum + width, 0),
  );
  const heights = Array.from({ length: rows }, (_, row) =>
    Math.max(...inRow(row).map(({ height }) => height)),
  );
  const across = SHEET.width - 2 * MARGIN - (columns - 1) * SPACING;
  const down = SHEET.height - 2 * MARGIN - TITLE_BLOCK - legend - rows * CAPTION - (rows - 1) * (SPACING / 2);
  return Math.min(26, across / Math.max(...widths), down / heights.reduce((sum, height) => sum + height, 0));
}

function caption({ floor }: Piece): string {
  const { level, layout } = floor;
  const area = Math.round(layout.width * layout.depth)
    .toString()
    .replace(/(?<=\d)(?=(?:\d{3})+$)/g, ',');
  const names: Readonly<Record<string, string>> = {
    Main: 'Main level',
    Second: 'Second level',
    Third: 'Third level',
  };
  return `${names[level] ?? level}, ${area} sq ft`;
}

/** The rooms that are too small for a label on the plan, each under its number. */
interface Legend {
  readonly height: number;
  readonly entries: readonly string[];
}

const LEGEND_COLUMNS = 5;
const LEGEND_ROW = 17;
/** A building of very many rooms has a legend of smaller letters rather than no plan. */
const TALLEST_LEGEND = 340;

function legendHeight(entries: number): number {
  return Math.min(TALLEST_LEGEND, Math.ceil(entries / LEGEND_COLUMNS) * LEGEND_ROW);
}

/** How pieces stand on the sheet. */
interface Arrangement {
  readonly columns: number;
  /** Drawing units in a foot. */
  readonly foot: number;
  readonly legend: Legend;
  readonly labels: Labels;
}

/** The largest scale at which the pieces and the legend of what is then too small have room. */
function arrange(pieces: readonly Piece[], sides: Sides): Arrangement {
  for (let reserved = 0; ; ) {
    const choices = pieces
      .map((_, index) => index + 1)
      .map((columns) => ({ columns, foot: scaleFor(pieces, columns, reserved) }));
    const { columns, foot } = choices.reduce((a, b) => (b.foot > a.foot + 1e-9 ? b : a));
    const labels = new Map<Placed, Label>();
    const entries: string[] = [];
    for (const { floor } of pieces) {
      for (const [space, label] of fitLabels(floor.layout, sides, foot)) {
        const listed = sidesOf(space, sides);
        if (label === undefined) entries.push(listed === undefined ? space.name : `${space.name}, ${listed}`);
        labels.set(space, label ?? placeNumber(space, entries.length, foot));
      }
    }
    const needed = legendHeight(entries.length);
    if (needed <= reserved) return { columns, foot, legend: { height: reserved, entries }, labels };
    reserved = needed;
  }
}

function drawLegend({ height, entries }: Legend): string {
  const rows = Math.ceil(entries.length / LEGEND_COLUMNS);
  const row = Math.min(LEGEND_ROW, height / rows);
  const column = (SHEET.width - 2 * MARGIN) / LEGEND_COLUMNS;
  const top = SHEET.height - TITLE_BLOCK - 12 - rows * row;
  return group(
    entries.map((entry, index) =>
      fittedText(
        MARGIN + Math.floor(index / rows) * column,
        top + ((index % rows) + 0.75) * row,
        `${index + 1}  ${entry}`,
        { size: row * 0.72, width: column * 0.94 },
        { fill: INK },
      ),
    ),
    { 'text-anchor': 'start' },
  );
}

function placePieces(pieces: readonly Piece[], { columns, foot, legend, labels }: Arrangement): string[] {
  const drawn: string[] = [];
  const rows = Math.ceil(pieces.length / columns);
  const heights = Array.from({ length: rows }, (_, row) =>
    Math.max(...pieces.slice(row * columns, (row + 1) * columns).map(({ height }) => height * foot)),
  );
  const total =
    heights.reduce((sum, height) => sum + height, 0) + rows * CAPTION + (rows - 1) * (SPACING / 2);
  let y = (SHEET.height - TITLE_BLOCK - legend.height - total) / 2;
  for (let row = 0; row < rows; row++) {
    const inRow = pieces.slice(row * columns, (row + 1) * columns);
    const width = inRow.reduce((sum, piece) => sum + piece.width * foot, 0) + (inRow.length - 1) * SPACING;
    let x = (SHEET.width - width) / 2;
    const bottom = y + (heights[row] ?? 0);
    for (const piece of inRow) {
      const top = bottom - piece.height * foot;
      const at = `translate(${x + piece.left * foot} ${top + piece.top * foot})`;
      drawn.push(group([drawFloor(piece.floor.layout, piece.around, labels, foot)], { transform: at }));
      const middle = x + (piece.left + piece.floor.layout.width / 2) * foot;
      drawn.push(
        fittedText(
          middle,
          bottom + 30,
          caption(piece),
          { size: 17, width: piece.floor.layout.width * foot + SPACING * 0.8 },
          { fill: INK, 'font-weight': 600 },
        ),
      );
      x += piece.width * foot + SPACING;
    }
    y = bottom + CAPTION + SPACING / 2;
  }
  return drawn;
}

const BEARINGS: Readonly<Record<string, number>> = {
  North: 0,
  Northeast: 45,
  East: 90,
  Southeast: 135,
  South: 180,
  Southwest: 225,
  West: 270,
  Northwest: 315,
};

function northArrow(listing: FieldValues): string {
  // The front is at the foot of the sheet and faces the listed way.
  const front = BEARINGS[wordOf(listing, 'DirectionFaces')] ?? 180;
  return group(
    [
      `<circle r="24" fill="none" stroke="${SOFT_INK}"/>`,
      group(
        [
          polygon([0, -22, 7, 8, 0, 3], { fill: INK }),
          polygon([0, -22, -7, 8, 0, 3], { fill: PAPER, stroke: INK }),
        ],
        {
          transform: `rotate(${(180 - front + 360) % 360})`,
        },
      ),
      group([text(0, 0, 'N', { 'font-size': 12, fill: INK, 'font-weight': 700 })], {
        transform: `rotate(${(180 - front + 360) % 360}) translate(0 -28) rotate(${(front - 180) % 360})`,
      }),
    ],
    { transform: `translate(${SHEET.width - MARGIN - 40} ${SHEET.height - 52})` },
  );
}

function scaleBar(foot: number): string {
  const step = foot > 11 ? 5 : foot > 5 ? 10 : 20;
  const unit = step * foot;
  const x = SHEET.width - MARGIN - 110 - 3 * unit;
  const y = SHEET.height - 52;
  const blocks = [0, 1, 2].map((index) =>
    rect(x + index * unit, y, unit, 7, { fill: index % 2 === 0 ? INK : PAPER, stroke: INK }),
  );
  const marks = [0, 1, 2, 3].map((index) =>
    text(x + index * unit, y + 24, `${index * step}${index === 3 ? ' ft' : ''}`, {
      'font-size': 12,
      fill: SOFT_INK,
    }),
  );
  return group([...blocks, ...marks]);
}

function titleBlock(listing: FieldValues): string {
  const y = SHEET.height - TITLE_BLOCK - 6;
  const beds = amountOf(listing, 'BedroomsTotal');
  const baths = amountOf(listing, 'BathroomsTotalInteger');
  const facts = [
    wordOf(listing, 'PropertySubType'),
    ...(beds > 0 ? [`${beds} bedroom${beds === 1 ? '' : 's'}`] : []),
    ...(baths > 0 ? [`${baths} bath${baths === 1 ? '' : 's'}`] : []),
  ];
  const anchor = { 'text-anchor': 'start' };
  return group([
    path(`M${MARGIN} ${y}H${SHEET.width - MARGIN}`, { stroke: INK, 'stroke-width': 1.5 }),
    text(MARGIN, y + 34, `Floor plan  ${wordOf(listing, 'ListingId')}`, {
      'font-size': 24,
      fill: INK,
      'font-weight': 700,
      ...anchor,
    }),
    text(MARGIN, y + 58, facts.join(', '), { 'font-size': 15, fill: INK, ...anchor }),
    text(
      MARGIN,
      y + 78,
      'Dimensions are approximate; walls, doors and furniture are drawn for orientation.',
      { 'font-size': 12, fill: SOFT_INK, ...anchor },
    ),
  ]);
}

export interface ListedRoom {
  readonly key: string;
  readonly type: string;
  readonly level: string;
  readonly length: number;
  readonly width: number;
}

/** The floors of a listing as its plan shows them. */
export function planOf(rooms: readonly ListedRoom[], listing: FieldValues): Floor[] {
  const sized: PlanRoom[] = rooms.map(({ key, type, level, length, width }) => ({
    key,
    type,
    level,
    area: length * width,
  }));
  const units = Math.max(1, amountOf(listing, 'NumberOfUnitsTotal'));
  return layoutFloors(sized, {
    baths: amountOf(listing, 'BathroomsTotalInteger') / units,
    narrow: NARROW.has(wordOf(listing, 'PropertySubType')),
  });
}

/**
 * Draws the floor plan of a listing: every listed room with its sides, laid out floor by floor.
 * It shows neither address nor price, so that whoever may see the plan learns nothing else.
 */
export function drawFloorPlan(rooms: readonly ListedRoom[], listing: FieldValues): string {
  const pieces = planOf(rooms, listing).map((floor) => makePiece(floor, listing));
  const sides: Sides = new Map(rooms.map(({ key, length, width }) => [key, [length, width]]));
  const arrangement = arrange(pieces, sides);
  return document(SHEET.width, SHEET.height, [
    rect(0, 0, SHEET.width, SHEET.height, { fill: PAPER }),
    group(
      [
        ...placePieces(pieces, arrangement),
        drawLegend(arrangement.legend),
        titleBlock(listing),
        scaleBar(arrangement.foot),
        northArrow(listing),
      ],
      { 'font-family': 'Helvetica, Arial, sans-serif', 'text-anchor': 'middle' },
    ),
  ]);
}
