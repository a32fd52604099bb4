import { wordsOf } from './facts.ts';
import type { SceneContext } from './look.ts';
import { gradient, HEIGHT, WIDTH } from './outdoors.ts';
import { circle, ellipse, group, path, polygon, rect } from './svg.ts';

/** The back wall of a room seen from the front; side walls, floor and ceiling run to the edges. */
interface BackWall {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

type FloorKind = 'boards' | 'tiles' | 'carpet';

const VANISH_X = 600;

/** Boards run to the vanishing point; tiles have level joints besides. */
function floorLines(wall: BackWall, kind: FloorKind, color: string): string {
  if (kind === 'carpet') return '';
  let lines = '';
  const count = kind === 'boards' ? 16 : 10;
  for (let line = 1; line < count; line++) {
    const far = wall.left + ((wall.right - wall.left) * line) / count;
    const near = VANISH_X + (far - VANISH_X) * (WIDTH / (wall.right - wall.left)) * 1.25;
    lines += `M${far} ${wall.bottom}L${near} ${HEIGHT}`;
  }
  if (kind === 'tiles') {
    for (let row = 1; row < 6; row++) {
      const y = wall.bottom + (HEIGHT - wall.bottom) * (row / 6) ** 1.5;
      lines += `M0 ${y}H${WIDTH}`;
    }
  }
  return path(lines, { stroke: color, 'stroke-width': 2, opacity: kind === 'boards' ? 0.55 : 0.4 });
}

/** Walls, floor, ceiling and skirting of a room. */
export function drawShell({ look, id }: SceneContext, wall: BackWall, kind: FloorKind): string {
  const { left, right, top, bottom } = wall;
  const [light, dark] =
    kind === 'boards'
      ? look.floor
      : kind === 'tiles'
        ? (['#dfe3e4', '#a9b2b5'] as const)
        : (['#d8d0c4', '#b9b0a3'] as const);
  return [
    gradient(`${id}floor`, dark, light),
    gradient(`${id}wall`, look.wall[0], look.wall[1]),
    polygon([0, HEIGHT, left, bottom, right, bottom, WIDTH, HEIGHT], { fill: `url(#${id}floor)` }),
    floorLines(wall, kind, dark),
    polygon([0, 0, WIDTH, 0, right, top, left, top], { fill: '#fbfaf7' }),
    polygon([0, 0, left, top, left, bottom, 0, HEIGHT], { fill: look.wall[1] }),
    polygon([WIDTH, 0, right, top, right, bottom, WIDTH, HEIGHT], { fill: look.wall[1] }),
    rect(left, top, right - left, bottom - top, { fill: `url(#${id}wall)` }),
    path(`M0 ${HEIGHT - 16}L${left} ${bottom - 8}H${right}L${WIDTH} ${HEIGHT - 16}`, {
      fill: 'none',
      stroke: '#ffffff',
      'stroke-width': 12,
      opacity: 0.9,
    }),
  ].join('');
}

/** A room whose back wall is drawn a little differently each time. */
export function drawBackWall({ random }: SceneContext): BackWall {
  const shift = random.integer(-30, 30);
  return {
    left: 210 + shift,
    right: 990 + shift,
    top: random.integer(96, 120),
    bottom: random.integer(540, 566),
  };
}

/** A window with what lies outside; `curtain` is the colour of its curtains, if it has any. */
export function drawRoomWindow(
  { look, listing, random }: SceneContext,
  x: number,
  y: number,
  width: number,
  height: number,
  curtain?: string,
): string {
  const water = wordsOf(listing, 'View').includes('Lake');
  const ground = y + height * 0.66;
  const hills = `M${x} ${ground}q${width * 0.3} ${-height * random.between(0.12, 0.26)} ${width * 0.55} 0t${width * 0.45} 0Z`;
  const panel = width * 0.17;
  return [
    rect(x - 12, y - 12, width + 24, height + 24, { fill: '#ffffff' }),
    rect(x, y, width, height, { fill: look.sky[1] }),
    rect(x, y, width, height * 0.4, { fill: look.sky[0], opacity: 0.55 }),
    path(hills, { fill: look.leaves[1], opacity: 0.7 }),
    rect(x, ground, width, y + height - ground, { fill: water ? '#7fb0c9' : look.grass[0] }),
    circle(x + width * 0.78, ground - height * 0.1, height * 0.15, { fill: look.leaves[0], opacity: 0.8 }),
    path(`M${x + width / 2} ${y}v${height}M${x} ${y + height / 2}h${width}`, {
      stroke: '#ffffff',
      'stroke-width': 6,
    }),
    rect(x - 20, y + height + 10, width + 40, 10, { fill: '#f2efe9' }),
    ...(curtain === undefined
      ? []
      : [
          rect(x - 46, y - 34, width + 92, 7, { fill: '#7b6a58' }),
          path(
            [x - 36, x + width + 36 - panel]
              .map(
                (side) =>
                  `M${side} ${y - 30}h${panel}q-8 ${height * 0.6} 4 ${height + 70}h${-panel - 4}q8 ${-height * 0.6} 0 ${-height - 70}Z`,
              )
              .join(''),
            { fill: curtain, opacity: 0.92 },
          ),
        ]),
  ].join('');
}

/** A framed picture. */
export function drawPicture(
  { look, random }: SceneContext,
  x: number,
  y: number,
  width: number,
  height: number,
): string {
  const sun = random.between(0.25, 0.75);
  return [
    rect(x - 7, y - 7, width + 14, height + 14, { fill: '#4c4038' }),
    rect(x, y, width, height, { fill: '#f3eee4' }),
    circle(x + width * sun, y + height * 0.36, height * 0.16, { fill: look.accent }),
    path(
      `M${x} ${y + height * 0.72}q${width * 0.25} ${-height * 0.3} ${width * 0.5} 0t${width * 0.5} 0V${y + height}H${x}Z`,
      { fill: look.second, opacity: 0.8 },
    ),
  ].join('');
}

/** A plant in a pot. */
export function drawPlant({ look }: SceneContext, x: number, base: number, size: number): string {
  const leaves = [-0.5, -0.28, -0.05, 0.18, 0.42].map(
    (lean) =>
      `M${x} ${base - size * 0.3}q${lean * size * 0.5} ${-size * 0.5} ${lean * size} ${-size * (0.95 - Math.abs(lean) * 0.5)}q${-lean * size * 0.1 + size * 0.12} ${size * 0.4} ${-lean * size} ${size * (0.95 - Math.abs(lean) * 0.5)}Z`,
  );
  return [
    path(leaves.join(''), { fill: '#4f8a58' }),
    polygon(
      [
        x - size * 0.2,
        base - size * 0.32,
        x + size * 0.2,
        base - size * 0.32,
        x + size * 0.14,
        base,
        x - size * 0.14,
        base,
      ],
      { fill: look.accent },
    ),
  ].join('');
}

/** A lamp on a table or on a foot. */
export function drawLamp(x: number, base: number, height: number): string {
  return [
    path(`M${x} ${base}V${base - height}`, { stroke: '#6f6257', 'stroke-width': 5 }),
    ellipse(x, base, height * 0.12 + 8, 5, { fill: '#6f6257' }),
    polygon(
      [
        x - 20,
        base - height + 4,
        x + 20,
        base - height + 4,
        x + 34,
        base - height + 48,
        x - 34,
        base - height + 48,
      ],
      { fill: '#f6e7c4' },
    ),
    ellipse(x, base - height + 30, 70, 44, { fill: '#ffdf9a', opacity: 0.3 }),
  ].join('');
}

/** Lamps that hang from the ceiling. */
export function drawPendants({ look }: SceneContext, places: readonly number[], length: number): string {
  return group(
    places.map((x) =>
      [
        path(`M${x} 0V${length}`, { stroke: '#5a5f66', 'stroke-width': 3 }),
        path(`M${x - 30} ${length + 36}q4 -38 30 -40q26 2 30 40Z`, { fill: look.accent }),
        ellipse(x, length + 36, 30, 5, { fill: '#fdf2cf' }),
      ].join(''),
    ),
  );
}

/** A rug lying on the floor. */
export function drawRug({ look }: SceneContext, x: number, y: number, width: number, depth: number): string {
  const slant = depth * 0.6;
  return [
    polygon([x + slant, y, x + width - slant, y, x + width, y + depth, x, y + depth], {
      fill: look.second,
      opacity: 0.85,
    }),
    polygon(
      [
        x + slant + 14,
        y + 9,
        x + width - slant - 14,
        y + 9,
        x + width - 28,
        y + depth - 11,
        x + 28,
        y + depth - 11,
      ],
      { fill: 'none', stroke: '#ffffff', 'stroke-width': 4, opacity: 0.6 },
    ),
  ].join('');
}
