import type { Placed } from '../../plan/columns.ts';
import type { FloorLayout } from '../../plan/layout.ts';
import type { Passage, WallRun } from '../../plan/openings.ts';
import { group, path, rect } from '../svg.ts';
import { floorColor, GLASS, INK, INNER_WALL, OUTER_WALL, PAPER, SOFT_INK } from './style.ts';

/** The floors of all spaces, and their walls as lines. */
export function drawWalls({ spaces, width, depth }: FloorLayout, foot: number): string {
  const floors = spaces.map(({ x, y, width, height, zone }) =>
    rect(x * foot, y * foot, width * foot, height * foot, { fill: floorColor(zone) }),
  );
  const inner = spaces
    .map(
      ({ x, y, width, height }) =>
        `M${x * foot} ${y * foot}h${width * foot}v${height * foot}h${-width * foot}Z`,
    )
    .join('');
  return [
    ...floors,
    path(inner, { fill: 'none', stroke: INK, 'stroke-width': INNER_WALL * foot }),
    rect(0, 0, width * foot, depth * foot, { fill: 'none', stroke: INK, 'stroke-width': OUTER_WALL * foot }),
  ].join('');
}

/** A piece of floor laid over a wall. */
function gap({ along, at, from, to }: WallRun, foot: number, thickness: number, fill: string): string {
  const half = (thickness / 2) * foot + 0.6;
  return along === 'x'
    ? rect(from * foot, at * foot - half, (to - from) * foot, 2 * half, { fill })
    : rect(at * foot - half, from * foot, 2 * half, (to - from) * foot, { fill });
}

/** A leaf standing open and the arc that it sweeps; `inward` is 1 towards larger x or y, else -1. */
function leaf({ along, at, from, to }: WallRun, inward: 1 | -1, foot: number): string {
  const [hinge, length, line] = [from * foot, (to - from) * foot, at * foot];
  const swing = inward * length;
  const sweep = inward === 1 ? 0 : 1;
  const [leafPath, arc] =
    along === 'x'
      ? [
          `M${hinge} ${line}v${swing}`,
          `M${hinge} ${line + swing}A${length} ${length} 0 0 ${sweep} ${hinge + length} ${line}`,
        ]
      : [
          `M${line} ${hinge}h${swing}`,
          `M${line + swing} ${hinge}A${length} ${length} 0 0 ${1 - sweep} ${line} ${hinge + length}`,
        ];
  return (
    path(leafPath, { stroke: INK, 'stroke-width': 1.8, fill: 'none' }) +
    path(arc, { stroke: SOFT_INK, 'stroke-width': 0.8, fill: 'none' })
  );
}

const inwardTo = ({ along, at }: WallRun, { x, y }: Placed): 1 | -1 =>
  (along === 'x' ? y : x) > at - 0.01 ? 1 : -1;

/** Doors, openings and folding closet doors. */
export function drawPassage(passage: Passage, foot: number): string {
  const hole = gap(passage, foot, INNER_WALL, floorColor(passage.outOf.zone));
  switch (passage.kind) {
    case 'opening':
      return hole;
    case 'door':
      return hole + leaf(passage, inwardTo(passage, passage.into), foot);
    case 'folding': {
      const { along, at, from, to } = passage;
      const quarter = ((to - from) / 4) * foot;
      const fold = 0.45 * foot * -inwardTo(passage, passage.into);
      const zigzag = [fold, -fold, fold, -fold].map((step) =>
        along === 'x' ? `l${quarter} ${step}` : `l${step} ${quarter}`,
      );
      const begin = along === 'x' ? `M${from * foot} ${at * foot}` : `M${at * foot} ${from * foot}`;
      return hole + path(begin + zigzag.join(''), { stroke: INK, 'stroke-width': 1.2, fill: 'none' });
    }
  }
}

/** The door of the house, which swings in; `opens` says to which side inside lies. */
export function drawOuterDoor(wall: WallRun, inward: 1 | -1, foot: number): string {
  return gap(wall, foot, OUTER_WALL, floorColor('entry')) + leaf(wall, inward, foot);
}

export function drawWindow({ along, at, from, to }: WallRun, foot: number): string {
  const thick = OUTER_WALL * foot;
  const [x, y, width, height] =
    along === 'x'
      ? [from * foot, at * foot - thick / 2, (to - from) * foot, thick]
      : [at * foot - thick / 2, from * foot, thick, (to - from) * foot];
  const line = along === 'x' ? `M${x} ${at * foot}h${width}` : `M${at * foot} ${y}v${height}`;
  return group([rect(x, y, width, height), path(line)], { fill: PAPER, stroke: GLASS, 'stroke-width': 1.2 });
}
