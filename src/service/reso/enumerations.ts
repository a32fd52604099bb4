/**
 * Lookups as enumeration types, for a service that is configured to use them: the members that `$metadata` and the OpenAPI
 * description declare, and the replacement of values by names of members when a response is written, since the ready texts of
 * records contain values.
 */
import { hash } from 'node:crypto';
import type { Page, Position, ResoShape } from '../../compile/read.ts';
import type { LookupMember } from '../../dictionary/csdl/document.ts';
import { type Field, memberName, type Resource } from '../../dictionary/index.ts';
import type { Expansion } from '../../query/request.ts';
import type { DeflatedList } from '../../shared/gzip-member.ts';
import {
  asking,
  type Exchange,
  isDeflated,
  type Part,
  recordsOf,
  type ServiceContext,
  type Session,
  signingFor,
} from '../exchange.ts';

interface Asked {
  readonly context: ServiceContext;
  readonly exchange: Exchange;
  readonly session: Session;
}

export interface Enumerations {
  readonly members: ReadonlyMap<string, readonly LookupMember[]>;
  /** The same for the same members. */
  readonly id: string;
}

/** The members of the lookups, as the key's Lookup resource lists them; if it has no such resource, as the dictionary does. */
export async function enumerationsOf({
  context,
  exchange,
  session,
}: Asked): Promise<Enumerations | undefined> {
  const { view, model } = session;
  if (!view.enumerations) return undefined;
  const { lookups } = model.dictionary;
  const listing = view.schema.find('Lookup');
  const values =
    listing === undefined
      ? [...lookups.values()].flatMap((lookup) =>
          [...lookup.values.keys()].map((value) => [lookup.name, value]),
        )
      : await lookupValues(listing.resource, { context, exchange, session });
  const members = new Map<string, LookupMember[]>();
  for (const [lookup = '', value = ''] of values) {
    members
      .getOrInsertComputed(lookup, () => [])
      .push({ name: memberName(lookups.get(lookup), value), value });
  }
  return { members, id: hash('sha256', JSON.stringify(values), 'base64url') };
}

/** Pairs of a lookup's name and a value, for every value that the key sees. */
async function lookupValues(resource: Resource, { context, exchange, session }: Asked): Promise<string[][]> {
  const fields = ['LookupName', 'LookupValue'].flatMap((name) => resource.fields.get(name) ?? []);
  const shape: ResoShape = {
    kind: 'reso',
    selection: { all: false, fields, hidden: [] },
    computed: [],
    expansions: [],
    omitNulls: false,
    annotateHidden: false,
    root: '',
  };
  const asked = { query: { ...asking(session), resource }, limit: AT_ONCE, shape };
  const found: string[][] = [];
  const files = signingFor(context, exchange, session);
  for (let position: Position | undefined = { kind: 'start' }; position !== undefined; ) {
    const page: Page = await context.store.page({ ...asked, position, files }, context.read);
    const text = textOf(recordsOf(page));
    page.release?.();
    const records: Record<string, string>[] = JSON.parse(`[${text}]`);
    found.push(...records.map(({ LookupName = '', LookupValue = '' }) => [LookupName, LookupValue]));
    position = page.more && page.last !== undefined ? { kind: 'after-key', key: page.last.key } : undefined;
  }
  return found;
}

/** The number of Lookup records to read at once. */
const AT_ONCE = 1000;

/** What the value of a member is: values of a lookup, or records of another resource. */
type Rule =
  | { readonly kind: 'values'; readonly nameOf: (value: string) => string }
  | { readonly kind: 'records'; readonly ruleOf: RuleOf };

type RuleOf = (name: string) => Rule | undefined;

interface Given {
  readonly resource: Resource;
  readonly expansions: readonly Expansion[];
}

/** The texts of records, with enumeration members if the service is configured so. */
export function asConfigured(
  request: Pick<Asked, 'session'>,
  query: Given,
  records: Uint8Array | DeflatedList,
): Part {
  if (!request.session.view.enumerations) return records;
  return withNames(textOf(records), rulesOf(request, query));
}

/** The text of one record, with enumeration members if the service is configured so. */
export function recordAsConfigured(
  request: Pick<Asked, 'session'>,
  query: Given,
  text: Uint8Array,
): Uint8Array {
  if (!request.session.view.enumerations) return text;
  return Buffer.from(withNames(Buffer.from(text).toString(), rulesOf(request, query)));
}

/** The value of one field, as an enumeration member if the service is configured so. */
export function valueAsConfigured(
  { session: { view } }: Pick<Asked, 'session'>,
  field: Field,
  value: unknown,
): unknown {
  if (!view.enumerations || field.lookup === undefined) return value;
  const lookup = view.schema.lookup(field.lookup);
  const nameOf = (each: unknown): unknown => (typeof each === 'string' ? memberName(lookup, each) : each);
  return Array.isArray(value) ? value.map(nameOf) : nameOf(value);
}

function textOf(records: Uint8Array | DeflatedList): string {
  if (isDeflated(records))
    throw new Error('A page with enumeration members cannot come from the cache of blocks');
  return Buffer.from(records).toString();
}

function rulesOf(request: Pick<Asked, 'session'>, { resource, expansions }: Given): RuleOf {
  const { schema } = request.session.view;
  const known = new Map<string, Rule | undefined>(
    expansions
      .filter(({ give }) => give === 'records')
      .map(({ name, query }) => [name, { kind: 'records', ruleOf: rulesOf(request, query) }]),
  );
  const ruleOf = (name: string): Rule | undefined => {
    const lookup = resource.fields.get(name)?.lookup;
    return lookup === undefined
      ? undefined
      : { kind: 'values', nameOf: (value) => memberName(schema.lookup(lookup), value) };
  };
  return (name) => known.getOrInsertComputed(name, ruleOf);
}

/** An object or list that is being scanned. */
type Frame =
  | {
      readonly kind: 'object';
      readonly ruleOf: RuleOf | undefined;
      rule: Rule | undefined;
      awaitsName: boolean;
    }
  | { readonly kind: 'list'; readonly rule: Rule | undefined };

/** The JSON texts of records, joined by commas, with the values of lookups replaced. */
function withNames(text: string, ruleOf: RuleOf): string {
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
