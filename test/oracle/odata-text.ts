/** Writes expressions as OData text, in many styles. */
import type { Place } from './places.ts';
import type { Random } from './random.ts';
import { type Literal, type Over, partsOf, type Scope, type Term } from './term.ts';
import { dateText, timestampText, timeText } from './values.ts';

/** The options of one query, including aliases and computed names that the filter refers to. */
export interface Writer {
  readonly random: Random;
  /** `@name` → text. */
  readonly aliases: Map<string, string>;
  /** The texts of `$compute`, in order. */
  readonly computed: string[];
}

/** The names that are valid at a position. */
interface Context {
  readonly writer: Writer;
  /** The scope of unprefixed names. */
  readonly self: Scope;
  readonly names: ReadonlyMap<Scope, string>;
}

const LEVELS = {
  or: 1,
  and: 2,
  eq: 3,
  ne: 3,
  gt: 4,
  ge: 4,
  lt: 4,
  le: 4,
  add: 5,
  sub: 5,
  mul: 6,
  div: 6,
  divby: 6,
  mod: 6,
} as const;
const UNARY = 7;
const MEMBER = 8;
const PRIMARY = 9;

function levelOf(term: Term): number {
  switch (term.kind) {
    case 'and':
    case 'or':
      return LEVELS[term.kind];
    case 'compare':
    case 'arithmetic':
      return LEVELS[term.operator];
    case 'absent':
      return LEVELS.eq;
    case 'not':
    case 'negate':
      return UNARY;
    case 'in':
    case 'member':
    case 'has':
      return MEMBER;
    default:
      return PRIMARY;
  }
}

export const writeTerm = (term: Term, writer: Writer): string =>
  print(term, { writer, self: 0, names: new Map() }, 0);

/** The scopes that a term refers to but does not open itself. */
export function freeScopes(term: Term): ReadonlySet<Scope> {
  const free = new Set(partsOf(term).flatMap((part) => [...freeScopes(part)]));
  if ('inner' in term) free.delete(term.inner);
  if ('scope' in term) free.add(term.scope);
  if ('over' in term) free.add(term.over.scope);
  if (term.kind === 'has') free.add(term.of.scope);
  return free;
}

/** Moves a term whose value does not depend on lambdas to an option of its own. */
function moved(term: Term, at: Context): string | undefined {
  const { writer, self, names } = at;
  const { random, aliases, computed } = writer;
  if (self !== 0 || names.size > 0 || !random.chance(0.02)) return undefined;
  if (term.kind === 'literal') {
    const name = `@p${aliases.size + 1}`;
    aliases.set(name, literalText(term, random));
    return name;
  }
  if ([...freeScopes(term)].some((scope) => scope !== 0)) return undefined;
  const text = write(term, at, levelOf(term));
  const name = `Value${computed.length + 1}`;
  computed.push(`${text} as ${name}`);
  return name;
}

function print(term: Term, at: Context, least: number): string {
  const elsewhere = moved(term, at);
  if (elsewhere !== undefined) return elsewhere;
  const level = levelOf(term);
  const written = write(term, at, level);
  return level < least || at.writer.random.chance(0.05) ? `(${written})` : written;
}

function pathText(at: Context, scope: Scope, segments: readonly { readonly name: string }[]): string {
  const { self, names, writer } = at;
  const rest = segments.map(({ name }) => name);
  const [first] = rest;
  if (scope !== self) return [scope === 0 ? '$it' : names.get(scope), ...rest].join('/');
  const shadowed = first === undefined || [...names.values()].includes(first);
  const prefixed = shadowed || writer.random.chance(0.05);
  return [...(prefixed ? [scope === 0 ? '$it' : '$this'] : []), ...rest].join('/');
}

const overText = (over: Over, at: Context): string =>
  pathText(at, over.scope, [...over.via, over.kind === 'values' ? over.field : over.navigation]);

