import { flagOf, wordsOf } from '../facts.ts';
import type { SceneContext } from '../look.ts';
import {
  courses,
  drawConifer,
  drawGround,
  drawHorizon,
  drawShrubs,
  drawSky,
  drawTree,
  drawWindows,
  gradient,
} from '../outdoors.ts';
import { attributes, circle, ellipse, group, path, polygon, rect } from '../svg.ts';

function drawFence(y: number): string {
  const boards = { stroke: '#c6a77d', 'stroke-width': 80, 'stroke-dasharray': '27 4' };
  const rails = { stroke: '#a3855d', 'stroke-width': 7 };
  return path(`M0 ${y - 34}h1200`, boards) + path(`M0 ${y - 52}h1200M0 ${y - 14}h1200`, rails);
}

/** Behind the house: terrace or deck, lawn, beds, and a pool where there is one. */
export function drawGarden(scene: SceneContext): string {
  const { look, random, listing } = scene;
  const horizon = 430;
  const flowers = Array.from({ length: 26 }, () =>
    circle(random.between(20, 1180), random.between(horizon + 12, horizon + 46), random.between(5, 9), {
      fill: random.pick([look.accent, look.second, '#f2d35e', '#f5f1ea']),
    }),
  );
  const pool = flagOf(listing, 'PoolPrivateYN');
  const table = random.integer(700, 820);
  return [
    drawSky(scene, horizon),
    drawHorizon(scene, horizon, 110),
    drawGround(scene, horizon),
    drawTree(scene, random.between(520, 640), horizon + 10, 270),
    drawConifer(scene, random.between(900, 1120), horizon + 4, 300),
    drawFence(horizon + 8),
    drawShrubs(scene, 330, 1200, horizon + 34),
    ...(look.season === 'winter' ? [] : flowers),
    polygon([0, 60, 300, 150, 300, 470, 0, 560], { fill: look.siding[0] }),
    path(courses(0, 80, 300, 440, 18), { stroke: look.siding[1], 'stroke-width': 2 }),
    polygon([0, 10, 330, 128, 330, 158, 0, 66], { fill: look.roof[1] }),
    drawWindows(scene, [[150, 240, 96, 190]]),
    ...(pool
      ? [
          polygon([420, 560, 1010, 560, 1130, 690, 380, 690], { fill: '#e6e1d6' }),
          gradient(`${scene.id}pool`, '#6cc3d8', '#3a9cc0'),
          polygon([450, 574, 985, 574, 1078, 674, 420, 674], { fill: `url(#${scene.id}pool)` }),
          path('M520 610q40 -12 80 0t80 0t80 0M600 646q40 -12 80 0t80 0t80 0', {
            fill: 'none',
            stroke: '#ffffff',
            'stroke-width': 4,
            opacity: 0.6,
          }),
        ]
      : [
          polygon([0, 560, 300, 470, 640, 520, 520, 800, 0, 800], { fill: '#c9b79b' }),
          path('M0 620L560 530M0 690L590 580M0 760L560 650', { stroke: '#ad9a7d', 'stroke-width': 4 }),
          path(`M${table} 690v-250`, { stroke: '#7a6a58', 'stroke-width': 9 }),
          polygon([table - 170, 470, table + 170, 470, table, 390], { fill: look.accent }),
          polygon([table - 60, 470, table + 60, 470, table, 390], { fill: '#ffffff', opacity: 0.35 }),
          ellipse(table, 640, 130, 24, { fill: '#8a6b4e' }),
          path(`M${table} 660v80m-60 10l60 -20l60 20`, {
            fill: 'none',
            stroke: '#6a5039',
            'stroke-width': 11,
          }),
          ...[table - 230, table + 150].map(
            (x) =>
              rect(x, 620, 84, 20, { rx: 6, fill: '#7d6650' }) +
              path(`M${x + 6} 640v70M${x + 78} 640v70M${x + (x < table ? 6 : 78)} 620v-80`, {
                stroke: '#7d6650',
                'stroke-width': 9,
              }),
          ),
        ]),
  ].join('');
}

function drawLake({ look, random, id }: SceneContext, horizon: number): string {
  const waves = Array.from(
    { length: 14 },
    () => `M${random.between(0, 1100)} ${random.between(horizon + 14, 770)}h${random.between(40, 150)}`,
  );
  const sail = random.integer(300, 860);
  return [
    gradient(`${id}lake`, '#8fc0da', '#3f7fa8'),
    rect(0, horizon, 1200, 800 - horizon, { fill: `url(#${id}lake)` }),
    circle(random.integer(300, 900), horizon - 60, 46, { fill: '#fff3cf', opacity: 0.9 }),
    path(waves.join(''), { stroke: '#ffffff', 'stroke-width': 3, opacity: 0.5 }),
    path(`M${sail} ${horizon + 40}v-96l52 86Z`, { fill: '#ffffff' }),
    path(`M${sail - 8} ${horizon - 40}v74h-40Z`, { fill: look.accent }),
    path(`M${sail - 62} ${horizon + 40}h130l-22 22h-88Z`, { fill: '#6b4a35' }),
  ].join('');
}

