import { amountOf, wordOf } from '../facts.ts';
import type { SceneContext } from '../look.ts';
import { boxes, courses, drawShrubs, drawWindows } from '../outdoors.ts';
import { attributes, group, path, polygon, rect, text } from '../svg.ts';
import { BASE, drawEntrance, drawPath, drawRoof, drawWall } from './house.ts';

type Box = readonly [x: number, y: number, width: number, height: number];

/** A thing that stands at several places, drawn once at 0. */
function repeat(id: string, drawing: string, places: readonly number[]): string[] {
  return [
    `<defs>${group([drawing], { id })}</defs>`,
    ...places.map((x) => `<use${attributes({ href: `#${id}`, x })}/>`),
  ];
}

const FACADES = ['#b9705a', '#d9cdb8', '#8fa3ad', '#c2a27e', '#a9b39a', '#e3ddd0'];

/** A row of narrow houses; the middle one is for sale. */
export function drawTownhouses(scene: SceneContext): string {
  const { listing, look, random } = scene;
  const levels = Math.max(2, amountOf(listing, 'Stories'));
  const width = 196;
  const top = BASE - levels * 112;
  const doors: number[] = [];
  const windows: Box[] = [];
  const fronts = [0, 1, 2, 3, 4].map((house) => {
    const x = 110 + house * width;
    const fill = house === 2 ? look.siding[0] : random.pick(FACADES);
    doors.push(x + 22);
    for (let level = 0; level < levels; level++) {
      const y = top + level * 112 + 26;
      if (level === levels - 1) windows.push([x + 112, y, 60, 58]);
      else windows.push([x + 26, y, 50, 58], [x + 118, y, 50, 58]);
    }
    return [
      rect(x, top, width, BASE - top, { fill }),
      path(courses(x, top, width, BASE - top, 18), {
        stroke: '#000000',
        'stroke-opacity': 0.07,
        'stroke-width': 2,
      }),
      house % 2 === 0
        ? polygon([x - 6, top + 4, x + width + 6, top + 4, x + width / 2, top - 84], { fill: look.roof[0] })
        : rect(x - 2, top - 26, width + 4, 30, { fill: look.roof[1] }),
      rect(x - 3, top, 6, BASE - top, { fill: '#00000022' }),
    ].join('');
  });
  return [
    ...fronts,
    drawWindows(scene, windows),
    ...doors.map((x) => drawPath(x + 4, x + 52, (x - 580) * 0.12, '#d3cdc2')),
    ...repeat(`${scene.id}door`, drawEntrance(scene, 0, false), doors),
    ...doors.map((x) => drawShrubs(scene, x + 84, x + 160, BASE + 10)),
  ].join('');
}

/** A building of flats with balconies. */
export function drawFlats(scene: SceneContext): string {
  const { look, random, listing } = scene;
  const floors = Math.min(
    5,
    Math.max(3, Math.ceil(amountOf(listing, 'NumberOfUnitsTotal') / 3)) + random.integer(0, 1),
  );
  const step = 96;
  const top = BASE - floors * step - 20;
  const brick = random.pick(FACADES);
  const windows: Box[] = [];
  const rails: string[] = [];
  const slabs: Box[] = [];
  for (let floor = 0; floor < floors; floor++) {
    const y = top + 26 + floor * step;
    for (const x of [256, 346, 800, 890]) windows.push([x, y, 54, 56]);
    for (const x of [450, 630]) {
      if (floor === floors - 1 && x === 450) continue;
      windows.push([x + 14, y - 6, 92, 72]);
      slabs.push([x, y + 66, 120, 8]);
      rails.push(
        Array.from({ length: 11 }, (_, bar) => `M${x + 5 + bar * 11} ${y + 40}v26`).join(''),
        `M${x} ${y + 40}h120`,
      );
    }
  }
  return [
    rect(220, top, 760, BASE - top, { fill: brick }),
    path(courses(220, top, 760, BASE - top, 12), {
      stroke: '#000000',
      'stroke-opacity': 0.08,
      'stroke-width': 2,
    }),
    rect(430, top - 18, 340, BASE - top + 18, { fill: look.siding[0] }),
    rect(210, top - 14, 780, 16, { fill: look.roof[1] }),
    rect(420, top - 32, 360, 16, { fill: look.roof[1] }),
    drawWindows(scene, windows),
    path(boxes(slabs), { fill: '#cfccc6' }),
    path(rails.join(''), { stroke: '#4b5057', 'stroke-width': 2.5, fill: 'none' }),
    drawPath(470, 560, 60, '#cdc8be'),
    rect(462, BASE - 108, 96, 108, { fill: '#54636e' }),
    path(`M510 ${BASE - 108}v108M462 ${BASE - 40}h96`, { stroke: '#d9dee2', 'stroke-width': 4 }),
    rect(448, BASE - 122, 124, 14, { fill: look.door }),
    drawShrubs(scene, 236, 440, BASE + 10),
    drawShrubs(scene, 600, 970, BASE + 10),
  ].join('');
}

/** Two to four flats under one roof, each with its own door. */
export function drawPlex(scene: SceneContext): string {
  const { listing } = scene;
  const units = Math.min(4, Math.max(2, amountOf(listing, 'NumberOfUnitsTotal')));
  const width = units === 2 ? 560 : 700;
  const left = 600 - width / 2;
  const part = width / 2;
  const top = BASE - 250;
  const doors = [left + part / 2 - 28, left + part * 1.5 - 28];
  const windows: Box[] = [0, 1].flatMap((half): Box[] => {
    const x = left + half * part;
    const upper: Box[] = [0, 1, 2].map((index) => [x + part * (0.2 + index * 0.3) - 27, top + 36, 54, 64]);
    return [...upper, [x + part * 0.14 - 20, top + 160, 54, 62], [x + part * 0.86 - 34, top + 160, 54, 62]];
  });
  return [
    drawWall(scene, [left, top, width, 250]),
    drawRoof(scene, left, top, width, 92),
    rect(left + part - 4, top, 8, 250, { fill: '#00000018' }),
    drawWindows(scene, windows),
    ...doors.map((x) => drawPath(x + 4, x + 52, 20, '#d3cdc2')),
    ...repeat(`${scene.id}door`, drawEntrance(scene, 0, true), doors),
    drawShrubs(scene, left + 10, left + 80, BASE + 10),
    drawShrubs(scene, left + part - 40, left + part + 40, BASE + 10),
  ].join('');
}

/** Offices, a warehouse, or shops below a flat, behind a car park. */
export function drawCommercial(scene: SceneContext): string {
  const bays = Array.from({ length: 9 }, (_, bay) => `M${60 + bay * 140} 800l${(bay - 4) * -16} -150`);
  return [
    rect(0, BASE + 6, 1200, 200, { fill: '#8c8f93' }),
    ...drawBuilding(scene),
    path(bays.join(''), { stroke: '#ffffff', 'stroke-width': 5, opacity: 0.7 }),
  ].join('');
}

function drawBuilding(scene: SceneContext): string[] {
  switch (wordOf(scene.listing, 'PropertySubType')) {
    case 'Warehouse':
      return drawWarehouse(scene);
    case 'Mixed Use':
      return drawShops(scene);
    default:
      return drawOffices(scene);
  }
}

function drawWarehouse(scene: SceneContext): string[] {
  const docks = [250, 450, 650].map((x): Box => [x, BASE - 150, 130, 150]);
  const ribs = Array.from({ length: 44 }, (_, rib) => `M${165 + rib * 20} ${BASE - 250}v250`);
  return [
    rect(150, BASE - 250, 900, 250, { fill: '#c3cad0' }),
    path(ribs.join(''), { stroke: '#aab3ba', 'stroke-width': 2 }),
    rect(140, BASE - 266, 920, 20, { fill: scene.look.door }),
    path(boxes(docks), { fill: '#e8e6df', stroke: '#5f656b', 'stroke-width': 6 }),
    ...docks.map(([x, y]) => path(courses(x, y, 130, 150, 25), { stroke: '#c9c6bd', 'stroke-width': 3 })),
    drawWindows(scene, [[850, BASE - 190, 130, 50]]),
    drawEntrance(scene, 890, false),
  ];
}

/** Shops below a flat. */
function drawShops(scene: SceneContext): string[] {
  const { look, random } = scene;
  const shopWindows: Box[] = [
    [250, BASE - 140, 220, 120],
    [730, BASE - 140, 220, 120],
  ];
  return [
    rect(220, BASE - 390, 760, 390, { fill: random.pick(['#a8604c', '#b77b5c', '#94655a']) }),
    path(courses(220, BASE - 390, 760, 390, 11), {
      stroke: '#000000',
      'stroke-opacity': 0.1,
      'stroke-width': 2,
    }),
    rect(206, BASE - 408, 788, 24, { fill: look.trim }),
    drawWindows(
      scene,
      Array.from({ length: 6 }, (_, index): Box => [262 + index * 118, BASE - 330, 62, 92]),
    ),
    rect(220, BASE - 190, 760, 34, { fill: look.door }),
    text(600, BASE - 165, 'SHOP AND STUDIO', {
      fill: '#ffffff',
      'font-size': 24,
      'text-anchor': 'middle',
      'font-family': 'Georgia, serif',
      'letter-spacing': 5,
    }),
    path(boxes(shopWindows), { fill: '#7d99a8', stroke: '#3d434a', 'stroke-width': 8 }),
    drawEntrance(scene, 572, false),
  ];
}

function drawOffices(scene: SceneContext): string[] {
  const { look } = scene;
  const bands = [0, 1].map((floor): Box => [210, BASE - 224 + floor * 106, 780, 62]);
  const mullions = Array.from({ length: 13 }, (_, at) => `M${210 + at * 65} ${BASE - 224}v62m0 44v62`);
  return [
    rect(190, BASE - 250, 820, 250, { fill: look.siding[0] }),
    path(boxes(bands), { fill: '#7f9fb2' }),
    path(mullions.join(''), { stroke: '#e8edf0', 'stroke-width': 4 }),
    rect(180, BASE - 266, 840, 20, { fill: look.roof[1] }),
    rect(540, BASE - 120, 120, 120, { fill: '#5d7684' }),
    path(`M600 ${BASE - 120}v120`, { stroke: '#e8edf0', 'stroke-width': 5 }),
    rect(510, BASE - 136, 180, 16, { fill: look.door }),
    drawShrubs(scene, 200, 520, BASE + 8),
    drawShrubs(scene, 690, 1000, BASE + 8),
  ];
}

/** A red barn and its silo, beside a farmhouse. */
export function drawBarn(): string {
  const y = BASE - 40;
  return [
    rect(1040, y - 210, 66, 210, { fill: '#b9bec3' }),
    path(`M1040 ${y - 210}q33 -46 66 0`, { fill: '#8f969c' }),
    polygon([880, y, 1060, y, 1060, y - 116, 1024, y - 176, 970, y - 204, 916, y - 176, 880, y - 116], {
      fill: '#9c3b30',
    }),
    path(`M872 ${y - 112}l40 -68l58 -30l58 30l40 68`, { fill: 'none', stroke: '#f2efe8', 'stroke-width': 8 }),
    rect(934, y - 84, 72, 84, { fill: '#f2efe8' }),
    path(`M938 ${y - 80}l64 76m0 -76l-64 76`, { stroke: '#9c3b30', 'stroke-width': 5 }),
  ].join('');
}
