/** Random filters of the native language. */
import type { Condition, Joined, Left, NativeOperator, Part, Right, Shape } from '../native-term.ts';
import type { Place } from '../places.ts';
import type { Context } from './context.ts';
import { chooseList, makeLeft, typeOfLeft } from './native-left.ts';
import {
  booleanRight,
  dateRight,
  lookupRight,
  momentRight,
  numberRight,
  textRights,
  timeRight,
} from './native-right.ts';
import { makePlace } from './numbers.ts';

/** The maximum nesting of parentheses around conditions. */
const LEVELS = 2;

export function makeFilter(context: Context, levels = LEVELS): Joined {
  const { random } = context;
  const length = random.pick([1, 1, 1, 2, 2, 3]);
  return {
    kind: 'joined',
    negated: random.chance(0.2),
    first: makePart(context, levels),
    rest: Array.from({ length: length - 1 }, () => ({
      word: random.pick(['And', 'Or', 'Not', 'Or']),
      part: makePart(context, levels),
    })),
  };
}

const makePart = (context: Context, levels: number): Part =>
  levels > 0 && context.random.chance(0.25) ? makeFilter(context, levels - 1) : makeCondition(context);

const TYPES = [
  ...['string', 'string', 'string', 'string', 'integer', 'integer', 'decimal', 'decimal'],
  ...['date', 'timestamp', 'timestamp', 'time', 'boolean'],
] as const;

function makeCondition(context: Context): Condition {
  const { random } = context;
  const draw = random.between(0, 99);
  if (draw < 6) return { kind: 'place', operator: random.pick(['Eq', 'Ne']), shapes: [makeShape(context)] };
  if (draw < 12) return makeEvery(context);
  const left = makeLeft(context, random.pick(TYPES), random.between(0, 3));
  return { kind: 'comparison', left, ...makeSides(context, left) };
}

const EITHER: readonly NativeOperator[] = ['Eq', 'Ne'];
const ALL: readonly NativeOperator[] = ['Eq', 'Ne', 'Gt', 'Ge', 'Lt', 'Le', 'Bt'];

function makeSides(
  context: Context,
  left: Left,
): { readonly operator: NativeOperator; readonly right: readonly Right[] } {
  const { random } = context;
  const alone = left.over === undefined || left.term.kind === 'element';
  if (alone && random.chance(0.08)) return { operator: random.pick(EITHER), right: [{ kind: 'null' }] };
  const type = typeOfLeft(left);
  switch (type) {
    case 'string':
      return { operator: random.pick(EITHER), right: textsOf(context, left) };
    case 'boolean':
      return { operator: random.pick(EITHER), right: [booleanRight(context)] };
    case 'integer':
    case 'decimal': {
      const operator = random.pick(ALL);
      const count = operator === 'Bt' ? 2 : EITHER.includes(operator) ? random.between(1, 4) : 1;
      return {
        operator,
        right: Array.from({ length: count }, () => numberRight(context, left, count === 1)),
      };
    }
    case 'date':
    case 'timestamp':
    case 'time': {
      const operator = random.pick(ALL);
      const make = { date: dateRight, timestamp: momentRight, time: timeRight }[type];
      const right = Array.from({ length: operator === 'Bt' ? 2 : 1 }, () => make(context, left));
      return { operator, right };
    }
    default:
      throw new Error(`no native side is a ${type}`);
  }
}

function textsOf(context: Context, left: Left): readonly Right[] {
  const { random } = context;
  const { term } = left;
  const lookup =
    term.kind === 'field' ? term.field.lookup : term.kind === 'element' ? term.lookup : undefined;
  if (lookup === undefined || random.chance(0.4)) return textRights(context, left);
  return Array.from({ length: random.between(1, 3) }, () => lookupRight(context, left, lookup));
}

function makeEvery(context: Context): Condition {
  const { random } = context;
  const over = chooseList(context);
  if (over === undefined) throw new Error('no list');
  const left: Left = {
    term: { kind: 'element', type: 'string', scope: 1, lookup: over.field.lookup },
    over,
  };
  return { kind: 'every', over, operator: random.pick(['Eq', 'Ne']), right: textsOf(context, left) };
}