function drawSkyline({ look, random }: SceneContext, horizon: number): string {
  let blocks = '';
  let lights = '';
  for (let x = 0; x < 1200; ) {
    const width = random.integer(54, 104);
    const height = random.integer(70, 240) * (1 - Math.abs(x - 600) / 1400);
    blocks += `M${x} ${horizon + 4}v${-height}h${width - 8}v${height}Z`;
    for (let row = 0; row < height / 34 - 1; row++)
      lights += `M${x + 12} ${horizon - height + 20 + row * 32}h${width - 32}`;
    x += width;
  }
  return [
    path(blocks, { fill: '#7c8ea3' }),
    path(lights, { stroke: '#dfe8ef', 'stroke-width': 8, 'stroke-dasharray': '9 8', opacity: 0.75 }),
    rect(0, horizon, 1200, 30, { fill: look.leaves[0], opacity: 0.8 }),
  ].join('');
}

/** Roofs of the neighbourhood among trees. */
function drawRoofs(scene: SceneContext, horizon: number): string {
  const { look, random, id } = scene;
  const parts = [`<defs>${group([drawTree(scene, 0, 0, 100)], { id: `${id}tree` })}</defs>`];
  for (let row = 0; row < 3; row++) {
    const y = horizon + 40 + row * 66;
    for (let x = random.integer(-40, 40); x < 1200; x += random.integer(170, 240)) {
      const width = 96 + row * 28;
      if (random.chance(0.5))
        parts.push(`<use${attributes({ href: `#${id}tree`, x: x + width + 34, y: y + 12 })}/>`);
      parts.push(
        rect(x, y - width * 0.3, width, width * 0.36, {
          fill: random.pick(['#efe9dc', '#d8dee0', '#c9b79d']),
        }),
        path(
          `M${x - 10} ${y - width * 0.28}h${width + 20}l${-10 - width * 0.2} ${-width * 0.32}h${-width * 0.6}Z`,
          {
            fill: look.roof[row % 2] ?? '',
          },
        ),
      );
    }
  }
  return parts.join('');
}

/** What one sees from the house: lake, town, or trees and fields, over a rail or through a window. */
export function drawView(scene: SceneContext): string {
  const { listing, random, look } = scene;
  const views = wordsOf(listing, 'View');
  const horizon = 400;
  const far = views.includes('Lake')
    ? drawLake(scene, horizon)
    : views.includes('City')
      ? drawGround(scene, horizon) + drawSkyline(scene, horizon) + drawShrubs(scene, 0, 1200, 470)
      : views.includes('Neighborhood') || views.includes('Park/Greenbelt')
        ? drawHorizon(scene, horizon, 100) + drawGround(scene, horizon) + drawRoofs(scene, horizon)
        : [
            drawHorizon(scene, horizon, 150),
            drawGround(scene, horizon),
            drawTree(scene, 220, 520, 260),
            drawConifer(scene, 930, 500, 240),
            drawConifer(scene, 1010, 520, 290),
          ].join('');
  const frame = random.chance(0.5)
    ? path('M0 720h1200', { stroke: look.trim, 'stroke-width': 160, 'stroke-dasharray': '9 31' }) +
      rect(0, 622, 1200, 24, { fill: look.trim }) +
      rect(0, 770, 1200, 30, { fill: '#b79b78' })
    : path('M0 0H1200V800H0ZM46 46V754H580V46ZM620 46V754H1154V46Z', {
        fill: look.wall[0],
        'fill-rule': 'evenodd',
      }) + rect(0, 748, 1200, 52, { fill: '#f7f5f0' });
  return [drawSky(scene, horizon), far, frame].join('');
}

/** Bare land with its corner stakes, a road and woods. */
export function drawLot(scene: SceneContext): string {
  const { random, look, listing } = scene;
  const horizon = random.integer(380, 430);
  const lake = flagOf(listing, 'WaterfrontYN');
  const trees = Array.from({ length: 6 }, (_, index) =>
    (random.chance(0.5) ? drawTree : drawConifer)(
      scene,
      60 + index * 215 + random.between(-70, 70),
      horizon + 26,
      random.between(120, 230),
    ),
  );
  const stake = (x: number, y: number): string =>
    rect(x - 3, y - 70, 6, 70, { fill: '#caa46c' }) +
    polygon([x + 3, y - 70, x + 40, y - 58, x + 3, y - 46], { fill: '#e2572e' });
  const tufts = Array.from(
    { length: 24 },
    () => `M${random.between(0, 1200)} ${random.between(horizon + 60, 680)}q3 -14 8 -18m-8 18q-3 -12 -8 -15`,
  );
  return [
    drawSky(scene, horizon),
    drawHorizon(scene, horizon, 90),
    drawGround(scene, horizon),
    lake ? rect(0, horizon - 2, 1200, 44, { fill: '#7fb4d0' }) : '',
    ...trees,
    path(tufts.join(''), { stroke: look.leaves[0], 'stroke-width': 3, fill: 'none', opacity: 0.55 }),
    path(`M250 ${horizon + 80}L950 ${horizon + 70}L1120 660L90 680Z`, {
      fill: 'none',
      stroke: '#e2572e',
      'stroke-width': 4,
      'stroke-dasharray': '16 12',
      opacity: 0.8,
    }),
    stake(250, horizon + 80),
    stake(950, horizon + 70),
    stake(1120, 660),
    stake(90, 680),
    polygon([0, 720, 1200, 700, 1200, 800, 0, 800], { fill: '#8d8f93' }),
    path('M0 764L1200 748', { stroke: '#f2e3a0', 'stroke-width': 7, 'stroke-dasharray': '60 40' }),
  ].join('');
}
