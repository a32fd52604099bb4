/**
 * Converts the values of records to the form that a response needs. The ready texts of records contain the strings of lookups and
 * JSON numbers, but a service may be configured to return enumeration members, and a client may request numbers as strings
 * (`IEEE754Compatible=true`: OData JSON format 4.01, 3.2). A response that needs neither is not changed.
 */
import { type Field, memberName, type Resource } from '../../dictionary/index.ts';
import type { Computed, Expansion } from '../../query/request.ts';
import { typeOf } from '../../query/tree.ts';
import type { DeflatedList } from '../../shared/gzip-member.ts';
import { type BodyPart, isDeflated, type Session } from '../exchange.ts';

/** What determines the form of values. */
interface ValueForm {
  readonly session: Pick<Session, 'view'>;
  /** Whether the client requests numbers of the types Edm.Int64 and Edm.Decimal as strings. */
  readonly numbersAsText?: boolean;
}

/** How to convert the value of a member: as values of a lookup, as numbers, or as records of another resource. */
type Rule =
  | { readonly kind: 'values'; readonly nameOf: (value: string) => string }
  | { readonly kind: 'numbers' }
  | { readonly kind: 'records'; readonly ruleOf: RuleOf };

type RuleOf = (name: string) => Rule | undefined;

interface RecordStructure {
  readonly resource: Resource;
  readonly computed?: readonly Computed[];
  readonly expansions: readonly Expansion[];
}

/** Whether the texts of records are returned as they are stored. */
export const usesStoredForm = ({ session, numbersAsText = false }: ValueForm): boolean =>
  !session.view.enumerations && !numbersAsText;

/** The texts of records in the requested form. */
export function recordsAsRequested(
  form: ValueForm,
  query: RecordStructure,
  records: Uint8Array | DeflatedList,
): BodyPart {
  return usesStoredForm(form) ? records : rewriteValues(textOfRecords(records), rulesOf(form, query));
}

/** The text of one record in the requested form. */
export function recordAsRequested(form: ValueForm, query: RecordStructure, text: Uint8Array): Uint8Array {
  if (usesStoredForm(form)) return text;
  return Buffer.from(rewriteValues(Buffer.from(text).toString(), rulesOf(form, query)));
}

/** The value of one field, as an enumeration member if the service is configured so. */
export function valueAsConfigured(
  { session: { view } }: Pick<ValueForm, 'session'>,
  field: Field,
  value: unknown,
): unknown {
  if (!view.enumerations || field.lookup === undefined) return value;
  const lookup = view.schema.lookup(field.lookup);
  const nameOf = (each: unknown): unknown => (typeof each === 'string' ? memberName(lookup, each) : each);
  return Array.isArray(value) ? value.map(nameOf) : nameOf(value);
}

export function textOfRecords(records: Uint8Array | DeflatedList): string {
  if (isDeflated(records)) throw new Error('A page that is rewritten cannot come from the cache of blocks');
  return Buffer.from(records).toString();
}

function rulesOf(form: ValueForm, { resource, computed = [], expansions }: RecordStructure): RuleOf {
  const { view } = form.session;
  const numbers: Rule | undefined = form.numbersAsText ? { kind: 'numbers' } : undefined;
  const known = new Map<string, Rule | undefined>([
    ...expansions
      .filter(({ give }) => give === 'records')
      .map(({ name, query }): [string, Rule] => [name, { kind: 'records', ruleOf: rulesOf(form, query) }]),
    ...expansions.map(({ name }): [string, Rule | undefined] => [`${name}@odata.count`, numbers]),
    ...computed.map(({ name, expression }): [string, Rule | undefined] => [
      name,
      NUMBERS.has(typeOf(expression)) ? numbers : undefined,
    ]),
  ]);
  const ruleOf = (name: string): Rule | undefined => {
    const field = resource.fields.get(name);
    if (field === undefined) return undefined;
    if (NUMBERS.has(field.type.kind)) return numbers;
    const { lookup } = field;
    return lookup === undefined || !view.enumerations
      ? undefined
      : { kind: 'values', nameOf: (value) => memberName(view.schema.lookup(lookup), value) };
  };
  return (name) => known.getOrInsertComputed(name, ruleOf);
}

/** The types that `$metadata` declares as Edm.Int64 and Edm.Decimal. */
const NUMBERS: ReadonlySet<string> = new Set(['integer', 'decimal']);

/** Matches a JSON number. */
const NUMBER = /-?\d+(?:\.\d+)?(?:[Ee][+-]?\d+)?/y;

/** An object or list that is being scanned. */
type Frame =
  | {
      readonly kind: 'object';
      readonly ruleOf: RuleOf | undefined;
      rule: Rule | undefined;
      awaitsName: boolean;
    }
  | { readonly kind: 'list'; readonly rule: Rule | undefined };

/** The JSON texts of records, joined by commas, with the values of lookups and numbers replaced. */
function rewriteValues(text: string, ruleOf: RuleOf): string {
  const out: string[] = [];
  const frames: Frame[] = [{ kind: 'list', rule: { kind: 'records', ruleOf } }];
  let copied = 0;
  for (let at = 0; at < text.length; at++) {
    const frame = frames.at(-1);
    switch (text[at]) {
      case '{': {
        const rule = frame?.rule;
        const inner = rule?.kind === 'records' ? rule.ruleOf : undefined;
        frames.push({ kind: 'object', ruleOf: inner, rule: undefined, awaitsName: true });
        break;
      }
      case '[':
        frames.push({ kind: 'list', rule: frame?.rule });
        break;
      case '}':
      case ']':
        frames.pop();
        break;
      case ',':
        if (frame?.kind === 'object') frame.awaitsName = true;
        break;
      case '"': {
        const end = endOfString(text, at);
        if (frame?.kind === 'object' && frame.awaitsName) {
          frame.awaitsName = false;
          frame.rule = frame.ruleOf?.(text.slice(at + 1, end));
        } else if (frame?.rule?.kind === 'values') {
          const value: unknown = JSON.parse(text.slice(at, end + 1));
          out.push(text.slice(copied, at), JSON.stringify(frame.rule.nameOf(String(value))));
          copied = end + 1;
        }
        at = end;
        break;
      }
      default: {
        // A number, true, false or null.
        if (frame?.rule?.kind !== 'numbers') break;
        NUMBER.lastIndex = at;
        const [number] = NUMBER.exec(text) ?? [];
        if (number === undefined) break;
        out.push(text.slice(copied, at), `"${number}"`);
        copied = at + number.length;
        at = copied - 1;
      }
    }
  }
  out.push(text.slice(copied));
  return out.join('');
}

/** The position of the closing quote of a string. */
function endOfString(text: string, open: number): number {
  for (let end = text.indexOf('"', open + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === '\\') slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}
