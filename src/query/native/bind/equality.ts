/** `Eq` with one value or a list: the field equals one of them, matches one of the patterns, or lies in a range. */
import { spellingsOf } from '../../../dictionary/index.ts';
import type { Expression, LikePart, Literal } from '../../tree.ts';
import { FILTER, fault, shortened } from '../faults.ts';
import type { Clock, Pattern, Scalar, TextRange, Value } from '../syntax/nodes.ts';
import { tokenOf, typeName } from '../syntax/type-names.ts';
import { coerce, type Wanted, wantedName } from './coerce.ts';
import { type BindContext, noteType } from './context.ts';
import { FALSE, together } from './logic.ts';
import type { BoundValue } from './operand.ts';
import { MOST_WILDCARDS, readWildcards, wildcardCount } from './wildcards.ts';

/** What a side takes: numbers that are computed mix freely, a field of whole numbers takes no decimals. */
const wantedBy = ({ computed, type }: BoundValue): Wanted =>
  computed && (type === 'integer' || type === 'decimal') ? 'number' : type;

/** A literal of the right side in the type of the left; undefined when a fault has been noted. */
export function literalFor(context: BindContext, side: BoundValue, value: Scalar | Clock) {
  const coerced = coerce(value, wantedBy(side), context.now);
  if (coerced.kind === 'literal') return coerced;
  const reason = coerced.kind === 'impossible' ? coerced.reason : misfit(side, value);
  return noteType(context, reason, tokenOf(value), value.position);
}

function misfit(side: BoundValue, value: Value): string {
  const found = typeName(value.type);
  const isText = value.kind === 'scalar' && side.type === 'string';
  const hint = isText ? ` (write '${shortened(value.text)}' for a text)` : '';
  return `${side.name} is ${wantedName(wantedBy(side))} and cannot be compared with ${found}${hint}`;
}

/** A value of a lookup in every spelling that records may hold for it. */
function spellings(context: BindContext, side: BoundValue, text: string): readonly string[] {
  return spellingsOf(side.lookup === undefined ? undefined : context.names.lookup(side.lookup), text);
}

/** What one value is: literals, or a test of its own. */
type Meant = { readonly literals: readonly Literal[] } | { readonly test: Expression };

const string = (value: string): Literal => ({ kind: 'literal', type: 'string', value });

function fromPattern({ expression }: BoundValue, pattern: Pattern): Meant {
  const { form, text, ignoreCase } = pattern;
  if (form === 'regex') {
    return { test: { kind: 'matches', operand: expression, pattern: text, ignoreCase } };
  }
  return {
    test: { kind: 'call', type: 'boolean', function: form, arguments: [expression, string(text)] },
  };
}

function fromRange({ expression: left }: BoundValue, { from, to }: TextRange): Meant {
  return {
    test: together('and', [
      { kind: 'compare', operator: 'ge', left, right: string(from) },
      { kind: 'compare', operator: 'le', left, right: string(to) },
    ]),
  };
}

function fromText(context: BindContext, side: BoundValue, parts: readonly LikePart[]): Meant {
  if (wildcardCount(parts) > 0) {
    return { test: { kind: 'like', operand: side.expression, pattern: parts } };
  }
  const text = parts[0]?.kind === 'text' ? parts[0].text : '';
  return { literals: spellings(context, side, text).map(string) };
}

function meantBy(context: BindContext, side: BoundValue, value: Value): Meant | undefined {
  if (side.type !== 'string' && value.type === 'character') {
    return noteType(context, misfit(side, value), tokenOf(value), value.position);
  }
  switch (value.kind) {
    case 'shape':
      return noteType(context, misfit(side, value), tokenOf(value), value.position);
    case 'pattern':
      return fromPattern(side, value);
    case 'range':
      return fromRange(side, value);
    case 'clock':
    case 'scalar': {
      if (value.type === 'character') return fromText(context, side, readWildcards(value.text));
      const found = literalFor(context, side, value);
      // What lies between two milliseconds equals no stored time.
      return found === undefined ? undefined : { literals: found.beyond ? [] : [found.literal] };
    }
  }
}

function tooManyWildcards(context: BindContext, values: readonly Value[]): boolean {
  let count = 0;
  for (const value of values) {
    if (value.kind !== 'scalar' || value.type !== 'character') continue;
    count += wildcardCount(readWildcards(value.text));
    if (count <= MOST_WILDCARDS) continue;
    const what = 'wildcards in one condition';
    const facts = { option: FILTER, what, limit: MOST_WILDCARDS, position: value.position };
    context.faults.push(fault('filterTooLarge', facts, value.text));
    return true;
  }
  return false;
}

function oneOf({ expression: left }: BoundValue, literals: readonly Literal[]): readonly Expression[] {
  const [first, second] = literals;
  if (first === undefined) return [];
  if (second === undefined) return [{ kind: 'compare', operator: 'eq', left, right: first }];
  return [{ kind: 'in', operand: left, values: literals }];
}

/** Undefined when a fault has been noted. */
export function bindEquality(
  context: BindContext,
  side: BoundValue,
  values: readonly Value[],
): Expression | undefined {
  if (tooManyWildcards(context, values)) return undefined;
  const literals: Literal[] = [];
  const tests: Expression[] = [];
  for (const value of values) {
    const meant = meantBy(context, side, value);
    if (meant === undefined) return undefined;
    if ('test' in meant) tests.push(meant.test);
    else literals.push(...meant.literals);
  }
  const terms = [...oneOf(side, literals), ...tests];
  return terms.length === 0 ? FALSE : together('or', terms);
}
