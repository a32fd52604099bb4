/** Writes trees as OData text. */
import type { Collection, Expression, Literal, Scope } from '../../../src/query/tree.ts';

/** The style of a text: its white space and the case of its words. */
export interface Hand {
  readonly space: string;
  readonly upper: boolean;
  /** The scope of names without a prefix; 0 when absent. */
  readonly self?: Scope;
}

const LEVELS = {
  or: 1,
  and: 2,
  eq: 3,
  ne: 3,
  gt: 4,
  ge: 4,
  lt: 4,
  le: 4,
  add: 5,
  sub: 5,
  mul: 6,
  div: 6,
  divby: 6,
  mod: 6,
};
const UNARY = 7;
const MEMBER = 8;
const PRIMARY = 9;

function levelOf(tree: Expression): number {
  switch (tree.kind) {
    case 'and':
    case 'or':
      return LEVELS[tree.kind];
    case 'compare':
    case 'arithmetic':
      return LEVELS[tree.operator];
    case 'not':
    case 'negate':
      return UNARY;
    case 'in':
      return MEMBER;
    default:
      return PRIMARY;
  }
}

function place(scope: Scope, names: readonly { readonly name: string }[], { self = 0 }: Hand): string {
  const head = scope === 0 ? '$it' : `v${scope}`;
  return [...(scope === self ? [] : [head]), ...names.map(({ name }) => name)].join('/');
}

const overText = (over: Collection, hand: Hand): string =>
  place(over.scope, [...over.via, over.kind === 'values' ? over.field : over.navigation], hand);

function literalText(literal: Literal): string {
  switch (literal.type) {
    case 'string':
      return `'${literal.value.replaceAll("'", "''")}'`;
    case 'decimal':
      return Number.isInteger(literal.value) ? `${literal.value}.0` : `${literal.value}`;
    case 'duration':
      return `duration'${literal.value < 0 ? '-' : ''}PT${Math.abs(literal.value)}S'`;
    case 'point':
    case 'polygon':
      throw new Error('points stand only in geo functions');
    default:
      return `${literal.value}`;
  }
}

/** Writes a tree with only the parentheses that precedence requires. */
export function print(tree: Expression, hand: Hand, least = 0): string {
  const level = levelOf(tree);
  const written = write(tree, hand, level);
  return level < least ? `(${written})` : written;
}

function write(tree: Expression, hand: Hand, level: number): string {
  const word = (name: string) => (hand.upper ? name.toUpperCase() : name);
  const infix = (operator: string) => `${hand.space}${word(operator)}${hand.space}`;
  switch (tree.kind) {
    case 'literal':
      return literalText(tree);
    case 'field':
      return place(tree.scope, [...tree.via, tree.field], hand);
    case 'variable':
      return `v${tree.scope}`;
    case 'compare':
    case 'arithmetic':
      return print(tree.left, hand, level) + infix(tree.operator) + print(tree.right, hand, level + 1);
    case 'and':
    case 'or':
      return tree.terms.map((term) => print(term, hand, level + 1)).join(infix(tree.kind));
    case 'not':
      return `${word('not')}${hand.space}${print(tree.operand, hand, level)}`;
    case 'negate':
      return `-${print(tree.operand, hand, level)}`;
    case 'in':
      return `${print(tree.operand, hand, level)}${infix('in')}(${tree.values.map(literalText).join(',')})`;
    case 'call':
      return `${word(tree.function)}(${tree.arguments.map((argument) => print(argument, hand)).join(`,${hand.space}`)})`;
    case 'cast':
      return `${word('cast')}(${print(tree.operand, hand)},Edm.String)`;
    case 'case': {
      const branches = tree.branches.map(({ when, then }) => `(${print(when, hand)}):(${print(then, hand)})`);
      return `${word('case')}(${branches.join()})`;
    }
    case 'distance': {
      const { longitude, latitude } = tree.to;
      return `${word('geo.distance')}(Coordinates,geography'POINT(${longitude} ${latitude})')`;
    }
    case 'any':
    case 'all': {
      const predicate = tree.predicate ? `v${tree.variable}:${print(tree.predicate, hand)}` : '';
      return `${overText(tree.over, hand)}/${word(tree.kind)}(${predicate})`;
    }
    case 'count': {
      const inside = { ...hand, self: tree.variable };
      const predicate = tree.predicate ? `(${print(tree.predicate, inside)})` : '';
      return `${overText(tree.over, hand)}/$filter${predicate}/$count`;
    }
    case 'matches':
    case 'like':
    case 'within':
      throw new Error(`${tree.kind} is not generated`);
  }
}
