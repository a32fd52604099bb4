/**
 * Finds the end of a JSON value in text that may be broken. It checks only as much of the grammar as it needs to distinguish
 * a record without an end from one that continues in the next line; the parser validates the value.
 */

/** Kinds of bytes outside of strings. */
const ORDINARY = 0;
const BLANK = 1;
const NEWLINE = 2;
const QUOTE = 3;
const COMMA = 4;
const COLON = 5;
const OPEN_OBJECT = 6;
const OPEN_LIST = 7;
const CLOSE_OBJECT = 8;
const CLOSE_LIST = 9;

const KINDS = new Uint8Array(256);
for (const [character, kind] of [
  [' ', BLANK],
  ['\t', BLANK],
  ['\r', BLANK],
  ['\n', NEWLINE],
  ['"', QUOTE],
  [',', COMMA],
  [':', COLON],
  ['{', OPEN_OBJECT],
  ['[', OPEN_LIST],
  ['}', CLOSE_OBJECT],
  [']', CLOSE_LIST],
] as const)
  KINDS[character.charCodeAt(0)] = kind;

/** Bytes in strings: PLAIN, or 0 for those that end the string or need attention. */
const PLAIN = 1;
const IN_TEXT = new Uint8Array(256).fill(PLAIN);
for (const character of '"\\\n') IN_TEXT[character.charCodeAt(0)] = 0;

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;

/**
 * The number of nesting levels whose kind is tracked; deeper levels are only counted. No valid record is that deep
 * (records/nesting.ts).
 */
const KNOWN_LEVELS = 1024;
/** A record that is nested more deeply and continues in another line is treated as broken. */
const MOST_LEVELS = 64;
/** Numbers with more characters may exceed the precision of a double. */
const SHORT_NUMBER = 15;

/** Results of `JsonScanner.scan` if it has found no end. */
export const MORE = -1;
export const BROKEN = -2;

export class JsonScanner {
  /** Number of members of all objects so far. */
  members = 0;
  /** Whether a number may exceed the precision of a double. */
  hasLongNumbers = false;
  /** Whether the value is nested more deeply than any record can be. */
  isDeep = false;
  isBroken = false;
  #depth = 0;
  #last = NEWLINE;
  #inText = false;
  #escaped = false;
  #run = 0;
  readonly #levels = new Uint8Array(KNOWN_LEVELS);

  /** @param inside whether the scan begins inside an object, after a member */
  begin(inside = false): void {
    this.members = 0;
    this.hasLongNumbers = false;
    this.isDeep = false;
    this.isBroken = false;
    this.#depth = inside ? 1 : 0;
    this.#levels[0] = OPEN_OBJECT;
    this.#last = inside ? ORDINARY : NEWLINE;
    this.#inText = false;
    this.#escaped = false;
    this.#run = 0;
  }

  /**
   * Scans from a byte of the value to its end.
   * @param recovers whether to continue a broken value to its probable end instead of returning BROKEN
   * @returns the position after the value; MORE if it continues after these bytes; BROKEN
   */
  scan(bytes: Uint8Array, from: number, to: number, recovers: boolean): number {
    let at = from;
    let members = 0;
    let last = this.#last;
    let end = MORE;
    if (this.#inText) at = this.#passText(bytes, at, to);
    reading: while (at < to) {
      if (this.isBroken && !recovers) {
        end = BROKEN;
        break;
      }
      const kind = KINDS[bytes[at] ?? 0] ?? ORDINARY;
      switch (kind) {
        case ORDINARY:
          at = this.#passScalar(bytes, at, to);
          last = ORDINARY;
          continue;
        case BLANK:
          break;
        case NEWLINE:
          if (this.isDeep) this.isBroken = true;
          break;
        case QUOTE: {
          last = ORDINARY;
          at++;
          // Most bytes of a record are in strings, so this loop is inlined.
          while (at < to && IN_TEXT[bytes[at] ?? 0] === PLAIN) at++;
          if (at < to && bytes[at] === 0x22) break;
          at = this.#passText(bytes, at, to);
          continue;
        }
        case COMMA:
          last = COMMA;
          break;
        case COLON:
          members++;
          last = COLON;
          break;
        case OPEN_OBJECT:
        case OPEN_LIST:
          if (!this.#open(kind, last)) {
            end = at;
            break reading;
          }
          last = kind;
          break;
        default:
          if (!this.#close(kind === CLOSE_OBJECT ? OPEN_OBJECT : OPEN_LIST)) {
            end = at;
            break reading;
          }
          last = ORDINARY;
          if (this.#depth === 0) {
            end = at + 1;
            break reading;
          }
      }
      at++;
    }
    this.#last = last;
    this.members += members;
    return this.isBroken && !recovers ? BROKEN : end;
  }

  /**
   * Skips the rest of a string. A line break ends it, since JSON permits none there.
   * @returns the position after it
   */
  #passText(bytes: Uint8Array, from: number, to: number): number {
    let at = from;
    this.#inText = true;
    if (this.#escaped && at < to) {
      this.#escaped = false;
      at++;
    }
    for (; at < to; at++) {
      const byte = bytes[at];
      if (byte === 0x22) {
        this.#inText = false;
        return at + 1;
      }
      if (byte === 0x5c) {
        at++;
        this.#escaped = at >= to;
      } else if (byte === 0x0a) {
        this.#inText = false;
        this.isBroken = true;
        return at;
      }
    }
    return to;
  }

  /** Skips a number or a word. @returns the position after it */
  #passScalar(bytes: Uint8Array, from: number, to: number): number {
    let at = from;
    let byte = bytes[at] ?? 0;
    // The token may have begun in an earlier chunk.
    let run = from > 0 && KINDS[bytes[from - 1] ?? 0] === ORDINARY ? this.#run : 0;
    while (KINDS[byte] === ORDINARY) {
      run++;
      if ((byte | 0x20) === 0x65 && at > 0 && isDigit(bytes[at - 1])) this.hasLongNumbers = true;
      at++;
      if (at >= to) break;
      byte = bytes[at] ?? 0;
    }
    if (run > SHORT_NUMBER) this.hasLongNumbers = true;
    this.#run = run;
    return at;
  }

  /** @returns whether the value continues; a bracket where none is permitted begins another value */
  #open(kind: number, last: number): boolean {
    const depth = this.#depth;
    if (depth > 0 && depth <= KNOWN_LEVELS) {
      const isInList = this.#levels[depth - 1] === OPEN_LIST;
      if (last !== COLON && last !== OPEN_LIST && !(last === COMMA && isInList)) {
        this.isBroken = true;
        // The enclosing object has no end.
        if (!isInList) this.#depth--;
        if (this.#depth === 0) return false;
      }
    }
    if (this.#depth < KNOWN_LEVELS) this.#levels[this.#depth] = kind;
    this.#depth++;
    if (this.#depth > MOST_LEVELS) this.isDeep = true;
    return true;
  }

  /** @returns whether the bracket closed a part of the value */
  #close(opened: number): boolean {
    while (this.#depth > 0 && this.#depth <= KNOWN_LEVELS && this.#levels[this.#depth - 1] !== opened) {
      this.isBroken = true;
      this.#depth--;
    }
    if (this.#depth === 0) return false;
    this.#depth--;
    return true;
  }
}
