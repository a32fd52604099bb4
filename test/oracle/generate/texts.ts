/** Random texts. */
import type { FunctionName, Term } from '../term.ts';
import { characters } from '../text.ts';
import type { Type, Value } from '../values.ts';
import { makeCase, makeValue, orNull } from './conditions.ts';
import { aimed, type Context, chooseElement, chooseField } from './context.ts';
import { anyLiteral, literal } from './literals.ts';
import { makeInteger } from './numbers.ts';

export const call = (name: FunctionName, type: Type, ...parameters: readonly Term[]): Term => ({
  kind: 'call',
  type,
  name,
  parameters,
});

/** A field, or the variable of a lambda. */
export function textField(context: Context): Term {
  const element = context.random.chance(0.6) ? chooseElement(context) : undefined;
  return element ?? chooseField(context, 'string') ?? anyLiteral(context, 'string');
}

export function makeText(context: Context, depth: number): Term {
  const { random } = context;
  if (depth <= 0 || random.chance(0.45)) {
    return random.chance(0.88) ? textField(context) : anyLiteral(context, 'string');
  }
  const text = (): Term => orNull(context, makeText(context, depth - 1));
  switch (random.between(0, 8)) {
    case 0:
      return call('tolower', 'string', text());
    case 1:
      return call('toupper', 'string', text());
    case 2:
      return call('trim', 'string', text());
    case 3:
      return call('concat', 'string', text(), text());
    case 4:
    case 5:
      return substring(context, depth);
    case 6: {
      const type = random.pick(['integer', 'decimal', 'boolean', 'date', 'timestamp', 'time']);
      return { kind: 'cast', type: 'string', to: 'Edm.String', operand: makeValue(context, type, depth - 1) };
    }
    case 7:
      return makeCase(context, 'string', depth);
    default:
      return call('concat', 'string', text(), anyLiteral(context, 'string'));
  }
}

function substring(context: Context, depth: number): Term {
  const { random } = context;
  const text = makeText(context, depth - 1);
  const start = random.chance(0.8)
    ? literal('integer', random.between(0, 7))
    : random.chance(0.5)
      ? literal('integer', random.between(-6, -1))
      : makeInteger(context, depth - 1);
  if (random.chance(0.4)) return call('substring', 'string', text, start);
  const count = random.chance(0.8)
    ? literal('integer', random.between(0, 6))
    : call('length', 'integer', makeText(context, depth - 1));
  return call('substring', 'string', text, start, count);
}

/** Consecutive characters of a text, usually one of the sample record. */
export function partOf(context: Context, term: Term, where: 'start' | 'end' | 'anywhere'): string {
  const { random } = context;
  const value: Value | undefined = random.chance(0.8) ? aimed(context, term) : undefined;
  const found = typeof value === 'string' ? value : String(anyLiteral(context, 'string').value);
  const all = characters(found).slice(0, 400);
  const size = random.between(0, Math.min(6, all.length));
  const most = all.length - size;
  const start = where === 'start' ? 0 : where === 'end' ? most : random.between(0, most);
  return all.slice(start, start + size).join('');
}

const PATTERNS = [
  '^[A-Z]',
  '[0-9]{3}',
  'a.*e',
  '(?:lake|view|Street)',
  '^$',
  '\\d+ [A-Z]',
  '[^a-z ]',
  'é',
  '.{3}$',
  '\\.',
  '^.$',
  '[a-z]+\\d?$',
  '(a|e)(r|n)+',
  'k',
  's$',
  '[k-s]{2}',
  '😀',
  '^.{2,4}$',
] as const;

/** A regular expression with the same meaning in ECMAScript and RE2. */
export function makePattern(context: Context, term: Term): string {
  const { random } = context;
  if (random.chance(0.5)) return random.pick(PATTERNS);
  const part = partOf(context, term, 'anywhere').replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return random.pick([part, `^${part}`, `${part}$`, `${part}.`, `(?:${part})+`]);
}
