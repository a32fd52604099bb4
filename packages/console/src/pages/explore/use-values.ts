/** The values of lookups, read once for each role or key when one of their fields is chosen or typed. */
import { signal } from '@preact/signals';
import { type About, pathSeenBy } from '../../app/api.ts';
import { everyPage } from '../../parts/every-page.ts';
import { quoted } from '../../parts/listing-record.ts';
import { rootOf } from './request.ts';
import type { FieldInfo } from './schema.ts';
import type { View } from './view.ts';

type Values = readonly string[] | 'asked';

const known = signal<ReadonlyMap<string, Values>>(new Map());

/** @returns a function that returns the values of a field; if they are not known yet, it requests them and returns undefined */
export function useValues(view: View, about: About): (field: FieldInfo) => readonly string[] | undefined {
  const base = pathSeenBy(view.as, view.surface, rootOf(view, about));
  const all = known.value;
  return ({ lookup, values }) => {
    if (values !== undefined || lookup === undefined) return values ?? [];
    const id = `${base} ${lookup}`;
    const found = all.get(id);
    if (found === undefined) void read(id, base, lookup);
    return typeof found === 'object' ? found : undefined;
  };
}

async function read(id: string, base: string, lookup: string): Promise<void> {
  if (known.peek().has(id)) return;
  const keep = (values: Values) => {
    known.value = new Map([...known.peek(), [id, values]]);
  };
  queueMicrotask(() => keep('asked'));
  // If the values cannot be read, a person can still type one.
  keep(await lookupValues(base, lookup).catch(() => []));
}

/** The values of a lookup. @param base the address of the interface */
async function lookupValues(base: string, lookup: string): Promise<readonly string[]> {
  const filter = encodeURIComponent(`LookupName eq ${quoted(lookup)}`);
  const path = `${base}Lookup?$select=LookupValue&$filter=${filter}`;
  const found = await everyPage<{ readonly LookupValue: string }>(path);
  return found.map(({ LookupValue }) => LookupValue);
}
