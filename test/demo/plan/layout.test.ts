import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Placed } from '../../../packages/demo/src/plan/columns.ts';
import { layoutFloors } from '../../../packages/demo/src/plan/floors.ts';
import type { FloorLayout } from '../../../packages/demo/src/plan/layout.ts';
import { findPassages, findWindows, sharedWall } from '../../../packages/demo/src/plan/openings.ts';
import { type PlanRoom, zoneOf } from '../../../packages/demo/src/plan/spaces.ts';

const TYPES = [
  ...['Living Room', 'Kitchen', 'Dining Room', 'Family Room', 'Master Bedroom', 'Bedroom 2', 'Bedroom 3'],
  ...['Bedroom 4', 'Master Bathroom', 'Bathroom 1', 'Bathroom 2', 'Laundry', 'Office', 'Den', 'Bonus Room'],
];

const rooms: fc.Arbitrary<PlanRoom[]> = fc
  .uniqueArray(
    fc.record({
      type: fc.constantFrom(...TYPES),
      level: fc.constantFrom('Main', 'Second', 'Basement'),
      scale: fc.double({ min: 0.7, max: 1.5, noNaN: true }),
    }),
    { minLength: 1, maxLength: 11, selector: ({ type }) => type },
  )
  .map((list) =>
    list.map(({ type, level, scale }, index) => ({
      key: `R${index}`,
      type,
      level,
      area: scale * (['bath', 'ensuite', 'service'].includes(zoneOf(type)) ? 50 : 170),
    })),
  );
const facts = fc.record({ baths: fc.integer({ min: 0, max: 4 }), narrow: fc.boolean() });
const OPTIONS = { seed: 20260601, numRuns: 600 } as const;

const overlap = (a: Placed, b: Placed): number =>
  Math.max(0, Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x)) *
  Math.max(0, Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y));

function assertFills({ width, depth, spaces }: FloorLayout): void {
  for (const [index, a] of spaces.entries()) {
    assert.ok(a.width > 0 && a.height > 0, `${a.name} has no size`);
    assert.ok(
      a.x > -1e-6 && a.y > -1e-6 && a.x + a.width < width + 1e-6 && a.y + a.height < depth + 1e-6,
      `${a.name} sticks out`,
    );
    for (const b of spaces.slice(index + 1)) assert.ok(overlap(a, b) < 1e-6, `${a.name} lies over ${b.name}`);
  }
  const sum = spaces.reduce((total, space) => total + space.width * space.height, 0);
  assert.ok(Math.abs(sum - width * depth) < 1e-6 * sum, `${sum} of ${width * depth} square feet are filled`);
}

