import type { Placed } from '../../plan/columns.ts';
import { circle, ellipse, group, path, rect } from '../svg.ts';
import { FURNITURE, PAPER } from './style.ts';

/** A space in drawing units with the wall that its furniture stands at. */
interface Place {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Drawing units in a foot. */
  readonly foot: number;
}

const LIGHT = { fill: PAPER, 'fill-opacity': 0.75 };
/** Room between furniture and wall, feet. */
const GAP = 0.4;

type Draw = (place: Place) => string[];

const bed: Draw = ({ x, width, y, foot }) => {
  const wide = Math.min(5, width / foot - 2.4) * foot;
  const long = 6.6 * foot;
  const left = x + (width - wide) / 2;
  const top = y + GAP * foot;
  const pillow = wide * 0.4;
  return [
    rect(left, top, wide, long, { rx: 3, ...LIGHT }),
    rect(left + wide * 0.07, top + 0.35 * foot, pillow, 1.2 * foot, { rx: 3 }),
    rect(left + wide * 0.53, top + 0.35 * foot, pillow, 1.2 * foot, { rx: 3 }),
    path(`M${left} ${top + 2.3 * foot}h${wide}`),
    ...[left - 1.7 * foot, left + wide + 0.2 * foot]
      .filter((side) => side > x + foot * 0.3 && side + 1.5 * foot < x + width - foot * 0.3)
      .map((side) => rect(side, top, 1.5 * foot, 1.4 * foot, LIGHT)),
  ];
};

const sofa: Draw = ({ x, y, width, height, foot }) => {
  const long = Math.min(7, width / foot - 3) * foot;
  const left = x + (width - long) / 2;
  const top = y + GAP * foot;
  const rug = Math.min(6.5 * foot, height - 4.5 * foot);
  return [
    rect(left - foot * 0.6, top + 2.2 * foot, long + foot * 1.2, Math.max(foot, rug), {
      fill: 'none',
      'stroke-dasharray': '3 3',
    }),
    rect(left, top, long, 3 * foot, { rx: 5, ...LIGHT }),
    rect(left + 0.5 * foot, top + 0.9 * foot, long - foot, 2.1 * foot, { rx: 3 }),
    path(`M${left + long / 2} ${top + 0.9 * foot}v${2.1 * foot}`),
  ];
};

const table: Draw = ({ x, y, width, height, foot }) => {
  const long = Math.min(6, width / foot - 4) * foot;
  const wide = Math.min(3.2 * foot, height * 0.3);
  const left = x + (width - long) / 2;
  const top = y + Math.max(2 * foot, height * 0.16);
  const chairs = [0.2, 0.5, 0.8].flatMap((at) => [
    circle(left + long * at, top - 0.75 * foot, 0.7 * foot, LIGHT),
    circle(left + long * at, top + wide + 0.75 * foot, 0.7 * foot, LIGHT),
  ]);
  return [...chairs, rect(left, top, long, wide, { rx: 4, fill: PAPER })];
};

const kitchen: Draw = ({ x, y, width, height, foot }) => {
  const deep = 2 * foot;
  const right = x + width;
  const side = Math.min(height * 0.55, 8 * foot);
  const stove = x + width * 0.3;
  const sink = x + width * 0.62;
  const rings = [0.55, 1.45].flatMap((dx) =>
    [0.55, 1.4].map((dy) => circle(stove - foot + dx * foot, y + dy * foot, 0.3 * foot)),
  );
  const island =
    width * height > 190 * foot * foot && height > 12 * foot
      ? [
          rect(x + width * 0.36, y + 5 * foot, Math.min(5.5 * foot, width * 0.34), 2.2 * foot, {
            rx: 2,
            ...LIGHT,
          }),
        ]
      : [];
  return [
    path(`M${x} ${y}H${right}V${y + side}h${-deep}V${y + deep}H${x}Z`, LIGHT),
    rect(stove - foot, y, 2 * foot, deep),
    ...rings,
    rect(sink - 1.3 * foot, y + 0.35 * foot, 1.2 * foot, 1.25 * foot, { rx: 3 }),
    rect(sink, y + 0.35 * foot, 1.2 * foot, 1.25 * foot, { rx: 3 }),
    rect(right - deep, y + side - 2.6 * foot, deep, 2.6 * foot),
    path(`M${right - deep} ${y + side - 2.6 * foot}l${deep} ${2.6 * foot}`),
    ...island,
  ];
};

