import { flagOf } from '../facts.ts';
import type { SceneContext } from '../look.ts';
import {
  drawBackWall,
  drawLamp,
  drawPendants,
  drawPicture,
  drawPlant,
  drawRoomWindow,
  drawRug,
  drawShell,
} from '../room.ts';
import { ellipse, path, polygon, rect } from '../svg.ts';

function drawSofa({ look }: SceneContext, x: number, base: number, width: number): string {
  const fill = look.season === 'winter' ? '#8a93a3' : '#9aa7a2';
  const seat = width - 88;
  return [
    ellipse(x + width / 2, base + 8, width * 0.52, 14, { fill: '#000000', opacity: 0.15 }),
    rect(x + 26, base - 150, width - 52, 120, { rx: 18, fill }),
    rect(x + 44, base - 92, seat / 2 - 3, 54, { rx: 12, fill: '#ffffff', opacity: 0.22 }),
    rect(x + 47 + seat / 2, base - 92, seat / 2 - 3, 54, { rx: 12, fill: '#ffffff', opacity: 0.22 }),
    rect(x + 30, base - 50, width - 60, 44, { fill }),
    rect(x, base - 104, 48, 100, { rx: 16, fill }),
    rect(x + width - 48, base - 104, 48, 100, { rx: 16, fill }),
    rect(x, base - 104, width, 100, { rx: 16, fill: '#000000', opacity: 0.06 }),
    path(`M${x + 18} ${base - 4}v14M${x + width - 18} ${base - 4}v14`, {
      stroke: '#5b4636',
      'stroke-width': 9,
    }),
    rect(x + 62, base - 120, 62, 56, { rx: 10, fill: look.accent }),
    rect(x + width - 124, base - 120, 62, 56, { rx: 10, fill: look.second }),
  ].join('');
}

function drawFireplace({ look }: SceneContext, x: number, top: number, bottom: number): string {
  return [
    rect(x, top, 190, bottom - top, { fill: look.siding[1] }),
    rect(x - 16, bottom - 168, 222, 18, { fill: '#f4f1ea' }),
    rect(x + 36, bottom - 122, 118, 122, { fill: '#2e2a29' }),
    path(`M${x + 64} ${bottom - 8}q10 -56 30 -66q-2 26 14 34q8 -14 6 -28q24 30 10 60Z`, { fill: '#e58a3a' }),
    path(`M${x + 82} ${bottom - 8}q4 -28 16 -34q4 22 16 34Z`, { fill: '#f6cf6b' }),
    rect(x - 20, bottom - 6, 230, 14, { fill: '#8a8580' }),
  ].join('');
}

/** A living room: window, sofa, table, and a fireplace where the listing has one. */
export function drawLiving(scene: SceneContext): string {
  const { random, listing } = scene;
  const wall = drawBackWall(scene);
  const fire = flagOf(listing, 'FireplaceYN') && random.chance(0.8);
  const mirrored = random.chance(0.5);
  const windowX = fire && mirrored ? wall.left + 330 : wall.left + (fire ? 90 : 200);
  const windowWidth = fire ? 330 : random.integer(320, 400);
  const fireX = mirrored ? wall.left + 56 : wall.right - 246;
  const sofaX = fire && !mirrored ? 170 : fire ? 470 : 330;
  return [
    drawShell(scene, wall, 'boards'),
    drawRoomWindow(scene, windowX, wall.top + 74, windowWidth, 210, scene.look.accent),
    fire
      ? drawFireplace(scene, fireX, wall.top, wall.bottom)
      : drawPicture(scene, mirrored ? wall.left + 40 : wall.right - 132, wall.top + 110, 88, 110),
    drawRug(scene, 240, 630, 720, 130),
    drawLamp(sofaX - 50, 640, 250),
    drawSofa(scene, sofaX, 662, 500),
    drawPlant(scene, mirrored ? 1070 : 110, 690, 190),
    polygon([470, 690, 760, 690, 800, 728, 430, 728], { fill: '#8a6442' }),
    path('M446 728v48M784 728v48M486 724v26M744 724v26', { stroke: '#6d4d31', 'stroke-width': 9 }),
    rect(560, 674, 70, 14, { rx: 3, fill: scene.look.second }),
    rect(568, 662, 56, 12, { rx: 3, fill: '#f3ede0' }),
  ].join('');
}

/** A dining room: table, chairs, pendants and sideboard. */
export function drawDining(scene: SceneContext): string {
  const { look, random } = scene;
  const wall = drawBackWall(scene);
  const chair = (x: number, base: number, front: boolean): string =>
    [
      rect(x, base - (front ? 150 : 120), 76, front ? 90 : 80, {
        rx: 12,
        fill: front ? look.accent : look.second,
      }),
      rect(x - 4, base - 66, 84, 16, { rx: 6, fill: '#7a5a3d' }),
      path(`M${x + 6} ${base - 52}V${base}M${x + 70} ${base - 52}V${base}`, {
        stroke: '#6a4c33',
        'stroke-width': 9,
      }),
    ].join('');
  const backs = [340, 480, 640, 780];
  return [
    drawShell(scene, wall, 'boards'),
    drawRoomWindow(scene, wall.left + 190, wall.top + 60, random.integer(360, 420), 200, look.second),
    rect(wall.right - 150, wall.bottom - 112, 140, 104, { fill: '#8b6544' }),
    path(`M${wall.right - 80} ${wall.bottom - 106}v92`, { stroke: '#6f4f33', 'stroke-width': 4 }),
    drawPlant(scene, wall.right - 80, wall.bottom - 108, 84),
    drawRug(scene, 200, 610, 800, 160),
    ...backs.map((x) => chair(x, 640, false)),
    polygon([300, 596, 900, 596, 960, 660, 240, 660], { fill: '#a97c52' }),
    rect(240, 660, 720, 18, { fill: '#8a6340' }),
    path('M270 678v104M930 678v104', { stroke: '#7a5636', 'stroke-width': 18 }),
    ellipse(600, 616, 60, 12, { fill: '#e9e4d8' }),
    path('M574 612q26 -46 52 0Z', { fill: look.leaves[1] }),
    ...[330, 560, 790].map((x) => chair(x, 790, true)),
    drawPendants(scene, [480, 600, 720], random.integer(150, 190)),
  ].join('');
}
