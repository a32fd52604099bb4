import type { Expression } from '../../tree.ts';
import { MAX_VALUES } from '../limits.ts';
import type { Node } from '../syntax/nodes.ts';
import { tooLarge } from '../syntax/source.ts';
import { bindArithmetic, bindNegation } from './arithmetic.ts';
import { bindCase, bindCast, bindIsOf } from './cast.ts';
import { bindComparison, bindHas, bindMembership } from './compare.ts';
import {
  type Bound,
  type BoundList,
  type BoundValue,
  deeper,
  type Environment,
  mismatch,
  spend,
  unsupported,
} from './environment.ts';
import { bindCall } from './function.ts';
import { bindLiteral } from './literal.ts';
import { bindPath } from './path.ts';
import { inWords, typeOf } from './types.ts';

type Of<Kind extends Node['kind']> = Extract<Node, { kind: Kind }>;

/** What a piece of syntax means where it stands. */
export function bindNode(outer: Environment, node: Node): Bound {
  const env = deeper(outer, node);
  switch (node.kind) {
    case 'literal':
      return bindLiteral(env, node, node.literal);
    case 'path':
      return bindPath(env, node.segments);
    case 'list':
      return bindList(env, node);
    case 'object':
      throw unsupported(env, node, 'a record as a value');
    default:
      spend(env, node);
      return { kind: 'value', expression: bindOperation(env, node) };
  }
}

function bindList(env: Environment, node: Of<'list'>): BoundList {
  if (node.items.length > MAX_VALUES) throw tooLarge(env.source, node.start, 'values in a list', MAX_VALUES);
  const items = node.items.flatMap((item) => listItems(env, item));
  if (items.length > MAX_VALUES) throw tooLarge(env.source, node.start, 'values in a list', MAX_VALUES);
  return { kind: 'list', items };
}

/** An alias inside a list may itself stand for a list. */
function listItems(env: Environment, item: Node): readonly BoundValue[] {
  if (item.kind === 'list') throw unsupported(env, item, 'a list inside a list');
  const bound = bindNode(env, item);
  return bound.kind === 'list' ? bound.items : [singleValue(env, item, bound)];
}

function bindOperation(
  env: Environment,
  node: Exclude<Node, Of<'literal' | 'path' | 'list' | 'object'>>,
): Expression {
  switch (node.kind) {
    case 'and':
    case 'or':
      return { kind: node.kind, terms: node.operands.map((operand) => bindOperand(env, operand, node.kind)) };
    case 'not':
      return { kind: 'not', operand: bindOperand(env, node.operand, 'not') };
    case 'negate':
      return bindNegation(env, node);
    case 'binary':
      return bindBinary(env, node);
    case 'call':
      return bindCall(env, node);
    case 'cast':
      return bindCast(env, node);
    case 'isof':
      return bindIsOf(env, node);
    case 'case':
      return bindCase(env, node);
  }
}

function bindBinary(env: Environment, node: Of<'binary'>): Expression {
  switch (node.operator) {
    case 'eq':
    case 'ne':
    case 'gt':
    case 'ge':
    case 'lt':
    case 'le':
      return bindComparison(env, node, node.operator);
    case 'in':
      return bindMembership(env, node);
    case 'has':
      return bindHas(env, node);
    case 'add':
    case 'sub':
    case 'mul':
    case 'div':
    case 'divby':
    case 'mod':
      return bindArithmetic(env, node, node.operator);
  }
}

/** Bare fields and aliases between `and` and `or` are terms, too. `not` takes no more than what comes next. */
function bindOperand(env: Environment, node: Node, operator: 'and' | 'or' | 'not'): Expression {
  if (node.kind === 'path' || node.kind === 'literal') spend(env, node);
  return bindCondition(env, node, operator === 'not' ? 'not (…)' : operator);
}

/**
 * Binds what must be true or false.
 * @param asking what wants it, for the message
 * @throws typeMismatch for anything else
 */
export function bindCondition(env: Environment, node: Node, asking: string): Expression {
  const { expression } = singleValue(env, node, bindNode(env, node));
  const type = typeOf(expression);
  if (type === 'boolean' || type === 'null') return expression;
  throw mismatch(env, node, `${asking} takes a condition, not ${inWords(expression)}`);
}

/** Binds one value of any type. */
export const bindValue = (env: Environment, node: Node): Expression =>
  singleValue(env, node, bindNode(env, node)).expression;

/** @throws typeMismatch when it is a record, a list or a point of a record. */
export function singleValue(env: Environment, node: Node, bound: Bound): BoundValue {
  switch (bound.kind) {
    case 'value':
      return bound;
    case 'record': {
      const name = bound.via.at(-1)?.name ?? bound.schema.resource.name;
      throw mismatch(env, node, `${name} is a record; name one of its fields after a slash`);
    }
    case 'collection': {
      const { name } = bound;
      throw mismatch(
        env,
        node,
        `${name} is a list; use ${name}/any(x: …), ${name}/all(x: …) or ${name}/$count`,
      );
    }
    case 'list':
      throw mismatch(env, node, 'a list stands only after in');
    case 'location':
      throw mismatch(env, node, 'the point of a record stands only in geo.distance and geo.intersects');
  }
}