describe('the layout of floors', () => {
  it('fills each floor without gap or overlap, and gives every room its area', () => {
    fc.assert(
      fc.property(rooms, facts, (list, known) => {
        const floors = layoutFloors(list, known);
        assert.deepEqual(new Set(floors.map(({ level }) => level)), new Set(list.map(({ level }) => level)));
        for (const { layout } of floors) assertFills(layout);
        const placed = new Map(
          floors.flatMap(({ layout }) => layout.spaces).map((space) => [space.key, space]),
        );
        for (const { key, area, type } of list) {
          const space = placed.get(key);
          assert.equal(space?.name, type);
          assert.ok(space !== undefined && Math.abs(space.width * space.height - area) < 1e-6);
        }
      }),
      OPTIONS,
    );
  });

  it('works for a building of many rooms on one floor', () => {
    const list: PlanRoom[] = Array.from({ length: 60 }, (_, index) => ({
      key: `R${index}`,
      type: 'Office',
      level: 'Main',
      area: 90 + index,
    }));
    const [floor] = layoutFloors(list, { baths: 20, narrow: false });
    assert.equal(floor?.layout.spaces.length, 60 + 20 + 2);
    assertFills(floor.layout);
  });

  it('adds an entry, stairs between floors, and bathrooms that no room describes', () => {
    const list: PlanRoom[] = [
      { key: 'a', type: 'Living Room', level: 'Main', area: 250 },
      { key: 'b', type: 'Kitchen', level: 'Main', area: 160 },
      { key: 'c', type: 'Master Bedroom', level: 'Second', area: 200 },
      { key: 'd', type: 'Master Bathroom', level: 'Second', area: 70 },
    ];
    const names = layoutFloors(list, { baths: 3, narrow: false }).map(({ level, layout }) => [
      level,
      layout.spaces
        .map(({ name }) => name)
        .sort()
        .join(', '),
    ]);
    assert.deepEqual(names, [
      ['Main', 'Bath, Bath, Entry, Hall, Kitchen, Living Room, Stairs'],
      ['Second', 'Closet, Master Bathroom, Master Bedroom, Stairs'],
    ]);
  });

  it('begins with the lowest floor, whatever the order of the rooms', () => {
    const list: PlanRoom[] = ['Third', 'Basement', 'Main', 'Second'].map((level) => ({
      key: level,
      type: 'Office',
      level,
      area: 120,
    }));
    assert.deepEqual(
      layoutFloors(list, { baths: 0, narrow: true }).map(({ level }) => level),
      ['Basement', 'Main', 'Second', 'Third'],
    );
  });

  it('stays the same when rooms are measured to the half foot, with few exceptions', () => {
    const known = { baths: 2, narrow: false };
    const samples = fc.sample(rooms, { seed: 20260601, numRuns: 500 });
    const order = (list: readonly PlanRoom[]): string =>
      layoutFloors(list, known)
        .map(({ layout }) => layout.spaces.map(({ name }) => name).join())
        .join(' / ');
    const changed = samples.filter((list) => {
      const rounded = list.map((room) => {
        const side = Math.round(Math.sqrt(room.area) * 2) / 2;
        return { ...room, area: side * side };
      });
      return order(list) !== order(rounded);
    });
    assert.ok(changed.length < 60, `${changed.length} of 500 floors changed`);
  });
});

describe('the connections in a floor', () => {
  it('reach every space, each through a wall that both spaces share', () => {
    fc.assert(
      fc.property(rooms, facts, (list, known) => {
        for (const { layout } of layoutFloors(list, known)) {
          const passages = findPassages(layout);
          const [first] = layout.spaces;
          const reached = new Set(first === undefined ? [] : [first]);
          for (let grown = true; grown; ) {
            grown = false;
            for (const { into, outOf } of passages) {
              if (reached.has(into) === reached.has(outOf)) continue;
              reached.add(into).add(outOf);
              grown = true;
            }
          }
          assert.equal(reached.size, layout.spaces.length);
          for (const { along, at, from, to, into, outOf } of passages) {
            const wall = sharedWall(into, outOf);
            assert.ok(wall !== undefined && wall.along === along && wall.at === at);
            assert.ok(from >= wall.from - 1e-6 && to <= wall.to + 1e-6 && to - from > 0.8);
          }
        }
      }),
      OPTIONS,
    );
  });

  it('never lead from a bathroom or bedroom into another bathroom', () => {
    const list: PlanRoom[] = TYPES.filter((type) => type !== 'Den').map((type, index) => ({
      key: `R${index}`,
      type,
      level: 'Main',
      area: zoneOf(type) === 'bath' ? 50 : 150,
    }));
    for (const { layout } of layoutFloors(list, { baths: 3, narrow: false })) {
      for (const { into, outOf } of findPassages(layout)) {
        assert.ok(
          outOf.zone !== 'bath' && outOf.zone !== 'closet',
          `${into.name} is entered from ${outOf.name}`,
        );
      }
    }
  });

  it('include windows in outer walls only, and none on a windowless side', () => {
    fc.assert(
      fc.property(rooms, facts, (list, known) => {
        for (const { layout } of layoutFloors(list, known)) {
          for (const { along, at } of findWindows(layout, new Set(['left', 'right']))) {
            assert.equal(along, 'x');
            assert.ok(at === 0 || at === layout.depth);
          }
        }
      }),
      OPTIONS,
    );
  });
});
