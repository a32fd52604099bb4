/**
 * Checks regular expressions. They must be valid in RE2, which matches in linear time. Compiling one takes time in proportion to
 * its size with repetitions expanded, so the size is limited first.
 */
import { RE2JS, RE2JSException } from 're2js';

/** The maximum total size of a filter's patterns. */
export const LARGEST_PATTERNS = 1000;

type PatternCheck =
  | { readonly kind: 'good'; readonly size: number }
  | { readonly kind: 'wrong'; readonly size: number; readonly reason: string }
  | { readonly kind: 'large' };

const PART = /\\[\s\S]|\[\^?\]?(?:\[:\w+:\]|\\[\s\S]|[^\]\\])*\]|\{(\d{1,4})(?:,(\d{0,4}))?\}|[\s\S]/g;

/** The additional size of a class of Unicode characters, which is compiled to many ranges. */
const UNICODE = 25;

const weightOf = (part: string): number => 1 + UNICODE * (part.match(/\\[pP]/g)?.length ?? 0);

/** The size of a pattern: its weighted characters and classes, with `{…}` expanded. */
function sizeOf(pattern: string): number {
  const groups: number[] = [];
  let total = 0;
  let last = 0;
  for (const [part, least, most] of pattern.matchAll(PART)) {
    if (least !== undefined) {
      const times = Math.max(1, Number(least), Number(most ?? 0));
      total += last * (times - 1);
      last *= times;
    } else if (part === ')') {
      last = total - (groups.pop() ?? 0);
    } else {
      if (part === '(') groups.push(total);
      last = weightOf(part);
      total += last;
    }
  }
  return total;
}

/**
 * Checks a pattern.
 *
 * @param before the total size of the filter's other patterns
 */
export function checkRegularExpression(pattern: string, before: number): PatternCheck {
  const size = sizeOf(pattern);
  if (before + size > LARGEST_PATTERNS) return { kind: 'large' };
  try {
    RE2JS.compile(pattern);
    return { kind: 'good', size };
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return { kind: 'wrong', size, reason: error.message.replace('error parsing regexp: ', '') };
  }
}
