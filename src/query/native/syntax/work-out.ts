/** What a function comes to when all of its arguments are literals. */

import { checkRegularExpression, LARGEST_PATTERNS } from '../../regular-expression.ts';
import { type Fault, FILTER, fault, shortened, typeFault } from '../faults.ts';
import { type Folded, foldCast, foldText } from './fold-text.ts';
import { foldTime } from './fold-time.ts';
import { castType, FURTHEST_DAYS, type FunctionRule } from './functions.ts';
import type { FieldFunction, Scalar, Value } from './nodes.ts';
import { readShape } from './shapes.ts';

/** What the regular expressions of this filter weigh so far. */
export interface PatternSpending {
  patterns: number;
}

type RuleOf<K extends FunctionRule['kind']> = Extract<FunctionRule, { readonly kind: K }>;

function clock(rule: RuleOf<'clock'>, scalars: readonly Scalar[], position: number): Value | Fault {
  const { name, gives: type } = rule;
  const count = Number(scalars[0]?.text ?? '0');
  if ((name === 'days' || name === 'weekdays') && Math.abs(count) > FURTHEST_DAYS) {
    const what = `days away in ${name}()`;
    return fault('filterTooLarge', { option: FILTER, what, limit: FURTHEST_DAYS, position }, name);
  }
  return { kind: 'clock', type, function: name, count, position };
}

function pattern(
  rule: RuleOf<'pattern'>,
  scalars: readonly Scalar[],
  position: number,
  spent: PatternSpending,
): Value | Fault {
  const [text = '', flags = ''] = scalars.map((scalar) => scalar.text);
  if (rule.name === 'regex') {
    if (!/^i*$/.test(flags)) {
      return typeFault(`regex() takes the flag 'i' or none, not '${shortened(flags)}'`, 'regex', position);
    }
    const check = checkRegularExpression(text, spent.patterns);
    spent.patterns += check.kind === 'large' ? 0 : check.size;
    if (check.kind === 'wrong') {
      return typeFault(`this is no regular expression: ${shortened(check.reason)}`, 'regex', position);
    }
    if (check.kind === 'large') {
      const what = 'steps in its regular expressions';
      return fault('filterTooLarge', { option: FILTER, what, limit: LARGEST_PATTERNS, position }, 'regex');
    }
  }
  const ignoreCase = rule.name === 'regex' && flags !== '';
  return { kind: 'pattern', type: 'character', form: rule.name, text, ignoreCase, position };
}

function shape(rule: RuleOf<'shape'>, scalars: readonly Scalar[], position: number): Value | Fault {
  const found = readShape(
    rule.name,
    scalars.map((scalar) => scalar.text),
  );
  if ('reason' in found) return typeFault(found.reason, rule.name, position);
  return { kind: 'shape', type: 'shape', geometry: found.geometry, function: rule.name, position };
}

function scalar(name: FieldFunction, scalars: readonly Scalar[], position: number): Value | Fault {
  const [first, ...rest] = scalars;
  const found = first === undefined ? { reason: `${name}() takes a field` } : fold(name, first, rest);
  if ('reason' in found) return typeFault(found.reason, name, position);
  return { kind: 'scalar', ...found, position };
}

function fold(name: FieldFunction, first: Scalar, rest: readonly Scalar[]): Folded {
  switch (name) {
    case 'all':
      return { reason: 'all() takes a field' };
    case 'cast':
      return foldCast(first, castType(rest[0]?.text ?? '') ?? 'character');
    case 'tolower':
    case 'toupper':
    case 'trim':
    case 'length':
    case 'substring':
    case 'indexof':
    case 'concat':
    case 'round':
    case 'ceiling':
    case 'floor':
      return foldText(name, first.text, rest);
    default:
      return foldTime(name, first.text);
  }
}

/** @param scalars arguments that fit the rule */
export function workOut(
  rule: FunctionRule,
  scalars: readonly Scalar[],
  position: number,
  spent: PatternSpending,
): Value | Fault {
  switch (rule.kind) {
    case 'clock':
      return clock(rule, scalars, position);
    case 'instant':
      return { kind: 'scalar', type: 'datetime', text: rule.text, position };
    case 'pattern':
      return pattern(rule, scalars, position, spent);
    case 'range': {
      const [from = '', to = ''] = scalars.map((value) => value.text);
      return { kind: 'range', type: 'character', from, to, position };
    }
    case 'shape':
      return shape(rule, scalars, position);
    case 'field':
      return scalar(rule.name, scalars, position);
  }
}
