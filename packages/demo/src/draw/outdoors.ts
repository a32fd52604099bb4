import type { SceneContext } from './look.ts';
import { circle, ellipse, group, path, polygon, rect } from './svg.ts';

export const WIDTH = 1200;
export const HEIGHT = 800;

/** A fill that runs from one colour at the top to another at the bottom. */
export function gradient(id: string, from: string, to: string): string {
  return `<linearGradient id="${id}" x1="0" y1="0" x2="0" y2="1"><stop stop-color="${from}"/><stop offset="1" stop-color="${to}"/></linearGradient>`;
}

/** The sky down to the horizon, with a few clouds. */
export function drawSky({ look, random, id }: SceneContext, horizon: number): string {
  const clouds = Array.from({ length: random.integer(2, 3) }, () => {
    const [x, y, size] = [
      random.between(60, 1140),
      random.between(50, horizon * 0.42),
      random.between(26, 52),
    ];
    return [
      ellipse(x, y, size * 2, size * 0.6),
      ellipse(x - size * 0.9, y + size * 0.18, size * 1.2, size * 0.42),
      ellipse(x + size * 0.8, y - size * 0.22, size, size * 0.55),
    ].join('');
  });
  return [
    gradient(`${id}sky`, ...look.sky),
    rect(0, 0, WIDTH, horizon + 2, { fill: `url(#${id}sky)` }),
    group(clouds, { fill: '#ffffff', 'fill-opacity': 0.72 }),
  ].join('');
}

/** A line of far woods or hills along the horizon. */
export function drawHorizon({ look, random }: SceneContext, horizon: number, height: number): string {
  const crown = (lift: number): string => {
    let line = `M0 ${horizon}V${horizon - height * lift}`;
    for (let x = 0; x < WIDTH; x += 100) {
      const rise = random.between(-0.22, 0.22) * height;
      line += `q50 ${-height * 0.3 + rise} 100 ${rise * 0.3}`;
    }
    return `${line}V${horizon}Z`;
  };
  const [dark, light] = look.leaves;
  return path(crown(0.62), { fill: light, opacity: 0.45 }) + path(crown(0.3), { fill: dark, opacity: 0.5 });
}

export function drawGround({ look, id }: SceneContext, horizon: number): string {
  return (
    gradient(`${id}grass`, ...look.grass) +
    rect(0, horizon, WIDTH, HEIGHT - horizon, { fill: `url(#${id}grass)` })
  );
}

/** A broad-leaved tree; in winter its branches. */
export function drawTree({ look, random }: SceneContext, x: number, base: number, size: number): string {
  const [dark, light] = look.leaves;
  const trunk = polygon(
    [
      x - size * 0.05,
      base,
      x + size * 0.05,
      base,
      x + size * 0.03,
      base - size * 0.6,
      x - size * 0.03,
      base - size * 0.6,
    ],
    { fill: '#6b5140' },
  );
  if (look.season === 'winter') {
    const limbs = [-0.34, -0.18, 0.02, 0.2, 0.36].map(
      (lean, index) =>
        `M${x} ${base - size * (0.32 + index * 0.05)}q${lean * size * 0.3} ${-size * 0.2} ${lean * size} ${-size * (0.42 + (index % 2) * 0.12)}`,
    );
    return trunk + path(limbs.join(''), { stroke: '#6b5140', 'stroke-width': size * 0.022, fill: 'none' });
  }
  const crown = [
    [0, -0.78, 0.3],
    [-0.22, -0.62, 0.24],
    [0.23, -0.6, 0.25],
    [0.02, -0.52, 0.28],
  ] as const;
  const blob = (shift: number, scale: number, fill: string): string =>
    group(
      crown.map(([dx, dy, r]) =>
        circle(
          x + (dx + shift) * size,
          base + (dy + shift) * size,
          r * size * scale * random.between(0.94, 1.06),
        ),
      ),
      { fill },
    );
  return trunk + blob(0, 1, dark) + blob(-0.05, 0.72, light);
}

export function drawConifer({ look }: SceneContext, x: number, base: number, size: number): string {
  const tiers = [0, 1, 2, 3].map((tier) => {
    const top = base - size + tier * size * 0.2;
    const half = size * (0.11 + tier * 0.055);
    return `M${x} ${top}l${half} ${size * 0.3}h${-2 * half}Z`;
  });
  const fill = look.season === 'winter' ? '#41675a' : '#33614a';
  return (
    rect(x - size * 0.025, base - size * 0.12, size * 0.05, size * 0.12, { fill: '#5f4a3a' }) +
    path(tiers.join(''), { fill })
  );
}

/** A row of bushes in front of a wall. */
export function drawShrubs({ look, random }: SceneContext, from: number, to: number, base: number): string {
  const bushes: string[] = [];
  for (let x = from; x < to; x += random.between(34, 58)) {
    const size = random.between(17, 30);
    bushes.push(
      ellipse(x, base - size * 0.5, size * 1.15, size * 0.8, {
        fill: look.leaves[random.integer(0, 1)] ?? '',
      }),
    );
  }
  return bushes.join('');
}

/** Rectangles given as x, y, width, height, in one path. */
export function boxes(list: readonly (readonly [number, number, number, number])[]): string {
  return list.map(([x, y, width, height]) => `M${x} ${y}h${width}v${height}h${-width}Z`).join('');
}

/** Windows with frame, glass and bars; one path of each for all of them. */
export function drawWindows(
  { look, id }: SceneContext,
  list: readonly (readonly [number, number, number, number])[],
): string {
  const frames = list.map(([x, y, width, height]) => [x - 5, y - 5, width + 10, height + 10] as const);
  const bars = list
    .map(([x, y, width, height]) => `M${x + width / 2} ${y}v${height}M${x} ${y + height * 0.45}h${width}`)
    .join('');
  const shine = list
    .map(([x, y, width, height]) => `M${x} ${y + height}L${x + width} ${y + height * 0.3}V${y + height}Z`)
    .join('');
  return [
    gradient(`${id}glass`, '#6d8ba3', '#b9d2e0'),
    path(boxes(frames), { fill: look.trim }),
    path(boxes(list), { fill: `url(#${id}glass)` }),
    path(shine, { fill: '#ffffff', opacity: 0.16 }),
    path(bars, { stroke: look.trim, 'stroke-width': 3.5, fill: 'none' }),
  ].join('');
}

/**
 * Level lines over a surface, `step` apart: boards, shingles or courses of brick.
 * The surface stands on `width` at its foot and on `top` at its head, both centred alike.
 */
export function courses(
  x: number,
  y: number,
  width: number,
  height: number,
  step: number,
  top = width,
): string {
  let lines = '';
  for (let down = step; down < height; down += step) {
    const wide = top + ((width - top) * down) / height;
    lines += `M${x + (width - wide) / 2} ${y + down}h${wide}`;
  }
  return lines;
}
