import type { SceneContext } from '../look.ts';
import { boxes } from '../outdoors.ts';
import {
  drawBackWall,
  drawLamp,
  drawPicture,
  drawPlant,
  drawRoomWindow,
  drawRug,
  drawShell,
} from '../room.ts';
import { circle, ellipse, path, polygon, rect } from '../svg.ts';

/** A bedroom: bed, night tables with lamps, window and rug. */
export function drawBedroom(scene: SceneContext): string {
  const { look, random } = scene;
  const wall = drawBackWall(scene);
  const x = random.integer(380, 430);
  const width = 380;
  const base = wall.bottom + 4;
  const night = (left: number): string =>
    rect(left, base - 92, 92, 92, { fill: '#a07a55' }) +
    path(`M${left + 8} ${base - 48}h76`, { stroke: '#7c5b3c', 'stroke-width': 4 }) +
    drawLamp(left + 46, base - 92, 110);
  const windowLeft = random.chance(0.5);
  const windowX = windowLeft ? wall.left + 40 : wall.right - 200;
  return [
    drawShell(scene, wall, random.chance(0.5) ? 'carpet' : 'boards'),
    drawRoomWindow(scene, windowX, wall.top + 70, 150, 200, look.second),
    drawPicture(scene, x + width / 2 - 74, wall.top + 66, 148, 92),
    drawRug(scene, 190, 664, 820, 120),
    night(x - 112),
    night(x + width + 20),
    rect(x - 10, base - 210, width + 20, 210, { rx: 16, fill: '#8d6b4d' }),
    rect(x + 8, base - 192, width - 16, 150, { rx: 10, fill: '#a5815f' }),
    polygon([x, base - 76, x + width, base - 76, x + width + 70, 756, x - 70, 756], { fill: '#f6f3ec' }),
    rect(x + 26, base - 132, 150, 76, { rx: 22, fill: '#ffffff' }),
    rect(x + width - 176, base - 132, 150, 76, { rx: 22, fill: '#ffffff' }),
    rect(x + width / 2 - 66, base - 104, 132, 58, { rx: 18, fill: look.accent }),
    polygon([x - 22, base + 20, x + width + 22, base + 20, x + width + 70, 756, x - 70, 756], {
      fill: look.accent,
      opacity: 0.85,
    }),
    path(`M${x - 26} ${base + 40}h${width + 52}M${x - 34} ${base + 62}h${width + 68}`, {
      stroke: '#ffffff',
      'stroke-width': 5,
      opacity: 0.55,
    }),
    rect(x - 70, 750, width + 140, 26, { rx: 6, fill: '#7a5a3f' }),
    drawPlant(scene, windowLeft ? 1080 : 120, 690, 170),
  ].join('');
}

