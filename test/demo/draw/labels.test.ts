import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { XMLParser } from 'fast-xml-parser';
import { fitLabels, type Sides } from '../../../packages/demo/src/draw/plan/floor.ts';
import {
  type Box,
  feetAndInches,
  placeNumber,
  withinWalls,
} from '../../../packages/demo/src/draw/plan/labels.ts';
import { drawFloorPlan, type ListedRoom } from '../../../packages/demo/src/draw/plan/sheet.ts';
import { ABOVE, BELOW, textWidth } from '../../../packages/demo/src/draw/plan/text-width.ts';
import { makeMarket } from '../../../packages/demo/src/market.ts';
import type { Placed } from '../../../packages/demo/src/plan/columns.ts';
import { layoutFloors } from '../../../packages/demo/src/plan/floors.ts';
import { listedRooms, ownFacts } from '../plans.ts';

const TYPES = [
  ...['Living Room', 'Kitchen', 'Master Bedroom', 'Bedroom 2', 'Bedroom 10', 'Master Bathroom', 'Bathroom'],
  ...[
    'Laundry',
    'Utility Room',
    'Recreation Room',
    'Library',
    'Salon mit Kamin und Blick auf den See',
    'Room',
  ],
];
const rooms: fc.Arbitrary<ListedRoom[]> = fc
  .array(
    fc.record({
      type: fc.constantFrom(...TYPES),
      level: fc.constantFrom('Main', 'Second'),
      length: fc.double({ min: 3, max: 22, noNaN: true }),
      width: fc.double({ min: 2, max: 14, noNaN: true }),
    }),
    { minLength: 1, maxLength: 24 },
  )
  .map((list) => list.map((room, index) => ({ ...room, key: `R${index}` })));
const facts = fc.record({ baths: fc.integer({ min: 0, max: 4 }), narrow: fc.boolean() });
const scale = fc.double({ min: 1.5, max: 26, noNaN: true });

const cross = (a: Box, b: Box): boolean =>
  Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x) > 0.05 &&
  Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y) > 0.05;

const inside = (inner: Box, outer: Box): boolean =>
  inner.x > outer.x - 0.05 &&
  inner.y > outer.y - 0.05 &&
  inner.x + inner.width < outer.x + outer.width + 0.05 &&
  inner.y + inner.height < outer.y + outer.height + 0.05;

describe('the labels of a floor plan', () => {
  it('stay within the walls of their rooms at every scale, so that no two overlap', () => {
    fc.assert(
      fc.property(rooms, facts, scale, (list, known, foot) => {
        const sides: Sides = new Map(list.map(({ key, length, width }) => [key, [length, width]]));
        const sized = list.map(({ length, width, ...room }) => ({ ...room, area: length * width }));
        for (const { layout } of layoutFloors(sized, known)) {
          let number = 98;
          const placed = [...fitLabels(layout, sides, foot)].map(
            ([space, label]) => label ?? placeNumber(space, ++number, foot),
          );
          for (const [index, { space, box, lines }] of placed.entries()) {
            const room: Box = withinWalls(space, foot);
            if (Math.min(room.width, room.height) < 4) continue; // no letter is seen in it
            assert.ok(inside(box, room), `${lines[0]?.text} leaves ${space.name} at ${foot}`);
            for (const other of placed.slice(index + 1)) assert.ok(!cross(box, other.box), space.name);
          }
        }
      }),
      { seed: 20261122, numRuns: process.env.PLAT_FULL ? 4000 : 300 },
    );
  });

  it('are the listed names if these fit, otherwise shorter ones, and none if even these are too large', () => {
    const space = (width: number, height: number): Placed => ({
      ...{ name: 'Master Bathroom', zone: 'ensuite', area: width * height, key: 'a' },
      ...{ x: 0, y: 0, width, height },
    });
    const sides: Sides = new Map([['a', [8, 5.5]]]);
    const read = (placed: Placed): string | undefined => {
      const label = fitLabels({ width: 30, depth: 30, spaces: [placed] }, sides, 8).get(placed);
      const way = label?.upright === undefined ? '' : ' upwards';
      return label && label.lines.map(({ text }) => text).join(' | ') + way;
    };
    assert.deepEqual([space(16, 10), space(8, 9), space(8, 3.2), space(3, 9), space(3, 3)].map(read), [
      `Master Bathroom | 8' x 5' 6"`,
      `Master | Bathroom | 8' x 5' 6"`,
      `M. Bath | 8' x 5' 6"`,
      `Master Bathroom | 8' x 5' 6" upwards`,
      undefined,
    ]);
  });
});

