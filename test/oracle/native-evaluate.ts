/** Evaluates filters of the native language for a record: whatever is not true is false, and null is a value. */
import { evaluate, type Member, membersAt, type Situation } from './evaluate.ts';
import type { Condition, Joined, Left, NativeOperator, Part, Right, Shape } from './native-term.ts';
import { distanceBetween, liesOn, liesWithin, type Place } from './places.ts';
import type { Term } from './term.ts';
import { ANY, indexOf, lengthOf, matchesWildcards, ONE, substringOf } from './text.ts';
import { compareTexts, compareValues, refuseNear, type Value } from './values.ts';
import { type Entity, fieldValue, isVisible, standardValue, type Viewer, type World } from './world.ts';

/** `And` and `Not` have precedence over `Or`; `A Not B` means `A` and not `B`. */
export function meets(filter: Joined, situation: Situation, nested = false): boolean {
  const counted = filter.negated && !(nested && startsWithNot(filter.first));
  let all = meetsPart(filter.first, situation) !== counted;
  let some = false;
  for (const { word, part } of filter.rest) {
    if (word === 'Or') {
      some ||= all;
      all = true;
    }
    const met = meetsPart(part, situation) !== (word === 'Not');
    all &&= met;
  }
  return some || all;
}

/** Inside parentheses, a Not in front of a group that itself begins with Not has no effect. */
const startsWithNot = (part: Part): boolean =>
  part.kind === 'joined' && (part.negated || startsWithNot(part.first));

function meetsPart(part: Part, situation: Situation): boolean {
  return part.kind === 'joined' ? meets(part, situation, true) : meetsCondition(part, situation);
}

function meetsCondition(condition: Condition, situation: Situation): boolean {
  switch (condition.kind) {
    case 'comparison': {
      const { left, operator, right } = condition;
      if (operator === 'Ne') return !meetsComparison(left, 'Eq', right, situation);
      return meetsComparison(left, operator, right, situation);
    }
    case 'every': {
      const members = membersAt(situation, condition.over);
      const { field } = condition.over;
      const met = condition.right.every((value) =>
        members.some((member) => equals(String(member), value, field.lookup, situation)),
      );
      return met === (condition.operator === 'Eq');
    }
    case 'place': {
      const place = placeOf(situation);
      const inside = place !== undefined && condition.shapes.some((shape) => isIn(place, shape, situation));
      return inside === (condition.operator === 'Eq');
    }
  }
}

function meetsComparison(
  { term, over }: Left,
  operator: Exclude<NativeOperator, 'Ne'>,
  right: readonly Right[],
  situation: Situation,
): boolean {
  const lookup = lookupOf(term);
  if (over === undefined) return holds(evaluate(term, situation), operator, right, lookup, situation);
  const members = membersAt(situation, over);
  if (right[0]?.kind === 'null' && term.kind === 'element') return members.length === 0;
  return members.some((member: Member) => {
    const inner = { ...situation, scopes: [...situation.scopes, member] };
    return holds(evaluate(term, inner), operator, right, lookup, situation);
  });
}

/** The spellings of a lookup value are equivalent for a single field. */
function lookupOf(term: Term): string | undefined {
  if (term.kind === 'field') return term.field.lookup;
  return term.kind === 'element' ? term.lookup : undefined;
}

function holds(
  value: Value,
  operator: Exclude<NativeOperator, 'Ne'>,
  right: readonly Right[],
  lookup: string | undefined,
  situation: Situation,
): boolean {
  if (operator === 'Eq') return right.some((one) => equals(value, one, lookup, situation));
  if (value === null) return false;
  const [low, high] = right.map((one) => orderTo(value, one));
  if (low === undefined) return false;
  switch (operator) {
    case 'Gt':
      return low > 0;
    case 'Ge':
      return low >= 0;
    case 'Lt':
      return low < 0;
    case 'Le':
      return low <= 0;
    case 'Bt':
      return low >= 0 && high !== undefined && high <= 0;
  }
}

