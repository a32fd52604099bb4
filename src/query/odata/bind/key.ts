import type { ResourceSchema } from '../../schema.ts';
import { parseExpressionText } from '../syntax/expression.ts';
import type { LiteralText } from '../syntax/literal.ts';
import type { Argument, Node } from '../syntax/nodes.ts';
import type { PathSegment } from '../syntax/resource-path.ts';
import { type Source, shown, syntaxError, typeMismatch } from '../syntax/source.ts';
import type { KeyValue } from './resource-path.ts';
import { fieldType } from './types.ts';

/** Texts of parameter aliases by name, without the at sign. */
export type KeyAliases = ReadonlyMap<string, string>;

const keyIsNumber = ({ resource }: ResourceSchema): boolean => {
  const field = resource.fields.get(resource.key);
  return field !== undefined && fieldType(field) === 'integer';
};

/** A key that stands as a segment of its own; undefined when no record can have it. */
export function keyOfSegment(resource: ResourceSchema, text: string): KeyValue | undefined {
  if (!keyIsNumber(resource)) return text === '' ? undefined : text;
  const number = Number(text);
  return /^-?\d+$/.test(text) && Number.isSafeInteger(number) ? number : undefined;
}

/** The key in the parentheses of a segment; undefined when it has none. */
export function keyOf(
  resource: ResourceSchema,
  { text }: PathSegment,
  groups: readonly (readonly Argument[])[],
  aliases: KeyAliases,
): KeyValue | undefined {
  const [group, further] = groups;
  if (group === undefined) return undefined;
  const source = { option: 'path', text };
  const [argument, second] = group;
  const { name, key } = resource.resource;
  if (argument === undefined || second || further) {
    const start = text.indexOf('(');
    throw syntaxError(source, start, shown(text.slice(start)), `one key, such as ${name}('…')`);
  }
  if (argument.name !== undefined && argument.name !== key) {
    throw syntaxError(source, argument.value.start, shown(argument.name), key);
  }
  return keyOfNode(resource, source, argument.value, aliases);
}

function keyOfNode(resource: ResourceSchema, source: Source, node: Node, aliases: KeyAliases): KeyValue {
  if (node.kind === 'path') {
    const [head] = node.segments;
    const alias = head.kind === 'at' ? head.name : '';
    const text = aliases.get(alias);
    if (text === undefined) throw syntaxError(source, node.start, `@${alias} without a value`, 'a key');
    const inner = { option: `@${alias}`, text };
    const value = parseExpressionText(inner);
    if (value.kind === 'literal') return keyOfLiteral(resource, inner, value, value.literal);
    throw syntaxError(inner, value.start, 'no literal', 'a key');
  }
  if (node.kind === 'literal') return keyOfLiteral(resource, source, node, node.literal);
  throw syntaxError(source, node.start, 'no literal', 'a key');
}

/** A key of digits is found with and without quotes, since listing keys are strings of digits. */
function keyOfLiteral(resource: ResourceSchema, source: Source, node: Node, literal: LiteralText): KeyValue {
  const { name, key } = resource.resource;
  if (keyIsNumber(resource)) {
    if (literal.form === 'integer') {
      const number = Number(literal.text);
      if (Number.isSafeInteger(number)) return number;
    }
    throw typeMismatch(source, node.start, `${key} of ${name} is an integer`);
  }
  if (literal.form === 'string' || literal.form === 'integer' || literal.form === 'guid') return literal.text;
  throw typeMismatch(source, node.start, `${key} of ${name} is a string`);
}
