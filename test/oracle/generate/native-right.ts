/** Random right sides of native conditions: values that occur in records, or close to them, in their many forms. */

import { membersAt } from '../evaluate.ts';
import { readPattern } from '../native-evaluate.ts';
import type { Left, Right } from '../native-term.ts';
import { isWritable, numberText, plain, quoted } from '../native-text.ts';
import type { Random } from '../random.ts';
import { type Literal, type Term, typeOf } from '../term.ts';
import { ANY, characters, ONE } from '../text.ts';
import { dateText, dayOf, FIRST_MOMENT, type Type, timestampText, timeText } from '../values.ts';
import { aimed, type Context } from './context.ts';
import { aimedLiteral, anyLiteral, literal as makeLiteral } from './literals.ts';
import { isComputed, typeOfLeft } from './native-left.ts';
import { makePattern, partOf } from './texts.ts';

const DAY = 86_400_000;
const HOUR = 3_600_000;

const literal = (value: Literal['value'], text: string): Right => ({ kind: 'literal', value, text });

/** The term that literals should match: the side itself, or a member of its list. */
function target(context: Context, { term, over }: Left): Term {
  if (over === undefined) return term;
  const { open, random } = context;
  const scopes = open.flatMap(({ sample }) => (sample === undefined ? [] : [sample]));
  const member = scopes.length === 0 ? undefined : random.among(membersAt({ ...context, scopes }, over));
  return typeof member === 'string' ? makeLiteral('string', member) : anyLiteral(context, 'string');
}

function valueFor(context: Context, left: Left, type: Type): Literal {
  const aim = target(context, left);
  return typeOf(aim) === type ? aimedLiteral(context, aim, type) : anyLiteral(context, type);
}

/** Right sides for an integer or a decimal. */
export function numberRight(context: Context, left: Left, alone: boolean): Right {
  const { random } = context;
  const type = typeOfLeft(left);
  const whole = isComputed(left)
    ? random.chance(type === 'integer' ? 0.8 : 0.3)
    : type === 'integer' || random.chance(0.2);
  const found = Number(valueFor(context, left, type).value);
  const value = whole ? Math.round(found) : found;
  const safe = Number.isFinite(value) && Math.abs(value) < 1e15 && !String(value).includes('e') ? value : 1;
  if (whole && alone && random.chance(0.1)) return literal(safe + 3, `${safe} Add 3`);
  return literal(safe + 0, numberText(safe + 0, !whole));
}

/** West of UTC, the last day ends in a year that timestamps cannot have. */
const zoneOf = (day: string, random: Random): string =>
  random.pick(day === '9999-12-31' ? ['', 'Z'] : ['', 'Z', '-0800']);

/** A date, alone or as part of a timestamp in some zone, or relative to today. */
export function dateRight(context: Context, left: Left): Right {
  const { random, now } = context;
  const value = Number(valueFor(context, left, 'date').value);
  const text = dateText(value);
  switch (random.between(0, 5)) {
    case 0:
      return literal(
        value,
        `${text}T${random.pick(['00:00', '12:30:15', '23:59:59.999'])}${zoneOf(text, random)}`,
      );
    case 1:
      return clock(random, now, 'date');
    default:
      return literal(value, text);
  }
}

export function momentRight(context: Context, left: Left): Right {
  const { random, now } = context;
  const value = Number(valueFor(context, left, 'timestamp').value);
  const text = timestampText(value);
  switch (random.between(0, 7)) {
    case 0:
      return literal(dayOf(value), dateText(value));
    case 1:
      return clock(random, now, 'timestamp');
    case 2:
      return {
        kind: 'beyond',
        value,
        text: text.includes('.') ? text.replace('Z', '25Z') : text.replace('Z', '.0004Z'),
      };
    case 3:
      return value - 5 * HOUR < FIRST_MOMENT
        ? literal(value, text)
        : literal(value, timestampText(value - 5 * HOUR).replace('Z', random.pick(['-05:00', '-0500'])));
    case 4:
      return literal(value, text.replace('Z', ''));
    default:
      return literal(value, text);
  }
}

