/** Random conditions. */
import { type Comparison, type FieldTerm, type Literal, type Term, typeOf } from '../term.ts';
import { isMoment, type Type } from '../values.ts';
import { aimed, type Context, chooseField, chooseWay } from './context.ts';
import { chooseOver, makeLambda } from './lists.ts';
import { aimedLiteral, anyLiteral, literal, NULL } from './literals.ts';
import { makeDecimal, makeInteger, makePlace } from './numbers.ts';
import { call, makePattern, makeText, partOf, textField } from './texts.ts';
import { makeDate, makeDuration, makeTime, makeTimestamp } from './times.ts';

export function makeValue(context: Context, type: Type, depth: number): Term {
  switch (type) {
    case 'string':
      return makeText(context, depth);
    case 'integer':
      return makeInteger(context, depth);
    case 'decimal':
      return makeDecimal(context, depth);
    case 'boolean':
      return makeCondition(context, depth);
    case 'date':
      return makeDate(context, depth);
    case 'timestamp':
      return makeTimestamp(context, depth);
    case 'time':
      return makeTime(context, depth);
    case 'duration':
      return makeDuration(context, depth);
    case 'null':
      return NULL;
  }
}

/** Replaces a value by null now and then. */
export const orNull = (context: Context, term: Term): Term => (context.random.chance(0.02) ? NULL : term);

const TYPES = [
  ...['string', 'string', 'string', 'string', 'integer', 'integer', 'decimal', 'decimal'],
  ...['date', 'timestamp', 'timestamp', 'time', 'duration', 'boolean'],
] as const;

export function makeCase(context: Context, type: Type, depth: number): Term {
  const { random } = context;
  const branches = Array.from({ length: random.between(1, 3) }, (_, index) => ({
    when: random.chance(0.15) ? literal('boolean', true) : makeCondition(context, depth - 2),
    result:
      index > 0 ? orNull(context, makeValue(context, type, depth - 2)) : makeValue(context, type, depth - 2),
  }));
  return { kind: 'case', type, branches };
}

const ORDERS: readonly Comparison[] = ['eq', 'ne', 'gt', 'ge', 'lt', 'le'];

/** The other side of a comparison: usually a literal that matches the sample record. */
function otherSide(context: Context, left: Term, depth: number): Term {
  const { random } = context;
  const type = typeOf(left);
  if (random.chance(0.07)) return NULL;
  if (random.chance(0.18)) return makeValue(context, similar(context, type), depth - 1);
  return aimedLiteral(context, left, random.chance(0.15) ? similarLiteral(type) : type);
}

/** A type that can be compared with the given one. */
function similar({ random }: Context, type: Type): Type {
  if (isMoment(type)) return random.pick(['date', 'timestamp']);
  if (type === 'integer' || type === 'decimal') return random.pick(['integer', 'decimal']);
  return type === 'null' ? 'string' : type;
}

const similarLiteral = (type: Type): Type =>
  type === 'integer' ? 'decimal' : type === 'date' ? 'timestamp' : type;

function makeComparison(context: Context, depth: number): Term {
  const { random } = context;
  const type = random.pick(TYPES);
  const operator = type === 'boolean' && random.chance(0.8) ? random.pick(['eq', 'ne']) : random.pick(ORDERS);
  const left = makeValue(context, type, depth - 1);
  const right = otherSide(context, left, depth);
  return random.chance(0.9)
    ? { kind: 'compare', operator, left, right }
    : { kind: 'compare', operator, left: right, right: left };
}

function makeIn(context: Context, depth: number): Term {
  const { random } = context;
  const type = random.pick(['string', 'string', 'integer', 'decimal', 'date', 'timestamp', 'time']);
  const operand = makeValue(context, type, depth - 1);
  const item = (): Term => {
    if (random.chance(0.1)) return NULL;
    if (random.chance(0.1)) return makeValue(context, type, depth - 2);
    return random.chance(0.6) ? aimedLiteral(context, operand, type) : anyLiteral(context, type);
  };
  return { kind: 'in', operand, items: Array.from({ length: random.between(1, 5) }, item) };
}

const isLookup = (field: FieldTerm | undefined): boolean => field?.field.lookup !== undefined;

/** A value of a lookup, in either spelling. */
function spelled(context: Context, lookup: string | undefined, value: string): string {
  const { random, world } = context;
  const known = lookup === undefined ? undefined : world.dictionary.lookups.get(lookup);
  if (known === undefined) return value;
  const standard = random.chance(0.7) ? (known.spellings.get(value) ?? value) : undefined;
  const chosen = known.values.get(standard ?? '') ?? random.among([...known.values.values()]);
  return (random.chance(0.5) ? chosen?.legacy : chosen?.value) ?? value;
}

/** Comparisons of lookups with literals in any spelling. */
function makeLookupTest(context: Context): Term | undefined {
  const { random } = context;
  let field = chooseField(context, 'string');
  for (let attempt = 0; attempt < 8 && !isLookup(field); attempt++) field = chooseField(context, 'string');
  if (field === undefined || !isLookup(field)) return undefined;
  const { lookup } = field.field;
  const value = (): Literal => {
    const aim = field === undefined ? undefined : aimed(context, field);
    return literal('string', spelled(context, lookup, typeof aim === 'string' ? aim : ''));
  };
  if (random.chance(0.3)) return { kind: 'has', of: field, members: [String(value().value)] };
  if (random.chance(0.4)) return { kind: 'in', operand: field, items: [value(), value(), value()] };
  return { kind: 'compare', operator: random.pick(['eq', 'ne']), left: field, right: value() };
}

