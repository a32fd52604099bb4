/** Parsed filters on one line. */
import assert from 'node:assert/strict';
import type { Filter, Operand, Value } from '../../../src/query/native/nodes.ts';
import { parseFilter } from '../../../src/query/native/parser.ts';

function showValue(value: Value): string {
  switch (value.kind) {
    case 'scalar':
      return `${value.type}:${value.text}`;
    case 'clock':
      return `${value.function}(${value.count}):${value.type}`;
    case 'pattern':
      return `${value.form}${value.ignoreCase ? '/i' : ''}:${value.text}`;
    case 'range':
      return `range:${value.from}..${value.to}`;
    case 'shape':
      return `${value.function}:${JSON.stringify(value.geometry)}`;
  }
}

function showOperand(operand: Operand): string {
  switch (operand.kind) {
    case 'name':
      return operand.name;
    case 'custom':
      return `[${operand.group}|${operand.label}]`;
    case 'call':
      return `${operand.function}(${[showOperand(operand.of), ...operand.rest.map(showValue)].join(';')})`;
    case 'arithmetic':
      return `(${showOperand(operand.left)} ${operand.operator} ${showOperand(operand.right)})`;
    case 'negate':
      return `-(${showOperand(operand.operand)})`;
    case 'broken':
      return 'BROKEN';
    default:
      return showValue(operand);
  }
}

function show(filter: Filter): string {
  switch (filter.kind) {
    case 'condition': {
      const { right } = filter;
      const values = right.kind === 'broken' ? 'BROKEN' : right.values.map(showValue).join(',');
      return `${showOperand(filter.left)} ${filter.operator} ${values}`;
    }
    case 'not':
      return `not{${show(filter.operand)}}`;
    default:
      return `${filter.kind}{${filter.terms.map(show).join(' ')}}`;
  }
}

/** The parsed form of a text without errors. */
export function read(text: string): string {
  const { filter, faults } = parseFilter(text);
  assert.deepEqual(
    faults.map(({ message }) => message),
    [],
  );
  return filter === undefined ? 'nothing' : show(filter);
}

/** The errors of a text. */
export const messages = (text: string): string[] => parseFilter(text).faults.map(({ message }) => message);