function write(term: Term, at: Context, level: number): string {
  const { random } = at.writer;
  const word = (name: string): string => inSomeCase(name, random);
  const infix = (operator: string): string => ` ${word(operator)} `;
  const list = (terms: readonly Term[]): string =>
    terms.map((item) => print(item, at, 0)).join(random.pick([',', ', ']));
  switch (term.kind) {
    case 'literal':
      return literalText(term, random);
    case 'field':
      return pathText(at, term.scope, [...term.via, term.field]);
    case 'element':
      return pathText(at, term.scope, []);
    case 'compare':
    case 'arithmetic':
      return print(term.left, at, level) + infix(term.operator) + print(term.right, at, level + 1);
    case 'and':
    case 'or':
      return term.terms.map((part) => print(part, at, level + 1)).join(infix(term.kind));
    case 'not':
      return `${word('not')} ${print(term.operand, at, UNARY)}`;
    case 'negate':
      return `-${print(term.operand, at, MEMBER)}`;
    case 'in':
      return `${print(term.operand, at, PRIMARY)}${infix('in')}${inList(term.items, list, random)}`;
    case 'member':
      return `${print(term.operand, at, PRIMARY)}${infix('in')}${overText(term.over, at)}`;
    case 'has':
      return hasText(term, at);
    case 'call':
      return `${word(term.name)}(${list(term.parameters.map((each) => ofOwnZone(term.name, each, random)))})`;
    case 'cast':
    case 'isof':
      return `${word(term.kind)}(${print(term.operand, at, 0)},${term.to})`;
    case 'case': {
      const branches = term.branches.map(
        ({ when, result }) => `(${print(when, at, 0)}):${print(result, at, 1)}`,
      );
      return `${word('case')}(${branches.join(',')})`;
    }
    case 'matches': {
      const flags = term.ignoreCase ? ",'i'" : random.pick(['', ",''"]);
      return `${word('matchespattern')}(${print(term.operand, at, 0)},${quoted(term.pattern)}${flags})`;
    }
    case 'distance':
    case 'within':
      return geoText(term, at);
    case 'absent':
      return `${pathText(at, term.scope, term.via)}${infix(term.operator)}null`;
    case 'any':
    case 'all': {
      const filter = term.filter === undefined ? '' : `/$filter(${inside(term.filter, term.inner, at)})`;
      const names = new Map(at.names).set(term.inner, term.variable);
      const predicate =
        term.predicate === undefined ? '' : `${term.variable}:${print(term.predicate, { ...at, names }, 0)}`;
      return `${overText(term.over, at)}${filter}/${word(term.kind)}(${predicate})`;
    }
    case 'count': {
      const path = overText(term.over, at);
      if (term.filter === undefined) return `${path}/$count`;
      const filter = inside(term.filter, term.inner, at);
      return term.before ? `${path}/$filter(${filter})/$count` : `${path}/$count($filter=${filter})`;
    }
  }
}

/** Literals are written in parentheses, anything else in brackets. */
function inList(items: readonly Term[], list: (items: readonly Term[]) => string, random: Random): string {
  const plain = items.every(({ kind }) => kind === 'literal') && random.chance(0.9);
  const written = list(items);
  return plain && !written.includes('@') ? `(${written})` : `[${written}]`;
}

/** In the options of a collection, unprefixed names refer to its members. */
const inside = (term: Term, self: Scope, at: Context): string => print(term, { ...at, self }, 0);