/** Functions of the clock. A date stands for its first moment, a timestamp for its day. */
function clock(random: Random, now: number, wanted: 'date' | 'timestamp'): Right {
  const count = random.between(-40, 5);
  const size = random.pick(['seconds', 'minutes', 'hours', 'days', 'weekdays', 'months', 'years', 'now']);
  const made = (moment: number, text: string): Right =>
    literal(wanted === 'date' ? dayOf(moment) : moment, text);
  switch (size) {
    case 'seconds':
      return made(now + count * 1000, `seconds(${count})`);
    case 'minutes':
      return made(now + count * 60_000, `minutes(${count})`);
    case 'hours':
      return made(now + count * HOUR, `hours(${count})`);
    case 'days':
      return literal(dayOf(now) + count * DAY, `days(${count})`);
    case 'weekdays':
      return literal(weekdays(dayOf(now), count), `weekdays(${count})`);
    case 'months':
    case 'years': {
      const date = new Date(dayOf(now));
      date.setUTCMonth(date.getUTCMonth() + count * (size === 'years' ? 12 : 1));
      return literal(date.getTime(), `${size}(${count})`);
    }
    case 'now':
      return made(now, 'now()');
  }
}

/** Counts day by day and skips weekends; today is a Monday. */
function weekdays(today: number, count: number): number {
  let day = today;
  for (let left = Math.abs(count); left > 0; ) {
    day += Math.sign(count) * DAY;
    const weekday = new Date(day).getUTCDay();
    if (weekday !== 0 && weekday !== 6) left -= 1;
  }
  return day;
}

export function timeRight(context: Context, left: Left): Right {
  const value = Number(valueFor(context, left, 'time').value);
  const text = timeText(value);
  if (!context.random.chance(0.2)) return literal(value, text);
  return { kind: 'beyond', value, text: text.includes('.') ? `${text}9` : `${text}.0009` };
}

/** The largest number of wildcards in one condition. */
const WILDCARDS = 3;

/** Texts, patterns and ranges for one condition. */
export function textRights(context: Context, left: Left): readonly Right[] {
  const { random } = context;
  let wildcards = WILDCARDS;
  return Array.from({ length: random.between(1, 4) }, (): Right => {
    const draw = random.between(0, 9);
    if (draw < 2)
      return {
        kind: 'regex',
        pattern: patternFor(context, left),
        ignoreCase: random.chance(0.4),
      };
    if (draw === 2) {
      const [name, where] = random.pick([
        ['startswith', 'start'],
        ['endswith', 'end'],
        ['contains', 'anywhere'],
      ] as const);
      return { kind: 'part', name, part: writable(textNear(context, left, where)) };
    }
    const text = writable(String(valueFor(context, left, 'string').value));
    if (draw === 3) return { kind: 'range', from: text, to: writable(textNear(context, left, 'start')) };
    if (draw < 6) {
      const made = withWildcards(random, text, wildcards);
      wildcards -= made.pattern.filter((character) => character === ANY || character === ONE).length;
      return made;
    }
    if (draw === 6 && !/[*?\\]/.test(text)) return literal(text.toLowerCase(), `tolower(${quoted(text)})`);
    return literal(text, plain(text));
  });
}

const writable = (text: string): string =>
  isWritable(text) ? text : text.replaceAll('\\', '').replaceAll('\n', ' ');

function textNear(context: Context, left: Left, where: 'start' | 'end' | 'anywhere'): string {
  return partOf(context, target(context, left), where);
}

function patternFor(context: Context, left: Left): string {
  const pattern = makePattern(context, target(context, left));
  return isWritable(pattern) ? pattern : '^.a';
}

/** Replaces some characters of a text by wildcards. */
function withWildcards(random: Random, text: string, most: number): Extract<Right, { kind: 'wildcards' }> {
  const all = characters(text)
    .slice(0, 30)
    .map((character) => (/[*?]/.test(character) ? `\\${character}` : character));
  const count = random.between(0, most);
  for (let left = count; left > 0; left--) {
    const at = random.between(0, all.length);
    if (random.chance(0.5)) all.splice(at, random.between(0, 5), '*');
    else all.splice(at, random.between(0, 1), '?');
  }
  // Truncation may have removed wildcards, and a text must not end with a backslash.
  const written = all.join('');
  const kept = isWritable(written.replace(/\\[*?]/g, '')) ? written : 'a*';
  return { kind: 'wildcards', pattern: readPattern(kept), text: quoted(kept) };
}

export const booleanRight = ({ random }: Context): Right => {
  const value = random.chance(0.5);
  return literal(value, String(value));
};

/** A lookup value in either spelling, for a side that is a single field. */
export function lookupRight(context: Context, left: Left, lookup: string): Right {
  const { random, world } = context;
  const known = world.dictionary.lookups.get(lookup);
  const value = aimed(context, target(context, left));
  const standard = known?.spellings.get(typeof value === 'string' ? value : '') ?? '';
  const chosen = known?.values.get(standard) ?? random.among([...(known?.values.values() ?? [])]);
  const text = (random.chance(0.5) ? chosen?.legacy : chosen?.value) ?? 'Other';
  return literal(text, plain(text));
}
