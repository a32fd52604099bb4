/** Evaluates expressions for one record, node by node: OData 4.01 in plain JavaScript. */
import { callFunction, castValue } from './functions.ts';
import { distanceBetween, liesWithin, type Place } from './places.ts';
import { CASTS, type Comparison, type Over, type Scope, type Term, typeOf } from './term.ts';
import {
  compareValues,
  dayOf,
  isMoment,
  isNumber,
  LAST_MOMENT,
  refuseNear,
  type Type,
  Unsure,
  type Value,
  wholeNumber,
} from './values.ts';
import {
  type Entity,
  fieldValue,
  fieldValues,
  follow,
  membersOf,
  standardValue,
  type Viewer,
  type World,
} from './world.ts';

/** The value of a scope: a record, or the member of a multi-valued field. */
export type Member = Entity | string;

export interface Situation {
  readonly world: World;
  readonly viewer: Viewer;
  readonly now: number;
  readonly scopes: readonly Member[];
}

function recordOf({ scopes }: Situation, scope: Scope): Entity {
  const member = scopes[scope];
  if (member === undefined || typeof member === 'string') throw new Error(`scope ${scope} is no record`);
  return member;
}

function entityAt(situation: Situation, { scope, via }: Pick<Over, 'scope' | 'via'>): Entity | undefined {
  return follow(situation.world, recordOf(situation, scope), via, situation.viewer);
}

export function membersAt(situation: Situation, over: Over): readonly Member[] {
  const { world, viewer } = situation;
  const entity = entityAt(situation, over);
  if (entity === undefined) return [];
  return over.kind === 'values'
    ? fieldValues(world, entity, over.field, viewer)
    : membersOf(world, entity, over.navigation, viewer);
}

const within = (situation: Situation, member: Member): Situation => ({
  ...situation,
  scopes: [...situation.scopes, member],
});

/** True, false, or null. */
export function truthOf(term: Term, situation: Situation): boolean | null {
  const value = evaluate(term, situation);
  if (value === null || typeof value === 'boolean') return value;
  throw new Error(`${term.kind} is not a condition`);
}

export function evaluate(term: Term, situation: Situation): Value {
  const { world, viewer } = situation;
  switch (term.kind) {
    case 'literal':
      return term.value;
    case 'field': {
      const entity = entityAt(situation, term);
      return entity === undefined ? null : fieldValue(world, entity, term.field, viewer);
    }
    case 'element': {
      const member = situation.scopes[term.scope];
      if (typeof member === 'string') return member;
      throw new Error(`scope ${term.scope} is a record`);
    }
    case 'compare':
      return compareTerms(term.operator, term.left, term.right, situation);
    case 'in':
      return term.items.some((item) => compareTerms('eq', term.operand, item, situation));
    case 'member':
      return isMember(term.operand, term.over, situation);
    case 'has':
      if (term.of.kind === 'field' && evaluate(term.of, situation) === null) return null;
      return term.members.every((name) => has(term.of, name, situation));
    case 'and':
      return kleene(term.terms, false, situation);
    case 'or':
      return kleene(term.terms, true, situation);
    case 'not': {
      const value = truthOf(term.operand, situation);
      return value === null ? null : !value;
    }
    case 'arithmetic':
      return calculate(term, situation);
    case 'negate': {
      const value = evaluate(term.operand, situation);
      return value === null ? null : 0 - Number(value);
    }
    case 'call': {
      const values = term.parameters.map((parameter) => evaluate(parameter, situation));
      return callFunction(term.name, values, situation.now);
    }
    case 'cast':
      if (term.type === 'string' && isInexact(term.operand)) throw new Unsure('digits of an inexact number');
      return castValue(term.to, term.type, typeOf(term.operand), evaluate(term.operand, situation));
    case 'isof':
      return isOf(CASTS[term.to], typeOf(term.operand)) && evaluate(term.operand, situation) !== null;
    case 'case': {
      const branch = term.branches.find(({ when }) => truthOf(when, situation) === true);
      return branch === undefined ? null : evaluate(branch.result, situation);
    }
    case 'matches': {
      const value = evaluate(term.operand, situation);
      if (typeof value !== 'string') return null;
      return new RegExp(term.pattern, term.ignoreCase ? 'iu' : 'u').test(value);
    }
    case 'distance': {
      const place = placeOf(situation, term);
      return place === undefined ? null : distanceBetween(place, term.to);
    }
    case 'within': {
      const place = placeOf(situation, term);
      return place === undefined ? null : liesWithin(place, term.ring);
    }
    case 'absent':
      return (entityAt(situation, term) === undefined) === (term.operator === 'eq');
    case 'any': {
      const { predicate } = term;
      return kept(term, situation).some(
        (inner) => predicate === undefined || truthOf(predicate, inner) === true,
      );
    }
    case 'all': {
      const { predicate } = term;
      return kept(term, situation).every(
        (inner) => predicate === undefined || truthOf(predicate, inner) === true,
      );
    }
    case 'count':
      return kept(term, situation).length;
  }
}

