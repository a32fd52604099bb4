import { amountOf, flagOf } from '../facts.ts';
import type { SceneContext } from '../look.ts';
import { boxes, courses, drawShrubs, drawWindows } from '../outdoors.ts';
import { circle, group, path, polygon, rect } from '../svg.ts';

/** The line on which buildings stand. */
export const BASE = 600;
const STOREY = 128;

type Box = readonly [x: number, y: number, width: number, height: number];

/** A wall with its boards and the shade under the eaves. */
export function drawWall({ look }: SceneContext, [x, y, width, height]: Box): string {
  return [
    rect(x, y, width, height, { fill: look.siding[0] }),
    path(courses(x, y, width, height, 18), { stroke: look.siding[1], 'stroke-width': 2 }),
    rect(x, y, width, 12, { fill: '#000000', opacity: 0.13 }),
    rect(x, y + height - 14, width, 14, { fill: '#8d8a84' }),
  ].join('');
}

/** A roof whose ridge runs along the front. */
export function drawRoof(
  { look }: SceneContext,
  x: number,
  y: number,
  width: number,
  height: number,
): string {
  const slope = Math.min(70, width * 0.12);
  return [
    polygon([x - 26, y + 6, x + width + 26, y + 6, x + width - slope, y - height, x + slope, y - height], {
      fill: look.roof[0],
    }),
    path(courses(x - 26, y - height, width + 52, height, 16, width - 2 * slope), {
      stroke: look.roof[1],
      'stroke-width': 2,
      opacity: 0.5,
    }),
    rect(x - 26, y, width + 52, 9, { fill: look.trim }),
  ].join('');
}

/** A wing whose gable looks to the front. */
function drawGable(scene: SceneContext, [x, y, width, height]: Box, pitch: number): string {
  const { look } = scene;
  const top = y - width * pitch;
  const middle = x + width / 2;
  return [
    drawWall(scene, [x, y, width, height]),
    polygon([x, y + 2, x + width, y + 2, middle, top], { fill: look.siding[0] }),
    path(`M${x - 22} ${y + 12}L${middle} ${top - 6}L${x + width + 22} ${y + 12}`, {
      fill: 'none',
      stroke: look.roof[1],
      'stroke-width': 17,
      'stroke-linejoin': 'round',
    }),
    path(`M${x - 16} ${y + 20}L${middle} ${top + 12}L${x + width + 16} ${y + 20}`, {
      fill: 'none',
      stroke: look.trim,
      'stroke-width': 6,
    }),
  ].join('');
}

function drawGarageDoor({ look }: SceneContext, x: number, width: number): string {
  const top = BASE - 92;
  const panels: Box[] = [];
  const columns = Math.max(3, Math.round(width / 42));
  for (let column = 0; column < columns; column++) {
    const left = x + (column * width) / columns + 5;
    for (let row = 1; row < 4; row++) panels.push([left, top + row * 23 + 3, width / columns - 10, 15]);
  }
  const lights = panels
    .filter((_, index) => index % 3 === 0)
    .map(([left, , wide]): Box => [left, top + 5, wide, 14]);
  return [
    rect(x - 7, top - 7, width + 14, 99, { fill: look.trim }),
    rect(x, top, width, 92, { fill: '#eceae4' }),
    path(boxes(panels), { fill: 'none', stroke: '#cfccc4', 'stroke-width': 2 }),
    path(boxes(lights), { fill: '#8aa3b4' }),
  ].join('');
}

/** A front door with steps and, above it, a small roof on posts. */
export function drawEntrance({ look }: SceneContext, x: number, porch: boolean): string {
  const top = BASE - 104;
  return [
    rect(x - 9, top - 8, 74, 112, { fill: look.trim }),
    rect(x, top, 56, 104, { fill: look.door }),
    path(
      boxes([
        [x + 9, top + 10, 16, 30],
        [x + 31, top + 10, 16, 30],
        [x + 9, top + 54, 38, 40],
      ]),
      { fill: 'none', stroke: '#ffffff', 'stroke-opacity': 0.35, 'stroke-width': 2 },
    ),
    circle(x + 48, top + 54, 3.5, { fill: '#e0c067' }),
    rect(x - 22, BASE - 6, 100, 10, { fill: '#c9c5bc' }),
    rect(x - 34, BASE + 3, 124, 11, { fill: '#b9b5ac' }),
    ...(porch
      ? [
          polygon([x - 62, top - 22, x + 118, top - 22, x + 98, top - 50, x - 42, top - 50], {
            fill: look.roof[1],
          }),
          rect(x - 58, top - 22, 172, 10, { fill: look.trim }),
          path(
            boxes([
              [x - 50, top - 12, 11, 118],
              [x + 95, top - 12, 11, 118],
            ]),
            { fill: look.trim },
          ),
        ]
      : []),
  ].join('');
}

