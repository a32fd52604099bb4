import { checkRegularExpression, LARGEST_PATTERNS } from '../../regular-expression.ts';
import type { Matches } from '../../tree.ts';
import type { Node } from '../syntax/nodes.ts';
import { shown, tooLarge } from '../syntax/source.ts';
import { type Environment, mismatch, unsupported } from './environment.ts';
import { bindValue } from './expression.ts';
import { inWords, typeOf } from './types.ts';

/**
 * `matchespattern(text, pattern[, flags])` (OData 4.01 URL conventions, 5.1.1.7.1). The pattern is a literal, so
 * that a wrong one is told here; the flags are none or `i`.
 */
export function bindMatches(env: Environment, node: Node, parameters: readonly Node[]): Matches {
  const [text = node, pattern = node, flags] = parameters;
  const operand = bindValue(env, text);
  const type = typeOf(operand);
  if (type !== 'string' && type !== 'null') {
    throw mismatch(env, text, `matchespattern takes a string here, not ${inWords(operand)}`);
  }
  const given = flags === undefined ? '' : literalText(env, flags, 'the flags of matchespattern');
  if (given !== '' && given !== 'i') {
    throw unsupported(env, flags ?? node, `the flags ${JSON.stringify(shown(given))} of matchespattern`);
  }
  const found = literalText(env, pattern, 'the pattern of matchespattern');
  checkPattern(env, pattern, found);
  return { kind: 'matches', operand, pattern: found, ignoreCase: given === 'i' };
}

/** Patterns are those of RE2: what ECMAScript has beyond it cannot be matched in linear time. */
function checkPattern(env: Environment, place: Node, pattern: string): void {
  const check = checkRegularExpression(pattern, env.spent.patterns);
  switch (check.kind) {
    case 'good':
      env.spent.patterns += check.size;
      return;
    case 'large':
      throw tooLarge(env.source, place.start, 'steps in its regular expressions', LARGEST_PATTERNS);
    case 'wrong':
      throw isOfECMAScript(pattern)
        ? unsupported(env, place, `'${shown(pattern)}' as a regular expression (${shown(check.reason)})`)
        : mismatch(env, place, `'${shown(pattern)}' is not a regular expression`);
  }
}

function isOfECMAScript(pattern: string): boolean {
  try {
    new RegExp(pattern, 'u');
    return true;
  } catch {
    return false;
  }
}

function literalText(env: Environment, node: Node, what: string): string {
  const value = bindValue(env, node);
  if (value.kind === 'literal' && value.type === 'string') return value.value;
  throw value.kind === 'literal'
    ? mismatch(env, node, `${what} must be a string, not ${inWords(value)}`)
    : unsupported(env, node, `a value that is no literal as ${what}`);
}