/** The situations of the members that a filter keeps. */
function kept(
  { over, filter }: { readonly over: Over; readonly filter?: Term | undefined },
  situation: Situation,
): readonly Situation[] {
  return membersAt(situation, over)
    .map((member) => within(situation, member))
    .filter((inner) => filter === undefined || truthOf(filter, inner) === true);
}

/** Null is unknown: it does not decide the result, but another term may (5.1.1.1.7, 5.1.1.1.8). */
function kleene(terms: readonly Term[], decisive: boolean, situation: Situation): boolean | null {
  let unknown = false;
  for (const term of terms) {
    const value = truthOf(term, situation);
    if (value === decisive) return decisive;
    if (value === null) unknown = true;
  }
  return unknown ? null : !decisive;
}

/** The lookup of a single field or member; literals compared with it may have any spelling. */
function lookupOf(term: Term): string | undefined {
  if (term.kind === 'field') return term.field.lookup;
  return term.kind === 'element' ? term.lookup : undefined;
}

function compareTerms(operator: Comparison, left: Term, right: Term, situation: Situation): boolean {
  const values = [evaluate(left, situation), evaluate(right, situation)] as const;
  if (operator === 'eq' || operator === 'ne') {
    const lookup =
      right.kind === 'literal' ? lookupOf(left) : left.kind === 'literal' ? lookupOf(right) : undefined;
    const [one, other] = values.map((value) =>
      typeof value === 'string' ? standardValue(situation.world.dictionary, lookup, value) : value,
    );
    return isEqual(left, right, one ?? null, other ?? null) === (operator === 'eq');
  }
  const [one, other] = values;
  if (one === null || other === null) return false;
  if (isInexact(left) || isInexact(right)) refuseNear(one, other);
  const order = compareValues(one, other);
  switch (operator) {
    case 'gt':
      return order > 0;
    case 'ge':
      return order >= 0;
    case 'lt':
      return order < 0;
    case 'le':
      return order <= 0;
  }
}

/** Null equals only null (5.1.1.1.1). */
function isEqual(left: Term, right: Term, one: Value, other: Value): boolean {
  if (one === null || other === null) return one === other;
  if (isInexact(left) || isInexact(right)) refuseNear(one, other);
  return compareValues(one, other) === 0;
}

/** Whether there are several ways to compute it, whose results differ in the last digits. */
function isInexact(term: Term): boolean {
  if (term.kind === 'distance') return true;
  if (term.kind === 'arithmetic' || term.kind === 'negate') {
    return (
      typeOf(term) === 'duration' ||
      ('left' in term ? [term.left, term.right] : [term.operand]).some(isInexact)
    );
  }
  if (term.kind === 'case') return term.branches.some(({ result }) => isInexact(result));
  return (
    (term.kind === 'call' && term.parameters.some(isInexact)) ||
    (term.kind === 'cast' && isInexact(term.operand))
  );
}

