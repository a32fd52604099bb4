import type { Expression, ValueType } from '../../tree.ts';
import type { Node } from '../syntax/nodes.ts';
import { shown } from '../syntax/source.ts';
import { commonType, fit } from './align.ts';
import { type Environment, mismatch, unsupported } from './environment.ts';
import { bindCondition, bindValue } from './expression.ts';
import { inWords, isNumber, typeInWords, typeOf } from './types.ts';

/** The primitive types of the Edm that values here have. */
const EDM: ReadonlyMap<string, ValueType> = new Map([
  ['Edm.String', 'string'],
  ['Edm.Byte', 'integer'],
  ['Edm.SByte', 'integer'],
  ['Edm.Int16', 'integer'],
  ['Edm.Int32', 'integer'],
  ['Edm.Int64', 'integer'],
  ['Edm.Decimal', 'decimal'],
  ['Edm.Double', 'decimal'],
  ['Edm.Single', 'decimal'],
  ['Edm.Boolean', 'boolean'],
  ['Edm.Date', 'date'],
  ['Edm.DateTimeOffset', 'timestamp'],
  ['Edm.TimeOfDay', 'time'],
  ['Edm.Duration', 'duration'],
]);

/** Whole numbers that a type cannot hold are null (URL conventions, 5.1.1.10.1, rule 4). */
const RANGES: ReadonlyMap<string, readonly [number, number]> = new Map([
  ['Edm.Byte', [0, 255]],
  ['Edm.SByte', [-128, 127]],
  ['Edm.Int16', [-32_768, 32_767]],
  ['Edm.Int32', [-2_147_483_648, 2_147_483_647]],
]);

function edmType(env: Environment, node: Node & { kind: 'cast' | 'isof' }): ValueType {
  const type = EDM.get(node.type);
  if (type === undefined) throw unsupported(env, node, `${node.kind} to the type ${shown(node.type)}`);
  return type;
}

function operandOf(env: Environment, node: Node & { kind: 'cast' | 'isof' }): Expression {
  if (node.operand === undefined) throw unsupported(env, node, `${node.kind} of the record itself`);
  return bindValue(env, node.operand);
}

/** `cast(x, Edm.…)` between primitive types (OData 4.01 URL conventions, 5.1.1.10.1). */
export function bindCast(env: Environment, node: Node & { kind: 'cast' | 'isof' }): Expression {
  const type = edmType(env, node);
  const operand = operandOf(env, node);
  const from = typeOf(operand);
  if (!castable(from, type)) {
    throw mismatch(env, node, `${inWords(operand)} cannot be cast to ${typeInWords(type)}`);
  }
  const range = RANGES.get(node.type);
  return { kind: 'cast', type, ...(range === undefined ? {} : { range }), operand };
}

function castable(from: ValueType, to: ValueType): boolean {
  if (from === 'point' || from === 'polygon') return false;
  if (from === to || from === 'null') return true;
  if (from === 'duration' || to === 'duration') return false;
  if (from === 'string' || to === 'string') return true;
  if (isNumber(from)) return isNumber(to);
  if (from === 'date') return to === 'timestamp';
  return from === 'timestamp' && (to === 'date' || to === 'time');
}

/** `isof(x, Edm.…)`: true for values whose declared type it is, false for others and for null. */
export function bindIsOf(env: Environment, node: Node & { kind: 'cast' | 'isof' }): Expression {
  const type = edmType(env, node);
  const operand = operandOf(env, node);
  const from = typeOf(operand);
  // Every integer is a decimal, too.
  if (from !== type && !(from === 'integer' && type === 'decimal')) {
    return { kind: 'literal', type: 'boolean', value: false };
  }
  const right: Expression = { kind: 'literal', type: 'null', value: null };
  return { kind: 'compare', operator: 'ne', left: operand, right };
}

/** `case(condition:value, …)` whose values are of one type (5.1.1.12.1). */
export function bindCase(env: Environment, node: Node & { kind: 'case' }): Expression {
  const bound = node.branches.map((branch) => ({
    node: branch.result,
    when: bindCondition(env, branch.when, 'case'),
    result: bindValue(env, branch.result),
  }));
  const type = bound.reduce(
    (held: ValueType, { result }) => commonType(held, typeOf(result)) ?? held,
    'null',
  );
  const branches = bound.map(({ node: place, when, result }) => {
    const then = fit(result, type);
    if (then) return { when, then };
    throw mismatch(env, place, `case cannot give both ${typeInWords(type)} and ${inWords(result)}`);
  });
  return { kind: 'case', type, branches };
}
