/**
 * Suggestions for a filter that is being typed: fields, operators, values of lookups, and the words between conditions. Only the
 * text directly before the caret is analyzed, since an unfinished text is not a valid filter.
 */
import { quoted } from './conditions.ts';
import type { FieldInfo, ResourceInfo, Schema } from './schema.ts';
import type { InterfaceName } from './view.ts';

export interface Suggestion {
  /** The text to insert. */
  readonly text: string;
  /** A description for people. */
  readonly note: string;
}

export interface Completion {
  /** Where the text to replace begins; it ends at the caret. */
  readonly from: number;
  readonly suggestions: readonly Suggestion[];
  /** The field whose values would be suggested if they were known. */
  readonly valuesOf?: FieldInfo;
}

interface Token {
  readonly kind: 'word' | 'text' | 'open' | 'close' | 'comma' | 'other';
  readonly text: string;
  readonly from: number;
}

const MOST = 12;

const TOKENS = /\s+|'(?:[^'\\]|''|\\.)*'?|"[^"]*"(?:\."[^"]*"?)?|[\w/.:+-]+|[(),]|./gsu;

function tokensOf(text: string): readonly Token[] {
  return [...text.matchAll(TOKENS)].flatMap(({ 0: found, index }): Token[] => {
    if (found.trim() === '') return [];
    const kind = found.startsWith("'")
      ? 'text'
      : found === '('
        ? 'open'
        : found === ')'
          ? 'close'
          : found === ','
            ? 'comma'
            : /^["\w]/.test(found)
              ? 'word'
              : 'other';
    return [{ kind, text: found, from: index }];
  });
}

const KIND_WORDS: Readonly<Record<FieldInfo['kind'], string>> = {
  text: 'text',
  integer: 'whole number',
  decimal: 'number',
  boolean: 'yes or no',
  date: 'date',
  timestamp: 'date and time',
  other: '',
};

const COMPARISONS = ['eq', 'ne', 'gt', 'ge', 'lt', 'le'];
const SIGNS: Readonly<Record<string, string>> = {
  eq: 'equals',
  ne: 'does not equal',
  gt: 'is more than',
  ge: 'is at least',
  lt: 'is less than',
  le: 'is at most',
  bt: 'is between',
  in: 'is one of',
  has: 'has the value',
};

const capital = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1);

interface Words {
  readonly joints: readonly string[];
  /** What can begin a condition. */
  readonly openers: readonly Suggestion[];
}

const WORDS: Readonly<Record<'odata' | 'native', Words>> = {
  odata: {
    joints: ['and', 'or'],
    openers: [
      { text: 'contains(', note: 'a text contains another' },
      { text: 'startswith(', note: 'a text begins with another' },
      { text: 'endswith(', note: 'a text ends with another' },
      { text: 'tolower(', note: 'in lower case' },
      { text: 'year(', note: 'the year of a date' },
      { text: 'not ', note: 'the opposite' },
    ],
  },
  native: {
    joints: ['And', 'Or', 'Not'],
    openers: [
      { text: 'Not ', note: 'the opposite' },
      { text: 'tolower(', note: 'in lower case' },
      { text: 'year(', note: 'the year of a date' },
      { text: 'length(', note: 'how long a text is' },
      { text: 'all(', note: 'of every value' },
    ],
  },
};

const isComparison = (text: string): boolean => /^(?:eq|ne|gt|ge|lt|le|bt|in|has)$/i.test(text);
const isJoint = (text: string): boolean => /^(?:and|or|not)$/i.test(text);

/** The field to which a name or path leads. */
function fieldAt(path: string, resource: ResourceInfo, schema: Schema): FieldInfo | undefined {
  const steps = path.startsWith('"') ? [path] : path.split('/');
  const last = steps.pop();
  let at: ResourceInfo | undefined = resource;
  for (const step of steps) {
    const to: string | undefined = at?.navigations.find(({ name }) => name === step)?.to;
    at = to === undefined ? undefined : schema.get(to);
  }
  return at?.fields.find(({ name }) => name === last);
}