/** Drawn for a bath that is longer than wide; the caller turns it. */
const bath: Draw = ({ x, y, width, height, foot }) => {
  const tub = height > 6.6 * foot ? 2.6 * foot : 0;
  const rest = height - tub;
  const deep = Math.min(1.7 * foot, width * 0.36);
  const bowl = y + tub + rest * 0.28;
  const basin = y + tub + rest * 0.68;
  const edge = 0.15 * foot;
  return [
    ...(tub === 0
      ? []
      : [
          rect(x + edge, y + edge, width - 2 * edge, tub - edge, LIGHT),
          rect(x + 0.5 * foot, y + 0.5 * foot, width - foot, tub - foot, { rx: 0.7 * foot }),
        ]),
    rect(x + edge, bowl - 0.75 * foot, 0.6 * foot, 1.5 * foot, LIGHT),
    ellipse(x + edge + 1.3 * foot, bowl, 0.8 * foot, 0.6 * foot, LIGHT),
    rect(x + edge, basin - Math.min(1.2 * foot, rest * 0.2), deep, Math.min(2.4 * foot, rest * 0.4), LIGHT),
    circle(x + edge + deep / 2, basin, 0.5 * foot),
  ];
};

/** Fourteen steps climb a floor; what is left of a long flight is its landing. */
const stairs: Draw = ({ x, y, width, height, foot }) => {
  const going = 0.85 * foot;
  const steps = Math.min(14, Math.floor(height / going) - 1);
  const treads = Array.from({ length: steps }, (_, step) => `M${x} ${y + (step + 1) * going}h${width}`);
  const end = y + (steps + 0.5) * going;
  const head = `m${-0.4 * foot} ${-0.7 * foot}l${0.4 * foot} ${0.7 * foot}l${0.4 * foot} ${-0.7 * foot}`;
  return [
    path(treads.join('')),
    path(`M${x + width / 2} ${y + 0.5 * going}V${end}${head}`, { stroke: '#7c776c' }),
  ];
};

const closet: Draw = ({ x, y, width, height }) => [
  path(width > height ? `M${x} ${y + height / 2}h${width}` : `M${x + width / 2} ${y}v${height}`, {
    'stroke-dasharray': '4 3',
  }),
];

const laundry: Draw = ({ x, y, foot, width }) => {
  const side = Math.min(2.3 * foot, width * 0.42);
  return [0, 1].flatMap((index) => {
    const left = x + 0.3 * foot + index * (side + 0.2 * foot);
    return [
      rect(left, y + 0.3 * foot, side, side, LIGHT),
      circle(left + side / 2, y + 0.3 * foot + side / 2, side * 0.33),
    ];
  });
};

const desk: Draw = ({ x, y, width, foot }) => {
  const long = Math.min(5, width / foot - 1.5) * foot;
  const left = x + (width - long) / 2;
  return [
    rect(left, y + GAP * foot, long, 2.2 * foot, LIGHT),
    circle(left + long / 2, y + 3.5 * foot, 0.8 * foot, LIGHT),
  ];
};

const heater: Draw = ({ x, y, width, foot }) => [
  circle(x + 1.3 * foot, y + 1.3 * foot, 0.95 * foot, LIGHT),
  ...(width > 5 * foot ? [rect(x + 2.6 * foot, y + 0.4 * foot, 1.9 * foot, 1.9 * foot, LIGHT)] : []),
];

const bench: Draw = ({ x, y, width, foot }) => [
  rect(x + foot, y + 0.3 * foot, width - 2 * foot, 2.4 * foot, LIGHT),
];

function drawingOf({ name, zone }: Placed): Draw | undefined {
  switch (zone) {
    case 'living':
      return name === 'Kitchen' ? kitchen : name === 'Dining Room' ? table : sofa;
    case 'bedroom':
      return bed;
    case 'study':
      return name === 'Workshop' ? bench : ['Office', 'Den', 'Library'].includes(name) ? desk : sofa;
    case 'service':
      return name === 'Laundry' ? laundry : heater;
    case 'bath':
    case 'ensuite':
      return bath;
    case 'closet':
      return closet;
    case 'stairs':
      return stairs;
    case 'hall':
    case 'entry':
      return undefined;
  }
}

/** Which walls the furniture of a space keeps to: those away from its door. */
export interface Stand {
  /** At the wall to the front of the house instead of the one to the back. */
  readonly front: boolean;
  /** Begun at the right end instead of the left one. */
  readonly right: boolean;
}

/** The furniture of a space, drawn once for the back left corner and mirrored. `foot` is drawing units in a foot. */
export function drawFurniture(space: Placed, { front, right }: Stand, foot: number): string {
  const draw = drawingOf(space);
  if (draw === undefined) return '';
  const inner = 0.2 * foot;
  const left = space.x * foot + inner;
  const top = space.y * foot + inner;
  const width = space.width * foot - 2 * inner;
  const height = space.height * foot - 2 * inner;
  const turned = draw === bath && width > height;
  const place = turned
    ? { x: 0, y: 0, width: height, height: width, foot }
    : { x: 0, y: 0, width, height, foot };
  const [across, down] = [right ? -1 : 1, front ? -1 : 1];
  const matrix = turned ? [0, down, across, 0] : [across, 0, 0, down];
  const corner = [right ? left + width : left, front ? top + height : top];
  return group(draw(place), {
    stroke: FURNITURE,
    'stroke-width': 1.1,
    fill: 'none',
    transform: `matrix(${matrix.join(' ')} ${corner.join(' ')})`,
  });
}