function makeListTest(context: Context): Term | undefined {
  const { random } = context;
  const over = chooseOver(context, 'values');
  if (over?.kind !== 'values') return undefined;
  const { field } = over;
  const member = (): string => {
    const found = random.among(context.world.entities(field.resource))?.values[field.name];
    const name = Array.isArray(found) ? (random.among(found) ?? '') : '';
    return random.chance(0.5) && name !== '' ? name : spelled(context, field.lookup, name);
  };
  if (random.chance(0.4)) {
    const members = Array.from({ length: random.between(1, 2) }, member).filter((name) => isName(name));
    return members.length === 0 ? undefined : { kind: 'has', of: over, members };
  }
  const operand = random.chance(0.8) ? literal('string', member()) : textField(context);
  return { kind: 'member', operand, over };
}

/** Commas separate the members of an enumeration, so a name with a comma would be two. */
const isName = (name: string): boolean => name !== '' && !name.includes(',') && name.trim() === name;

function makePolygon(context: Context): Term | undefined {
  const { random } = context;
  const way = chooseWay(context, 0.95);
  if (way === undefined || !way.resource.fields.has('Latitude')) return undefined;
  const centre = makePlace(context);
  const [width, height] = [0.1 + random.unit() * 0.8, 0.1 + random.unit() * 0.5];
  const corners = random.chance(0.3) ? 4 : random.between(3, 40);
  const ring = Array.from({ length: corners }, (_, index) => {
    const angle = (2 * Math.PI * (index + (corners === 4 ? 0.5 : 0))) / corners;
    const reach = corners === 4 ? Math.SQRT2 : 0.4 + random.unit();
    const bounded = (value: number, bound: number): number => Math.min(bound, Math.max(-bound, value));
    return {
      longitude: bounded(fine(centre.longitude + Math.cos(angle) * reach * width), 180),
      latitude: bounded(fine(centre.latitude + Math.sin(angle) * reach * height), 90),
    };
  });
  const [first] = ring;
  const { scope, via } = way;
  return first === undefined ? undefined : { kind: 'within', scope, via, ring: [...ring, first] };
}

const fine = (degrees: number): number => Math.round(degrees * 1e4) / 1e4;

function makeAbsence(context: Context): Term | undefined {
  const way = chooseWay(context, 0.3);
  if (way === undefined || way.via.length === 0) return undefined;
  return { kind: 'absent', scope: way.scope, via: way.via, operator: context.random.pick(['eq', 'ne']) };
}

function makeTextTest(context: Context, depth: number): Term {
  const { random } = context;
  const text = makeText(context, depth - 1);
  const [name, where] = random.pick([
    ['contains', 'anywhere'],
    ['startswith', 'start'],
    ['endswith', 'end'],
  ] as const);
  const other = random.chance(0.85)
    ? literal('string', partOf(context, text, where))
    : makeText(context, depth - 1);
  return call(name, 'boolean', orNull(context, text), orNull(context, other));
}

function makeMatch(context: Context, depth: number): Term {
  const operand = makeText(context, depth - 1);
  return {
    kind: 'matches',
    operand,
    pattern: makePattern(context, operand),
    ignoreCase: context.random.chance(0.4),
  };
}

function makeIsOf(context: Context, depth: number): Term {
  const { random } = context;
  const type = random.pick(['string', 'integer', 'decimal', 'date', 'timestamp', 'boolean']);
  const to = random.pick(['Edm.String', 'Edm.Int32', 'Edm.Decimal', 'Edm.Date', 'Edm.DateTimeOffset']);
  return { kind: 'isof', to, operand: makeValue(context, type, depth - 1) };
}

function makeJoined(context: Context, depth: number): Term {
  const { random } = context;
  const terms = Array.from({ length: random.between(2, 3) }, () =>
    random.chance(0.02) ? NULL : makeCondition(context, depth - 1),
  );
  return { kind: random.chance(0.5) ? 'and' : 'or', terms };
}

const booleanField = (context: Context): Term | undefined => chooseField(context, 'boolean');

/** A condition of a random shape; a comparison if no sample record suits the shape. */
export function makeCondition(context: Context, depth: number): Term {
  const { random } = context;
  if (depth <= 0)
    return (random.chance(0.3) ? booleanField(context) : undefined) ?? makeComparison(context, 1);
  return shaped(context, depth, random.between(0, 99)) ?? makeComparison(context, depth);
}

function shaped(context: Context, depth: number, draw: number): Term | undefined {
  if (draw < 34) return makeComparison(context, depth);
  if (draw < 48) return makeJoined(context, depth);
  if (draw < 55) return { kind: 'not', operand: makeCondition(context, depth - 1) };
  if (draw < 60) return makeIn(context, depth);
  if (draw < 66) return makeTextTest(context, depth);
  if (draw < 70) return makeMatch(context, depth);
  if (draw < 84) return makeLambda(context, depth);
  if (draw < 88) return makeListTest(context);
  if (draw < 91) return makeLookupTest(context);
  if (draw < 93) return makePolygon(context);
  if (draw < 94) return makeAbsence(context);
  if (draw < 95) return makeIsOf(context, depth);
  if (draw < 97) return booleanField(context);
  return makeCase(context, 'boolean', depth);
}

/** A sort key: a field or another expression with a single value. */
export function makeOrderKey(context: Context, depth: number): Term {
  const type = context.random.pick(TYPES);
  return makeValue(context, type === 'duration' ? 'string' : type, depth);
}