/** Sorts fields that begin with the typed text before those that contain it. */
function matching(all: readonly Suggestion[], typed: string): readonly Suggestion[] {
  const small = typed.toLowerCase();
  const first = all.filter(({ text }) => text.toLowerCase().replace(/^['"]/, '').startsWith(small));
  const others = all.filter(
    (each) => !first.includes(each) && `${each.text} ${each.note}`.toLowerCase().includes(small),
  );
  return [...first, ...others].filter(({ text }) => text.trim() !== typed).slice(0, MOST);
}

const fieldSuggestions = (fields: readonly FieldInfo[], path = ''): readonly Suggestion[] =>
  fields.map(({ name, label, kind, isList }) => ({
    text: `${path}${name} `,
    note: `${label} · ${isList ? 'several values' : KIND_WORDS[kind]}`,
  }));

/** The names after a path such as `ListAgent/`: fields, and further navigations. */
function names(path: string, resource: ResourceInfo, schema: Schema): readonly Suggestion[] {
  const steps = path.split('/').slice(0, -1);
  let at: ResourceInfo | undefined = resource;
  for (const step of steps) {
    const to: string | undefined = at?.navigations.find(({ name, isList }) => name === step && !isList)?.to;
    at = to === undefined ? undefined : schema.get(to);
  }
  if (at === undefined) return [];
  const before = steps.map((step) => `${step}/`).join('');
  return [
    ...fieldSuggestions(at.fields, before),
    ...at.navigations
      .filter(({ isList }) => !isList)
      .map(({ name, to }) => ({ text: `${before}${name}/`, note: `the ${to}` })),
  ];
}

function operators(field: FieldInfo | undefined, isNative: boolean): readonly Suggestion[] {
  const signs =
    field?.kind === 'boolean'
      ? ['eq', 'ne']
      : isNative
        ? field?.kind === 'text'
          ? ['eq', 'ne']
          : [...COMPARISONS, 'bt']
        : [...COMPARISONS, 'in'];
  return signs.map((sign) => ({ text: `${isNative ? capital(sign) : sign} `, note: SIGNS[sign] ?? '' }));
}

function literals(
  field: FieldInfo | undefined,
  values: readonly string[],
  name: InterfaceName,
): readonly Suggestion[] {
  const nothing = { text: name === 'native' ? 'NULL' : 'null', note: 'no value' };
  switch (field?.kind) {
    case 'boolean':
      return [{ text: 'true', note: 'yes' }, { text: 'false', note: 'no' }, nothing];
    case 'date':
    case 'timestamp': {
      const now =
        name === 'native'
          ? [{ text: 'days(-7)', note: 'a week ago' }]
          : [{ text: "now() sub duration'P7D'", note: 'a week ago' }];
      return [...now, { text: 'now()', note: 'this moment' }, nothing];
    }
    default:
      return [...values.map((value) => ({ text: quoted(name, value), note: 'a value' })), nothing];
  }
}

/**
 * @param values the values of the field before the operator, if it has a lookup and they are known
 * @param caret in UTF-16 code units
 */
export function complete(
  name: InterfaceName,
  text: string,
  caret: number,
  resource: ResourceInfo,
  schema: Schema,
  values: (field: FieldInfo) => readonly string[] | undefined,
): Completion {
  const isNative = name === 'native';
  const words = WORDS[isNative ? 'native' : 'odata'];
  const tokens = tokensOf(text.slice(0, caret));
  const last = tokens.at(-1);
  const isTyping = last !== undefined && last.from + last.text.length === caret && isHalf(last);
  const typed = isTyping ? last.text : '';
  const from = isTyping ? last.from : caret;
  const before = isTyping ? tokens.slice(0, -1) : tokens;
  const previous = before.at(-1);
  const of = (all: readonly Suggestion[], valuesOf?: FieldInfo): Completion => ({
    from,
    suggestions: matching(all, typed.replace(/^'/, '')),
    ...(valuesOf === undefined ? {} : { valuesOf }),
  });
  const compared = comparedBefore(before, resource, schema);
  if (compared !== undefined) {
    const known = compared.lookup === undefined ? (compared.values ?? []) : values(compared);
    const all = literals(compared, known ?? [], name);
    const fitting = typed.startsWith("'") ? all.filter((each) => each.text.startsWith("'")) : all;
    return of(fitting, known === undefined ? compared : undefined);
  }
  if (typed.startsWith("'")) return { from, suggestions: [] };
  const isStart =
    previous === undefined ||
    previous.kind === 'open' ||
    (previous.kind === 'word' && isJoint(previous.text));
  if (isStart) return of([...names(isNative ? '' : typed, resource, schema), ...words.openers]);
  if (previous.kind === 'word' && !isComparison(previous.text)) {
    const field = fieldAt(previous.text, resource, schema);
    if (field !== undefined) return of(operators(field, isNative));
  }
  if (previous.kind === 'comma' || previous.kind === 'other') return { from, suggestions: [] };
  if (previous.kind === 'word' && isComparison(previous.text)) return { from, suggestions: [] };
  return of(words.joints.map((joint) => ({ text: `${joint} `, note: '' })));
}

/** Whether typing can extend a token; a closed text in quotes cannot be extended. */
const isHalf = ({ kind, text }: Token): boolean =>
  kind === 'word' || (kind === 'text' && (text.length === 1 || !text.endsWith("'")));

/** The field whose value is typed next: `City eq ▮`, `City in ('Rome', ▮`, `contains(City, ▮`. */
function comparedBefore(
  before: readonly Token[],
  resource: ResourceInfo,
  schema: Schema,
): FieldInfo | undefined {
  let at = before.length - 1;
  // Skips the values that the list has already.
  while (at >= 0 && before[at]?.kind === 'comma' && before[at - 1]?.kind === 'text') at -= 2;
  if (before[at]?.kind === 'open' && /^in$/i.test(before[at - 1]?.text ?? '')) at -= 1;
  const operator = before[at];
  const field = before[at - 1];
  if (operator?.kind === 'comma') {
    const isCall = before[at - 2]?.kind === 'open' && field?.kind === 'word';
    return isCall ? fieldAt(field.text, resource, schema) : undefined;
  }
  if (operator?.kind !== 'word' || !isComparison(operator.text) || field?.kind !== 'word') return undefined;
  return fieldAt(field.text, resource, schema);
}
