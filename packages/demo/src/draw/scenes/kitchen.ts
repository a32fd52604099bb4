import type { SceneContext } from '../look.ts';
import { boxes } from '../outdoors.ts';
import { drawBackWall, drawPendants, drawRoomWindow, drawShell } from '../room.ts';
import { circle, path, polygon, rect } from '../svg.ts';

type Box = readonly [x: number, y: number, width: number, height: number];

/** A run of cabinets: doors with a frame and a handle each. */
function drawCabinets(
  { look }: SceneContext,
  x: number,
  y: number,
  width: number,
  height: number,
  count: number,
  handleLow: boolean,
): string {
  const each = width / count;
  const doors = Array.from(
    { length: count },
    (_, index): Box => [x + index * each + 4, y + 4, each - 8, height - 8],
  );
  const handles = doors.map(
    ([left, top, wide, high], index): Box => [
      index % 2 === 0 ? left + wide - 14 : left + 9,
      handleLow ? top + high - 44 : top + 16,
      5,
      28,
    ],
  );
  return [
    rect(x, y, width, height, { fill: look.cabinet[1] }),
    path(boxes(doors), { fill: look.cabinet[0] }),
    path(boxes(doors.map(([left, top, wide, high]): Box => [left + 10, top + 10, wide - 20, high - 20])), {
      fill: 'none',
      stroke: look.cabinet[1],
      'stroke-width': 3,
    }),
    path(boxes(handles), { fill: '#8d8f92' }),
  ].join('');
}

/** A kitchen: cabinets, range with hood, sink below the window, island with stools. */
export function drawKitchen(scene: SceneContext): string {
  const { look, random } = scene;
  const wall = drawBackWall(scene);
  const floor = wall.bottom;
  const counter = floor - 128;
  const left = wall.left + 10;
  const width = wall.right - wall.left - 150;
  const rangeX = left + (random.chance(0.5) ? 150 : 210);
  const windowX = left + width - 240;
  let joints = '';
  for (let row = 1; row < 5; row++) joints += `M${left} ${counter - 124 + row * 25}h${width}`;
  const fridge = wall.right - 132;
  return [
    drawShell(scene, wall, random.chance(0.7) ? 'boards' : 'tiles'),
    rect(left, counter - 124, width, 124, { fill: '#eef0ee' }),
    path(joints, { stroke: '#d3d8d6', 'stroke-width': 3, 'stroke-dasharray': '44 4' }),
    drawRoomWindow(scene, windowX, wall.top + 70, 170, 150),
    drawCabinets(scene, left, wall.top + 40, rangeX - left, counter - wall.top - 170, 2, true),
    drawCabinets(
      scene,
      rangeX + 130,
      wall.top + 40,
      windowX - 30 - (rangeX + 130),
      counter - wall.top - 170,
      2,
      true,
    ),
    polygon(
      [
        rangeX + 6,
        counter - 124,
        rangeX + 124,
        counter - 124,
        rangeX + 92,
        wall.top + 60,
        rangeX + 38,
        wall.top + 60,
      ],
      { fill: '#c3c7ca' },
    ),
    drawCabinets(scene, left, counter + 14, width, floor - counter - 14, 8, false),
    rect(left - 6, counter, width + 12, 16, { fill: look.counter }),
    rect(rangeX, counter + 4, 130, floor - counter - 4, { fill: '#b9bec2' }),
    rect(rangeX + 12, counter + 46, 106, 62, { fill: '#3a3f45' }),
    path(`M${rangeX + 14} ${counter + 34}h102`, { stroke: '#7c8288', 'stroke-width': 6 }),
    ...[24, 52, 80, 108].map((dx) => circle(rangeX + dx - 1, counter + 18, 6, { fill: '#5b6167' })),
    path(`M${windowX + 76} ${counter}v-34q0 -22 22 -22t22 22v8`, {
      fill: 'none',
      stroke: '#9aa1a6',
      'stroke-width': 7,
    }),
    rect(fridge, wall.top + 96, 124, floor - wall.top - 92, { fill: '#cdd1d4' }),
    path(
      `M${fridge + 62} ${wall.top + 96}v220M${fridge} ${wall.top + 316}h124M${fridge + 52} ${wall.top + 170}v90M${fridge + 72} ${wall.top + 170}v90`,
      { stroke: '#8f959a', 'stroke-width': 4 },
    ),
    polygon([300, 612, 900, 612, 950, 650, 250, 650], { fill: look.counter }),
    rect(250, 650, 700, 16, { fill: look.counter }),
    rect(250, 650, 700, 16, { fill: '#000000', opacity: 0.1 }),
    drawCabinets(scene, 278, 666, 644, 134, 5, false),
    rect(520, 592, 120, 26, { rx: 12, fill: look.second }),
    ...[548, 580, 612].map((x) => circle(x, 588, 17, { fill: look.accent })),
    ...[360, 560, 760].map((x) =>
      [
        path(`M${x + 12} 716L${x} 800M${x + 68} 716L${x + 80} 800`, { stroke: '#6b5441', 'stroke-width': 8 }),
        rect(x, 696, 80, 22, { rx: 9, fill: '#8a6a4d' }),
      ].join(''),
    ),
    drawPendants(scene, [430, 600, 770], 150),
  ].join('');
}
