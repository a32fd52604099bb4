/**
 * Checks that a text is a regular expression of the RE2 language, which matches in linear time. What other
 * dialects add (looking around, references back, atomic groups) is told apart from what is plainly wrong.
 */

export type PatternCheck =
  | { readonly kind: 'good' }
  | { readonly kind: 'wrong'; readonly reason: string }
  | { readonly kind: 'unsupported'; readonly what: string };

const GOOD: PatternCheck = { kind: 'good' };
const wrong = (reason: string): PatternCheck => ({ kind: 'wrong', reason });
const unsupported = (what: string): PatternCheck => ({ kind: 'unsupported', what });

const DEEPEST = 100;
const MOST_REPEATS = 1000;
const GROUP = /\((?:\?(?::|P?<[A-Za-z_]\w*>|(?=[imsU-])[imsU]*(?:-[imsU]+)?[:)]))?/y;
const LOOK = /\(\?(?:<?[=!]|>)/y;
const ESCAPE =
  /\\(?:[dDwWsSbBAztnrfva]|x[0-9A-Fa-f]{2}|x\{[0-9A-Fa-f]{1,6}\}|[pP](?:[A-Z]|\{\^?[A-Za-z_]+\})|[^A-Za-z0-9])/uy;
const CLASS = /\[\^?\]?(?:\[:\^?[a-z]+:\]|\\[\s\S]|[^\]\\])*\]/y;
const RANGE = /(?:\\[\s\S]|[^\]\\])-(?:\\[\s\S]|[^\]\\])/g;
const REPEAT = /[*+?]|\{(\d{1,4})(?:(,)(\d{1,4})?)?\}/y;

interface Scan {
  readonly text: string;
  offset: number;
}

function take(scan: Scan, form: RegExp): RegExpExecArray | undefined {
  form.lastIndex = scan.offset;
  const found = form.exec(scan.text);
  if (found === null) return undefined;
  scan.offset += found[0].length;
  return found;
}

/** `z-a` in a class is empty, which no dialect takes. Ends that are escapes are classes of their own. */
function checkClass(text: string): PatternCheck {
  for (const [range] of text
    .replace(/\[:\^?[a-z]+:\]/g, '')
    .slice(1, -1)
    .matchAll(RANGE)) {
    const [from = '', , to = ''] = [...range];
    if ([...range].length === 3 && from > to) return wrong(`the range ${range} runs backwards`);
  }
  return GOOD;
}

function checkRepeat(scan: Scan): PatternCheck {
  const repeat = take(scan, REPEAT);
  if (repeat === undefined) return GOOD;
  const [, least = '0', comma, most = least] = repeat;
  if (Number(least) > MOST_REPEATS || Number(most) > MOST_REPEATS) {
    return unsupported(`a repetition of more than ${MOST_REPEATS}`);
  }
  if (comma !== undefined && Number(most) < Number(least)) return wrong(`${repeat[0]} runs backwards`);
  const after = scan.text.charAt(scan.offset);
  if (after === '?') scan.offset += 1;
  if (after === '+') return unsupported('a possessive quantifier');
  return scan.text.charAt(scan.offset) !== '' && '*+?'.includes(scan.text.charAt(scan.offset))
    ? wrong('a quantifier follows a quantifier')
    : GOOD;
}

/** One thing that a quantifier may follow: a character, an escape or a class. */
function checkItem(scan: Scan, first: string): PatternCheck {
  switch (first) {
    case '[': {
      const found = take(scan, CLASS);
      return found === undefined ? wrong('a "[" is not closed') : checkClass(found[0]);
    }
    case '\\':
      if (take(scan, ESCAPE) !== undefined) return GOOD;
      return /[1-9kgGKZ]/.test(scan.text.charAt(scan.offset + 1))
        ? unsupported(`the escape ${scan.text.slice(scan.offset, scan.offset + 2)}`)
        : wrong(`there is no escape ${scan.text.slice(scan.offset, scan.offset + 2)}`);
    case '*':
    case '+':
    case '?':
      return wrong(`the quantifier ${first} follows nothing`);
    default:
      if (first === '{' && take(scan, REPEAT) !== undefined) return wrong('the quantifier { follows nothing');
      scan.offset += first.length;
      return GOOD;
  }
}

/** Linear in the length of the text. */
export function checkRegularExpression(text: string): PatternCheck {
  const scan: Scan = { text, offset: 0 };
  let depth = 0;
  while (scan.offset < text.length) {
    const first = String.fromCodePoint(text.codePointAt(scan.offset) ?? 0);
    if (first === '(') {
      if (take(scan, LOOK) !== undefined) return unsupported('looking around or an atomic group');
      const group = take(scan, GROUP)?.[0];
      if (group === undefined || text.startsWith('?', scan.offset)) return wrong('a "(?" is not understood');
      // Flags that stand alone, such as (?i), close themselves.
      if (!group.endsWith(')')) depth += 1;
      if (depth > DEEPEST) return unsupported(`more than ${DEEPEST} groups in one another`);
      continue;
    }
    if (first === '|') {
      scan.offset += 1;
      continue;
    }
    if (first === ')') {
      depth -= 1;
      if (depth < 0) return wrong('a ")" closes nothing');
      scan.offset += 1;
    } else {
      const item = checkItem(scan, first);
      if (item.kind !== 'good') return item;
    }
    const repeat = checkRepeat(scan);
    if (repeat.kind !== 'good') return repeat;
  }
  return depth === 0 ? GOOD : wrong('a "(" is not closed');
}
