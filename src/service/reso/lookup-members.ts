/**
 * The members of lookups, where a key's clients get them as enumerations: what `$metadata` and the description of the service
 * declare. It must not know how either is written.
 */
import { hash } from 'node:crypto';
import type { Page, Position, ResoShape } from '../../compile/read.ts';
import type { LookupMember } from '../../dictionary/csdl/index.ts';
import { memberName, type Resource } from '../../dictionary/index.ts';
import { asking, signingFor } from '../context.ts';
import { partsOf } from '../exchange.ts';
import { wholeText } from './enumerated.ts';
import type { ResoRequest } from './resource-request.ts';

type Asked = Pick<ResoRequest, 'context' | 'exchange' | 'session'>;

export interface Enumerations {
  readonly members: ReadonlyMap<string, readonly LookupMember[]>;
  /** The same members have the same. */
  readonly id: string;
}

/** The members of the lookups as the key's Lookup resource lists them; where it has none, as the dictionary does. */
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
    const known = members.get(lookup) ?? [];
    known.push({ name: memberName(lookups.get(lookup), value), value });
    members.set(lookup, known);
  }
  return { members, id: hash('sha256', JSON.stringify(values), 'base64url') };
}

/** Pairs of the lookup and the value, of all records that the key sees. */
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
    const text = await wholeText(partsOf(page));
    page.release?.();
    const records: Record<string, string>[] = JSON.parse(`[${text}]`);
    found.push(...records.map(({ LookupName = '', LookupValue = '' }) => [LookupName, LookupValue]));
    position = page.more && page.last !== undefined ? { kind: 'after-key', key: page.last.key } : undefined;
  }
  return found;
}

/** Entries of Lookup that are read at once. */
const AT_ONCE = 1000;