/** The way from a door or garage to the street; it widens towards the side that `lean` points to. */
export function drawPath(left: number, right: number, lean: number, fill: string): string {
  const [near, far] = lean < 0 ? [1.4, 0.2] : [0.2, 1.4];
  return polygon([left, BASE + 8, right, BASE + 8, right + lean * far, 800, left + lean * near, 800], {
    fill,
  });
}

/** A house of one household: main part, front gable, garage, porch, chimney. */
export function drawHouse(scene: SceneContext): string {
  const { listing, look, random } = scene;
  const levels = Math.min(2, Math.max(1, amountOf(listing, 'Stories')));
  const cars = flagOf(listing, 'AttachedGarageYN') ? Math.min(3, amountOf(listing, 'GarageSpaces')) : 0;
  const long = levels === 1 ? 560 : 440;
  const garage = cars === 0 ? 0 : 96 + cars * 66;
  const left = 600 - (long + garage) / 2;
  const onLeft = random.chance(0.5);
  const main = onLeft ? left + garage : left;
  const garageX = onLeft ? left : left + long;
  const height = levels * STOREY;
  const top = BASE - height;
  const gableWide = levels === 1 ? 180 : 168;
  const gableX = random.chance(0.5) ? main + 24 : main + long - gableWide - 24;
  const doorX = gableX < main + long / 2 ? gableX + gableWide + 62 : gableX - 118;
  const windows: Box[] = [];
  for (let level = 0; level < levels; level++) {
    const y = BASE - (level + 1) * STOREY + 34;
    windows.push([gableX + gableWide / 2 - 42, y, 84, 66]);
    for (let x = main + 34; x < main + long - 60; x += 96) {
      const behindGable = x + 52 > gableX - 14 && x < gableX + gableWide + 14;
      const atDoor = level === 0 && x + 52 > doorX - 66 && x < doorX + 122;
      if (!behindGable && !atDoor) windows.push([x, y, 52, 66]);
    }
  }
  const chimney = main + long * (gableX < main + long / 2 ? 0.78 : 0.2);
  return [
    flagOf(listing, 'FireplaceYN')
      ? rect(chimney, top - 138, 42, 110, { fill: '#8c8c8c' }) +
        rect(chimney - 4, top - 142, 50, 10, { fill: '#6d5a50' })
      : '',
    cars === 0
      ? ''
      : drawWall(scene, [garageX, BASE - 124, garage, 124]) +
        drawRoof(scene, garageX, BASE - 124, garage, 70),
    drawWall(scene, [main, top, long, height]),
    drawRoof(scene, main, top, long, levels === 1 ? 96 : 84),
    drawGable(scene, [gableX, top + 8, gableWide, height - 8], random.between(0.42, 0.55)),
    drawWindows(scene, windows),
    cars === 0
      ? ''
      : drawPath(garageX + 34, garageX + garage - 34, onLeft ? -120 : 120, '#c7c5c0') +
        drawGarageDoor(scene, garageX + 38, garage - 76),
    drawPath(doorX + 4, doorX + 52, 40, '#d3cdc2'),
    drawShrubs(scene, main + 16, doorX - 40, BASE + 10),
    drawShrubs(scene, doorX + 104, main + long - 16, BASE + 10),
    drawEntrance(scene, doorX, random.chance(0.7)),
    group([
      circle(gableX + gableWide / 2, top - 16, 13, { fill: look.trim }),
      circle(gableX + gableWide / 2, top - 16, 8, { fill: '#7f97a8' }),
    ]),
  ].join('');
}

/** A cabin: a steep roof down to the ground, logs and a wide window. */
export function drawCabin(scene: SceneContext): string {
  const { look } = scene;
  const peak = BASE - 330;
  return [
    polygon([330, BASE, 870, BASE, 600, peak], { fill: '#a9794e' }),
    path(courses(330, peak, 540, 330, 19, 0), { stroke: '#7f5836', 'stroke-width': 3, opacity: 0.55 }),
    polygon([470, BASE - 120, 730, BASE - 120, 600, peak + 96], { fill: '#8fb0c2' }),
    path(`M600 ${peak + 96}V${BASE - 120}M530 ${BASE - 190}h140`, { stroke: look.trim, 'stroke-width': 6 }),
    drawWindows(scene, [
      [470, BASE - 96, 70, 66],
      [680, BASE - 96, 60, 66],
    ]),
    path(`M304 ${BASE + 14}L600 ${peak - 16}L896 ${BASE + 14}`, {
      fill: 'none',
      stroke: look.roof[1],
      'stroke-width': 30,
      'stroke-linejoin': 'round',
    }),
    drawPath(585, 641, 30, '#c8b48f'),
    drawEntrance(scene, 585, false),
    rect(350, BASE - 4, 210, 14, { fill: '#a3835f' }),
    drawShrubs(scene, 690, 860, BASE + 12),
  ].join('');
}