function inSomeCase(word: string, random: Random): string {
  return random.chance(0.9)
    ? word
    : random.pick([word.toUpperCase(), word.charAt(0).toUpperCase() + word.slice(1)]);
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

function hasText({ of, members }: Extract<Term, { kind: 'has' }>, at: Context): string {
  const { random } = at.writer;
  const path = of.kind === 'field' ? pathText(at, of.scope, [...of.via, of.field]) : overText(of, at);
  const prefix = members.includes('') ? '' : random.pick(['', 'org.reso.metadata.enums.Kind']);
  return `${path} ${inSomeCase('has', random)} ${prefix}${quoted(members.join(','))}`;
}

const placeText = ({ longitude, latitude }: Place): string => `${longitude} ${latitude}`;

function geoText(term: Extract<Term, { kind: 'distance' | 'within' }>, at: Context): string {
  const { random } = at.writer;
  const path = pathText(at, term.scope, [...term.via, { name: 'Coordinates' }]);
  const system = random.pick(['', 'SRID=4326;']);
  const shape =
    term.kind === 'distance'
      ? `POINT(${placeText(term.to)})`
      : `POLYGON((${term.ring.map(placeText).join(random.pick([',', ', ']))}))`;
  const literal = `geography'${system}${shape}'`;
  const sides = random.chance(0.8) ? [path, literal] : [literal, path];
  return `${inSomeCase(term.kind === 'distance' ? 'geo.distance' : 'geo.intersects', random)}(${sides.join(',')})`;
}

export function literalText({ type, value, written }: Literal, random: Random): string {
  if (written !== undefined) return written;
  if (value === null) return 'null';
  switch (type) {
    case 'string':
      return quoted(String(value));
    case 'decimal':
      return decimalText(Number(value), random);
    case 'date':
      return dateText(Number(value));
    case 'timestamp':
      return momentText(Number(value), random);
    case 'time':
      return timeText(Number(value));
    case 'duration':
      return durationText(Number(value), random);
    default:
      return String(value);
  }
}

function decimalText(value: number, random: Random): string {
  const plain = String(value);
  if (!Number.isInteger(value) || plain.includes('e')) return plain;
  return random.pick([`${value}.0`, `${value}e0`, `${value}.00`]);
}

/** A timestamp in some zone, with or without its optional parts. */
function momentText(moment: number, random: Random): string {
  const text = timestampText(moment);
  if (random.chance(0.6)) return text;
  if (random.chance(0.5) && text.endsWith(':00Z')) return text.replace(':00Z', 'Z');
  const offset = random.pick(OFFSETS);
  const local = moment + offset * 60_000;
  return isInYears(local) ? zonedText(local, offset) : text;
}

/** In minutes. */
const OFFSETS = [120, -330, 0, 840];

function isInYears(moment: number): boolean {
  const year = new Date(moment).getUTCFullYear();
  return year >= 1 && year <= 9999;
}

/** @param local the day and time of day in the zone, as if it was UTC */
function zonedText(local: number, offset: number): string {
  const [hours, minutes] = [Math.trunc(Math.abs(offset) / 60), Math.abs(offset) % 60].map((part) =>
    String(part).padStart(2, '0'),
  );
  return `${new Date(local).toISOString().slice(0, 23)}000${offset < 0 ? '-' : '+'}${hours}:${minutes}`;
}

/** A parameter of a function that reads the parts of a timestamp, which are those in the zone in which it is written. */
function ofOwnZone(name: string, term: Term, random: Random): Term {
  if (term.kind !== 'literal' || term.type !== 'timestamp' || term.written !== undefined) return term;
  if (term.value === null) return term;
  const moment = Number(term.value);
  const offset = random.pick(OFFSETS);
  const isUtc = name === 'totaloffsetminutes' || random.chance(0.6) || !isInYears(moment - offset * 60_000);
  return { ...term, written: isUtc ? timestampText(moment) : zonedText(moment, offset) };
}

const UNITS = [
  [86_400_000, 'D'],
  [3_600_000, 'H'],
  [60_000, 'M'],
] as const;

function durationText(milliseconds: number, random: Random): string {
  let rest = Math.abs(milliseconds);
  let text = '';
  for (const [size, unit] of UNITS) {
    const count = random.chance(0.8) ? Math.floor(rest / size) : 0;
    if (unit === 'H') text += 'T';
    if (unit === 'D' && count === 0) continue;
    if (count > 0) text += `${count}${unit}`;
    rest -= count * size;
  }
  if (rest > 0) text += `${rest / 1000}S`;
  if (text.endsWith('T')) text = text === 'T' ? 'T0S' : text.slice(0, -1);
  return `duration'${milliseconds < 0 ? '-' : ''}P${text}'`;
}