function isMember(operand: Term, over: Over, situation: Situation): boolean {
  const value = evaluate(operand, situation);
  const { dictionary } = situation.world;
  const lookup = operand.kind === 'literal' && over.kind === 'values' ? over.field.lookup : undefined;
  const spelled = (member: Value): Value =>
    typeof member === 'string' ? standardValue(dictionary, lookup, member) : member;
  return membersAt(situation, over).some(
    (member) => typeof member === 'string' && spelled(member) === spelled(value),
  );
}

/** `has` with a value is equality; on a multi-valued field, some member must be equal (docs/odata.md). */
function has(of: Extract<Term, { kind: 'has' }>['of'], name: string, situation: Situation): boolean {
  const literal: Term = { kind: 'literal', type: 'string', value: name };
  return of.kind === 'field' ? compareTerms('eq', of, literal, situation) : isMember(literal, of, situation);
}

const isOf = (wanted: Type, found: Type): boolean =>
  wanted === found || (wanted === 'decimal' && found === 'integer');

function placeOf(situation: Situation, at: Pick<Over, 'scope' | 'via'>): Place | undefined {
  const entity = entityAt(situation, at);
  if (entity === undefined) return undefined;
  const { world, viewer } = situation;
  const [latitude, longitude] = ['Latitude', 'Longitude'].map((name) => {
    const field = entity.resource.fields.get(name);
    return field === undefined ? null : fieldValue(world, entity, field, viewer);
  });
  return typeof latitude === 'number' && typeof longitude === 'number' ? { latitude, longitude } : undefined;
}

type Calculation = Extract<Term, { kind: 'arithmetic' }>;

/** Arithmetic with null is null, and so is a division by zero. */
function calculate(term: Calculation, situation: Situation): Value {
  const [left, right] = [evaluate(term.left, situation), evaluate(term.right, situation)];
  if (typeof left !== 'number' || typeof right !== 'number') return null;
  const result = combine(term, left, right);
  if (result === null) return null;
  switch (term.type) {
    case 'integer':
      return wholeNumber(result);
    case 'date':
      return inRange(dayOf(wholeMillisecond(result)));
    case 'timestamp':
      return inRange(wholeMillisecond(result));
    case 'duration':
      return Number.isFinite(result) ? exactDuration(result) : null;
    default:
      return Number.isFinite(result) ? result : null;
  }
}

/** Times are stored in milliseconds; how a time in between is rounded is left open. */
function wholeMillisecond(moment: number): number {
  if (!Number.isInteger(moment)) throw new Unsure('between two milliseconds');
  return moment;
}

/** A duration that a double represents to the microsecond, in seconds; other results are left open. */
function exactDuration(milliseconds: number): number {
  if (milliseconds % 1000 !== 0) wholeNumber(Math.round(milliseconds * 1000));
  return milliseconds;
}

/** Literals may be of the year 0, although records are not. */
const YEAR_ZERO = Date.parse('0000-01-01T00:00:00Z');

const inRange = (moment: number): number | null =>
  moment >= YEAR_ZERO && moment <= LAST_MOMENT ? moment : null;

function combine({ operator, left, right }: Calculation, one: number, other: number): number | null {
  switch (operator) {
    case 'add':
      return one + other;
    case 'sub':
      return one - other;
    case 'mul':
      return one * other;
    case 'div':
      if (other === 0) return null;
      return typeOf(left) === 'integer' && typeOf(right) === 'integer'
        ? Math.trunc(one / other)
        : one / other;
    case 'divby':
      return other === 0 ? null : one / other;
    case 'mod':
      return other === 0 ? null : one % other;
  }
}

/** Whether two types can be compared without a cast. */
export const areComparable = (one: Type, other: Type): boolean =>
  one === other ||
  one === 'null' ||
  other === 'null' ||
  (isNumber(one) && isNumber(other)) ||
  (isMoment(one) && isMoment(other));