/** Negative if the value is less than the right side. A bound between two milliseconds equals no value. */
function orderTo(value: Value, right: Right): number {
  if (right.kind === 'literal') return compareValues(value, right.value);
  if (right.kind === 'beyond') return compareValues(value, right.value) <= 0 ? -1 : 1;
  throw new Error(`${right.kind} has no order`);
}

function equals(value: Value, right: Right, lookup: string | undefined, { world }: Situation): boolean {
  if (right.kind === 'null') return value === null;
  if (value === null) return false;
  switch (right.kind) {
    case 'beyond':
      return false;
    case 'literal': {
      const [one, other] = [value, right.value].map((side) =>
        typeof side === 'string' ? standardValue(world.dictionary, lookup, side) : side,
      );
      return compareValues(one ?? null, other ?? null) === 0;
    }
    case 'wildcards':
      return matchesWildcards(String(value), right.pattern);
    case 'regex':
      return new RegExp(right.pattern, right.ignoreCase ? 'iu' : 'u').test(String(value));
    case 'part':
      return hasPart(String(value), right.name, right.part);
    case 'range':
      return compareTexts(String(value), right.from) >= 0 && compareTexts(String(value), right.to) <= 0;
  }
}

function hasPart(text: string, name: 'startswith' | 'endswith' | 'contains', part: string): boolean {
  const size = lengthOf(part);
  switch (name) {
    case 'contains':
      return indexOf(text, part) >= 0;
    case 'startswith':
      return substringOf(text, 0, size) === part;
    case 'endswith':
      return lengthOf(text) >= size && substringOf(text, lengthOf(text) - size, undefined) === part;
  }
}

function placeOf({ scopes, world, viewer }: Situation): Place | undefined {
  const [entity] = scopes;
  return entity === undefined || typeof entity === 'string'
    ? undefined
    : placeOfEntity(entity, world, viewer);
}

function placeOfEntity(entity: Entity, world: World, viewer: Viewer): Place | undefined {
  const [latitude, longitude] = ['Latitude', 'Longitude'].map((name) => {
    const field = entity.resource.fields.get(name);
    return field === undefined ? null : fieldValue(world, entity, field, viewer);
  });
  return typeof latitude === 'number' && typeof longitude === 'number' ? { latitude, longitude } : undefined;
}

const METRES_IN_A_MILE = 1609.344;

function isIn(place: Place, shape: Shape, { world, viewer }: Situation): boolean {
  switch (shape.kind) {
    case 'circle':
      return isAround(place, shape.centre, shape.miles);
    case 'around': {
      const entity = world.find('Property', 'ListingKey', shape.key);
      const seen = entity !== undefined && isVisible(world, entity, viewer);
      const centre = seen ? placeOfEntity(entity, world, viewer) : undefined;
      return centre !== undefined && isAround(place, centre, shape.miles);
    }
    case 'points':
      return shape.points.some(
        ({ latitude, longitude }) => place.latitude === latitude && place.longitude === longitude,
      );
    case 'lines':
      return shape.lines.some((line) => liesOn(place, line));
    case 'area': {
      const [outer, ...holes] = shape.rings;
      return (
        outer !== undefined && liesWithin(place, outer) && !holes.some((hole) => liesWithin(place, hole))
      );
    }
  }
}

function isAround(place: Place, centre: Place, miles: number): boolean {
  const [distance, bound] = [distanceBetween(place, centre), miles * METRES_IN_A_MILE];
  refuseNear(distance, bound);
  return distance <= bound;
}

/** `*` and `?` are wildcards; after a backslash, they are ordinary characters. */
export function readPattern(text: string): readonly string[] {
  return [...text.matchAll(/\\[*?]|[\s\S]/gu)].map(([part]) =>
    part === '*'
      ? ANY
      : part === '?'
        ? ONE
        : part.length === 2 && part.startsWith('\\')
          ? part.slice(1)
          : part,
  );
}