const fine = (degrees: number): number => Math.round(degrees * 1e4) / 1e4;

const MILES = [0.5, 1, 3, 10.25, 40, 4000] as const;

/** A key that does not exist. */
const NO_KEY = '9'.repeat(26);

/** The location of some record, in digits that the language accepts. */
function recordPlace(context: Context): Place {
  const record = context.random.among(context.world.entities('Property'));
  const [latitude, longitude] = [record?.values.Latitude, record?.values.Longitude];
  const isPlain = (degrees: unknown): degrees is number =>
    typeof degrees === 'number' && !String(degrees).includes('e');
  return isPlain(latitude) && isPlain(longitude) ? { latitude, longitude } : makePlace(context);
}

/** Lines along a degree of latitude or longitude, through the location of a record or next to it, and slanting ones. */
function makeLine(context: Context): readonly Place[] {
  const { random } = context;
  const { latitude, longitude } = recordPlace(context);
  const reach = fine(0.01 + random.unit() * 0.3);
  const [west, east] = [fine(longitude - reach), fine(longitude + reach)];
  const along = [west, east].map((degrees) => inBounds({ latitude, longitude: degrees }));
  switch (random.between(0, 3)) {
    case 0:
      return [...along, makePlace(context)];
    case 1:
      return [fine(latitude - reach), fine(latitude + reach)].map((degrees) =>
        inBounds({ latitude: degrees, longitude }),
      );
    case 2:
      return [makePlace(context), { latitude, longitude }, makePlace(context)];
    default:
      return along;
  }
}

function makeShape(context: Context): Shape {
  const { random } = context;
  const centre = makePlace(context);
  switch (random.between(0, 7)) {
    case 0: {
      const { key } = random.among(context.world.entities('Property')) ?? { key: NO_KEY };
      const known = /^\d{26}$/.test(key) && random.chance(0.9) ? key : NO_KEY;
      return { kind: 'around', key: known, miles: random.pick(MILES) };
    }
    case 1: {
      const form = random.pick(['point', 'multipoint'] as const);
      const points = Array.from({ length: form === 'point' ? 1 : 3 }, () => recordPlace(context));
      return { kind: 'points', form, points };
    }
    case 2: {
      const form = random.pick(['linestring', 'wkt line', 'wkt lines'] as const);
      return {
        kind: 'lines',
        form,
        lines: [makeLine(context), ...(form === 'wkt lines' ? [makeLine(context)] : [])],
      };
    }
  }
  if (random.chance(0.35)) return { kind: 'circle', centre, miles: random.pick(MILES) };
  const [width, height] = [fine(0.05 + random.unit() * 0.6), fine(0.05 + random.unit() * 0.5)];
  if (random.chance(0.4)) return { kind: 'area', form: 'rectangle', rings: [box(centre, width, height)] };
  if (random.chance(0.4)) {
    const hole = box(centre, fine(width / 3), fine(height / 2));
    return {
      kind: 'area',
      form: 'wkt',
      rings: [box(centre, width, height), ...(random.chance(0.5) ? [hole] : [])],
    };
  }
  const corners = random.between(3, 30);
  const ring = Array.from({ length: corners }, (_, index) => {
    const angle = (2 * Math.PI * index) / corners;
    const reach = 0.4 + random.unit();
    return inBounds({
      longitude: fine(centre.longitude + Math.cos(angle) * reach * width),
      latitude: fine(centre.latitude + Math.sin(angle) * reach * height),
    });
  });
  return { kind: 'area', form: 'polygon', rings: [closed(ring)] };
}

const inBounds = ({ longitude, latitude }: Place): Place => ({
  longitude: Math.min(180, Math.max(-180, longitude)),
  latitude: Math.min(90, Math.max(-90, latitude)),
});

const closed = (ring: readonly Place[]): readonly Place[] => [...ring, ...ring.slice(0, 1)];

/** The corners of a box; the first and third are opposite, as a rectangle is written. */
function box(centre: Place, width: number, height: number): readonly Place[] {
  const corner = (east: number, north: number): Place =>
    inBounds({
      longitude: fine(centre.longitude + east * width),
      latitude: fine(centre.latitude + north * height),
    });
  return closed([corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)]);
}