type Node = { readonly [name: string]: unknown };

interface Written extends Box {
  readonly text: string;
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;
const nodesOf = (value: unknown): Node[] => (Array.isArray(value) ? value.filter(isNode) : []);

/** Every text of a drawing with its position on the sheet, from its attributes. */
function textsOf(svg: string): Written[] {
  const parser = new XMLParser({ preserveOrder: true, ignoreAttributes: false, trimValues: false });
  const found: Written[] = [];
  const walk = (node: Node, dx: number, dy: number, anchor: string): void => {
    const given = isNode(node[':@']) ? node[':@'] : {};
    const say = (name: string): string => String(given[`@_${name}`] ?? '');
    const [, x = '0', y = '0'] = /translate\((\S+) (\S+)\)/.exec(say('transform')) ?? [];
    const here = say('text-anchor') || anchor;
    for (const child of nodesOf(node.g ?? node.svg)) walk(child, dx + Number(x), dy + Number(y), here);
    const [content] = nodesOf(node.text);
    if (content === undefined) return;
    const text = String(content['#text']).replace(/&#(\d+);/g, (_, code) =>
      String.fromCharCode(Number(code)),
    );
    const size = Number(say('font-size'));
    const width = textWidth(text, size);
    const box = {
      x: dx + Number(say('x')) - (here === 'middle' ? width / 2 : 0),
      y: dy + Number(say('y')) - ABOVE * size,
      width,
      height: (ABOVE + BELOW) * size,
    };
    const [, cx, cy] = /rotate\(-90 (\S+) (\S+)\)/.exec(say('transform')) ?? [];
    const turned = {
      x: dx + Number(cx) + (box.y - dy - Number(cy)),
      y: dy + Number(cy) - (box.x - dx - Number(cx)) - width,
      width: box.height,
      height: width,
    };
    found.push({ text, ...(cx === undefined ? box : turned) });
  };
  for (const node of nodesOf(parser.parse(svg))) walk(node, 0, 0, 'start');
  return found;
}

/** Lines of one label are closer than their ascenders and descenders reach together. */
const crossing = (texts: readonly Written[]): string[] =>
  texts.flatMap((a, index) =>
    texts.slice(index + 1).flatMap((b) => {
      const shrunk = { ...b, x: b.x + 0.5, y: b.y + 0.5, width: b.width - 1, height: b.height - 1 };
      return cross(a, shrunk) ? [`${a.text} / ${b.text}`] : [];
    }),
  );

describe('the sheet of a floor plan', () => {
  const market = makeMarket({ seed: 5, listings: 400 });
  const planned = Array.from({ length: 100 }, (_, index) => market.listing(index * 4 + 3));

  it('has no two texts that overlap, and none beyond its edges', () => {
    for (const listing of planned) {
      const texts = textsOf(drawFloorPlan(listedRooms(listing), ownFacts(listing)));
      assert.deepEqual(crossing(texts), [], String(listing.ListingId));
      const off = texts.filter((box) => !inside(box, { x: 0, y: 0, width: 1400, height: 1000 }));
      assert.deepEqual(off, []);
    }
  });

  it('lists in its legend rooms that are too small for a label, with their dimensions', () => {
    const offices: ListedRoom[] = Array.from({ length: 90 }, (_, index) => ({
      key: `R${index}`,
      type: index % 2 === 0 ? 'Office' : 'Conference Room',
      level: 'Main',
      length: 5 + (index % 7),
      width: 4 + (index % 3),
    }));
    const svg = drawFloorPlan(offices, { ListingKey: 'x' });
    const texts = textsOf(svg);
    assert.deepEqual(crossing(texts), []);
    const legend = texts
      .flatMap(({ text }) => /^(\d+) {2}(.*)$/.exec(text) ?? [])
      .filter((_, i) => i % 3 === 2);
    assert.ok(legend.length > 0);
    for (const { key, length, width } of offices) {
      const sides = `${feetAndInches(length)} x ${feetAndInches(width)}`;
      assert.ok(
        texts.some(({ text }) => text === sides || text.endsWith(`, ${sides}`)),
        key,
      );
    }
    const numbers = texts
      .filter(({ text }) => /^\d+$/.test(text) && Number(text) >= 1)
      .map(({ text }) => text);
    for (const [index] of legend.entries()) assert.ok(numbers.includes(String(index + 1)), `${index + 1}`);
  });
});