/** A bath: tub with tiles, basin with mirror, toilet. */
export function drawBath(scene: SceneContext): string {
  const { look, random } = scene;
  const wall = drawBackWall(scene);
  const base = wall.bottom;
  const tubLeft = random.chance(0.5);
  const tub = tubLeft ? wall.left + 14 : wall.right - 384;
  const vanity = tubLeft ? wall.right - 320 : wall.left + 40;
  const toilet = tubLeft ? tub + 432 : tub - 84;
  let joints = '';
  for (let row = 0; row < 9; row++) joints += `M${tub - 14} ${wall.top + 20 + row * 44}h398`;
  for (let column = 0; column < 9; column++) joints += `M${tub - 8 + column * 48} ${wall.top}V${base}`;
  return [
    drawShell(scene, wall, 'tiles'),
    rect(tub - 14, wall.top, 398, base - wall.top, { fill: '#e6edee' }),
    path(joints, { stroke: '#c8d3d5', 'stroke-width': 3 }),
    rect(tub - 14, wall.top + 150, 398, 26, { fill: look.second, opacity: 0.55 }),
    drawRoomWindow(scene, tub + 120, wall.top + 40, 130, 90),
    path(`M${tub + 330} ${wall.top + 70}v-24h-40`, { fill: 'none', stroke: '#9aa1a6', 'stroke-width': 7 }),
    rect(tub - 6, base - 104, 380, 134, { rx: 22, fill: '#ffffff' }),
    rect(tub + 18, base - 92, 332, 30, { rx: 14, fill: '#dbe6ea' }),
    rect(tub - 14, base - 112, 396, 20, { rx: 10, fill: '#f7f9f9' }),
    rect(vanity + 20, wall.top + 90, 220, 180, { rx: 14, fill: '#8d9499' }),
    rect(vanity + 28, wall.top + 98, 204, 164, { rx: 10, fill: '#d7e4ea' }),
    polygon(
      [
        vanity + 28,
        wall.top + 230,
        vanity + 150,
        wall.top + 98,
        vanity + 200,
        wall.top + 98,
        vanity + 28,
        wall.top + 262,
      ],
      { fill: '#ffffff', opacity: 0.5 },
    ),
    ...[vanity + 70, vanity + 190].map((x) => circle(x, wall.top + 66, 16, { fill: '#fff3cf' })),
    rect(vanity, base - 128, 260, 150, { fill: look.cabinet[0] }),
    path(
      boxes([
        [vanity + 14, base - 92, 110, 100],
        [vanity + 136, base - 92, 110, 100],
      ]),
      { fill: 'none', stroke: look.cabinet[1], 'stroke-width': 4 },
    ),
    rect(vanity - 8, base - 142, 276, 18, { fill: look.counter }),
    ellipse(vanity + 130, base - 142, 70, 12, { fill: '#ffffff' }),
    path(`M${vanity + 130} ${base - 146}v-30q0 -10 14 -8`, {
      fill: 'none',
      stroke: '#9aa1a6',
      'stroke-width': 7,
    }),
    rect(toilet - 34, base - 128, 80, 66, { rx: 8, fill: '#ffffff' }),
    path(`M${toilet - 42} ${base - 58}h96q4 50 -30 66v42h-36v-42q-34 -16 -30 -66Z`, { fill: '#f4f6f6' }),
    ellipse(toilet + 6, base - 58, 50, 12, { fill: '#ffffff' }),
    rect(tub + 60, base - 88, 76, 96, { fill: look.accent }),
    path(`M${tub + 60} ${base - 14}h76`, { stroke: '#ffffff', 'stroke-width': 5, opacity: 0.6 }),
    drawRug(scene, 380, 690, 360, 70),
  ].join('');
}

/** An office: desk at the window, chair, shelves with books. */
export function drawOffice(scene: SceneContext): string {
  const { look, random } = scene;
  const wall = drawBackWall(scene);
  const base = wall.bottom;
  const shelf = random.chance(0.5) ? wall.left + 24 : wall.right - 214;
  const desk = shelf < 600 ? 520 : 260;
  const colors = [look.accent, look.second, '#5b6b7a', '#c9b48a', '#8a4b3c'];
  const books: string[] = [];
  for (let row = 0; row < 4; row++) {
    let x = shelf + 14;
    while (x < shelf + 156) {
      const width = random.integer(12, 24);
      const height = random.integer(48, 68);
      books.push(
        rect(x, wall.top + 118 + row * 88 - height + 4, width, height, { fill: random.pick(colors) }),
      );
      x += width + random.pick([2, 2, 20]);
    }
  }
  return [
    drawShell(scene, wall, 'boards'),
    drawRoomWindow(scene, desk + 60, wall.top + 60, 260, 180, look.accent),
    rect(shelf, wall.top + 44, 190, base - wall.top - 40, { fill: '#8f6c4b' }),
    path([0, 1, 2, 3].map((row) => `M${shelf + 8} ${wall.top + 126 + row * 88}h174`).join(''), {
      stroke: '#6d5036',
      'stroke-width': 9,
    }),
    ...books,
    drawRug(scene, desk - 90, 640, 620, 120),
    rect(desk, base - 20, 430, 18, { fill: '#7c5a3c' }),
    path(`M${desk + 18} ${base}v150M${desk + 412} ${base}v150`, { stroke: '#6a4c33', 'stroke-width': 14 }),
    rect(desk + 290, base - 4, 110, 120, { fill: '#8a6748' }),
    rect(desk + 150, base - 146, 170, 104, { rx: 6, fill: '#2f353c' }),
    rect(desk + 158, base - 138, 154, 88, { fill: '#9fc0d2' }),
    path(`M${desk + 235} ${base - 42}v22m-40 0h80`, { stroke: '#2f353c', 'stroke-width': 9 }),
    drawLamp(desk + 56, base - 20, 120),
    rect(desk + 150, base + 26, 150, 120, { rx: 26, fill: look.second }),
    rect(desk + 140, base + 130, 170, 34, { rx: 14, fill: look.second }),
    rect(desk + 140, base + 130, 170, 34, { rx: 14, fill: '#000000', opacity: 0.15 }),
    path(`M${desk + 225} ${base + 162}v44m-56 14l56 -16l56 16`, {
      fill: 'none',
      stroke: '#3b4148',
      'stroke-width': 10,
    }),
  ].join('');
}
