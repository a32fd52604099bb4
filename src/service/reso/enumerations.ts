/**
 * Lookups as enumeration types, for a service that is configured to use them: the members that `$metadata` and the OpenAPI
 * description declare.
 */
import { hash } from 'node:crypto';
import { type Page, type Position, plainShape } from '../../compile/read.ts';
import type { LookupMember } from '../../dictionary/csdl/document.ts';
import { memberName, type Resource } from '../../dictionary/index.ts';
import { type AuthenticatedExchange, queryContext, recordsOf, signingFor } from '../exchange.ts';
import { textOfRecords } from './value-forms.ts';

export interface Enumerations {
  readonly members: ReadonlyMap<string, readonly LookupMember[]>;
  /** Identifies the members: equal if they are equal. */
  readonly id: string;
}

/** The members of the lookups, as the key's Lookup resource lists them; if it has no such resource, as the dictionary does. */
export async function enumerationsOf(request: AuthenticatedExchange): Promise<Enumerations | undefined> {
  const { view, model } = request.session;
  if (!view.enumerations) return undefined;
  const { lookups } = model.dictionary;
  const listing = view.schema.find('Lookup');
  const values =
    listing === undefined
      ? [...lookups.values()].flatMap((lookup) =>
          [...lookup.values.keys()].map((value) => [lookup.name, value]),
        )
      : await lookupValues(listing.resource, request);
  const members = new Map<string, LookupMember[]>();
  for (const [lookup = '', value = ''] of values) {
    members
      .getOrInsertComputed(lookup, () => [])
      .push({ name: memberName(lookups.get(lookup), value), value });
  }
  return { members, id: hash('sha256', JSON.stringify(values), 'base64url') };
}

/** Pairs of a lookup's name and a value, for every value that the key sees. */
async function lookupValues(resource: Resource, request: AuthenticatedExchange): Promise<string[][]> {
  const { store, read } = request.context;
  const shape = plainShape(['LookupName', 'LookupValue'].flatMap((name) => resource.fields.get(name) ?? []));
  const query = { ...queryContext(request.session), resource };
  const asked = { query, limit: AT_ONCE, shape, files: signingFor(request) };
  const found: string[][] = [];
  for (let position: Position | undefined = { kind: 'start' }; position !== undefined; ) {
    const page: Page = await store.page({ ...asked, position }, read);
    const text = textOfRecords(recordsOf(page));
    page.release?.();
    const records: Record<string, string>[] = JSON.parse(`[${text}]`);
    found.push(...records.map(({ LookupName = '', LookupValue = '' }) => [LookupName, LookupValue]));
    position = page.more && page.last !== undefined ? { kind: 'after-key', key: page.last.key } : undefined;
  }
  return found;
}

/** The number of Lookup records to read at once. */
const AT_ONCE = 1000;
