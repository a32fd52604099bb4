/**
 * Whether bytes are JSON values separated by commas, as the records of a page are. A parser would create objects, which
 * takes six times as long; SQLite's parser copies the text three times, and a response may have 256 MB
 * (docs/recovery.md). This one only keeps track of open brackets. It ignores what the values mean.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const LIST = 0x5b;
const LIST_END = 0x5d;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;
const UNICODE = 0x75;
/** The first character that is not a control character. */
const BLANK = 0x20;

/** A table that marks the bytes of these characters. */
const byteTable = (characters: string): Uint8Array => {
  const table = new Uint8Array(256);
  for (const byte of Buffer.from(characters)) table[byte] = 1;
  return table;
};

const SPACE = byteTable(' \t\n\r');
const DIGIT = byteTable('0123456789');
const HEX = byteTable('0123456789abcdefABCDEF');
const ESCAPED = byteTable('"\\/bfnrt');
const EXPONENT = byteTable('eE');
const SIGN = byteTable('+-');
const [TRUE, FALSE, NULL] = [Buffer.from('true'), Buffer.from('false'), Buffer.from('null')];

/** Stands in place of a position where the text does not contain what is required. */
const NOWHERE = -1;

/**
 * Returns the approximate position of the first syntax error; undefined if there is none. It does not check whether the bytes are
 * UTF-8.
 * @param follows whether the values continue a list, so that a comma comes first
 */
export function findSyntaxError(bytes: Uint8Array, follows = false): number | undefined {
  const { length } = bytes;
  if (length === 0) return undefined;
  if (follows && bytes[0] !== COMMA) return 0;
  /** For each open bracket, whether the one around it is an object's. */
  const open: boolean[] = [];
  let isObject = false;
  let at = follows ? 1 : 0;
  for (;;) {
    if (SPACE[bytes[at] ?? 0] === 1) at = endOfSpace(bytes, at);
    const first = bytes[at];
    let end = NOWHERE;
    if (first === OBJECT || first === LIST) {
      end = endOfSpace(bytes, at + 1);
      if (bytes[end] === (first === OBJECT ? OBJECT_END : LIST_END)) end++;
      else {
        open.push(isObject);
        isObject = first === OBJECT;
        if (isObject) end = endOfName(bytes, end);
        if (end === NOWHERE) return at;
        at = end;
        continue;
      }
    } else if (first === QUOTE) end = endOfText(bytes, at + 1);
    else end = endOfScalar(bytes, at, first);
    if (end === NOWHERE) return at;
    at = end;
    // A value has ended: the brackets that close here, then a comma or the end.
    for (;;) {
      if (at === length) return open.length === 0 ? undefined : at;
      const next = bytes[at];
      if (next === COMMA) break;
      if (SPACE[next ?? 0] === 1) at = endOfSpace(bytes, at);
      else if (open.length > 0 && next === (isObject ? OBJECT_END : LIST_END)) {
        at++;
        isObject = open.pop() ?? false;
      } else return at;
    }
    at++;
    if (!isObject) continue;
    end = endOfName(bytes, at);
    if (end === NOWHERE) return at;
    at = end;
  }
}

function endOfSpace(bytes: Uint8Array, start: number): number {
  let at = start;
  while (SPACE[bytes[at] ?? 0] === 1) at++;
  return at;
}

/** The position after a member's name and its colon. */
function endOfName(bytes: Uint8Array, start: number): number {
  const begin = endOfSpace(bytes, start);
  if (bytes[begin] !== QUOTE) return NOWHERE;
  const end = endOfText(bytes, begin + 1);
  if (end === NOWHERE) return NOWHERE;
  const colon = endOfSpace(bytes, end);
  return bytes[colon] === COLON ? colon + 1 : NOWHERE;
}

/** The position after the number or word that begins at `at`. */
function endOfScalar(bytes: Uint8Array, at: number, first: number | undefined): number {
  switch (first) {
    case NULL[0]:
      return endOfWord(bytes, at, NULL);
    case TRUE[0]:
      return endOfWord(bytes, at, TRUE);
    case FALSE[0]:
      return endOfWord(bytes, at, FALSE);
    default:
      return endOfNumber(bytes, at);
  }
}

function endOfWord(bytes: Uint8Array, at: number, word: Uint8Array): number {
  for (let index = 1; index < word.length; index++) {
    if (bytes[at + index] !== word[index]) return NOWHERE;
  }
  return at + word.length;
}

/** @param start after the first quote */
function endOfText(bytes: Uint8Array, start: number): number {
  let at = start;
  for (;;) {
    let byte = bytes[at];
    while (byte !== undefined && byte >= BLANK && byte !== QUOTE && byte !== BACKSLASH) byte = bytes[++at];
    if (byte === QUOTE) return at + 1;
    if (byte !== BACKSLASH) return NOWHERE;
    const escaped = bytes[at + 1] ?? 0;
    if (ESCAPED[escaped] === 1) at += 2;
    else if (escaped === UNICODE && hasHex(bytes, at + 2)) at += 6;
    else return NOWHERE;
  }
}

const hasHex = (bytes: Uint8Array, at: number): boolean =>
  [0, 1, 2, 3].every((index) => HEX[bytes[at + index] ?? 0] === 1);

function endOfNumber(bytes: Uint8Array, start: number): number {
  const at = bytes[start] === MINUS ? start + 1 : start;
  const whole = bytes[at] === ZERO ? at + 1 : endOfDigits(bytes, at);
  if (whole === NOWHERE) return NOWHERE;
  const all = bytes[whole] === POINT ? endOfDigits(bytes, whole + 1) : whole;
  if (all === NOWHERE || EXPONENT[bytes[all] ?? 0] !== 1) return all;
  return endOfDigits(bytes, SIGN[bytes[all + 1] ?? 0] === 1 ? all + 2 : all + 1);
}

/** The position after one digit or more. */
function endOfDigits(bytes: Uint8Array, start: number): number {
  let at = start;
  while (DIGIT[bytes[at] ?? 0] === 1) at++;
  return at === start ? NOWHERE : at;
}
