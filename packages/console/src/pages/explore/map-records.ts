/**
 * The records of a view that have locations, as points of a map, fetched page by page up to the number that a map can show. This
 * module must not know how they are drawn.
 */
import { useEffect, useState } from 'preact/hooks';
import { type About, ask } from '../../app/api.ts';
import type { MapPoint, Tone } from '../../parts/map.tsx';
import { listingOf } from './cell.tsx';
import { conditionText, narrowed } from './conditions.ts';
import { type Body, hereFor, pageOf, pageSize, pathOf, type Row, rootOf } from './request.ts';
import type { FieldInfo, ResourceInfo } from './schema.ts';
import type { View } from './view.ts';

/** The largest number of records to fetch for a map: for an interface with pages of a thousand, and for one with short pages. */
const MOST_POINTS = 5000;
const MOST_OF_FEW = 1000;

export interface MapRecord extends MapPoint {
  /** The page of the listing, if there is one. */
  readonly href: string | undefined;
  readonly price: number | undefined;
}

export interface Located {
  readonly records: readonly MapRecord[];
  /** The total number of records with a location. */
  readonly count: number;
  readonly isWhole: boolean;
}

export type Locating =
  | { readonly kind: 'loading'; readonly loaded: number }
  | { readonly kind: 'located'; readonly of: string; readonly located: Located }
  | { readonly kind: 'failed'; readonly of: string; readonly error: unknown };

/** The fields of a resource that a map needs; undefined if there are none, or the role or key does not see them. */
export function placeFields({ fields }: ResourceInfo): readonly FieldInfo[] | undefined {
  const [latitude, longitude] = ['Latitude', 'Longitude'].map((name) =>
    fields.find((field) => field.name === name),
  );
  return latitude === undefined || longitude === undefined ? undefined : [latitude, longitude];
}

/** The page size: a map needs few fields, so pages may be as long as the interface allows. */
const pageOfMap = (view: View): number => (view.interface === 'native' ? pageSize(view) : 1000);

/** The fields that a point shows, if the role sees them. */
const SHOWN = ['UnparsedAddress', 'City', 'ListPrice', 'StandardStatus'];

/** The view restricted to records with a location. */
function locatedView(view: View, resource: ResourceInfo): View {
  const filter = (placeFields(resource) ?? []).reduce(
    (filter, field) => narrowed(view.interface, filter, conditionText(view.interface, field, 'filled', '')),
    view.filter,
  );
  return { ...view, filter, order: '', expand: '', select: '' };
}

export function useLocated(view: View, about: About, resource: ResourceInfo): Locating {
  const asked = locatedView(view, resource);
  const seen = new Set(resource.fields.map(({ name }) => name));
  const columns = [...resource.key, 'Latitude', 'Longitude', ...SHOWN].filter((name) => seen.has(name));
  const first = hereFor(asked, pathOf(asked, rootOf(view, about), columns, { skip: 0 }, pageOfMap(view)));
  const [locating, setLocating] = useState<Locating>({ kind: 'loading', loaded: 0 });
  useEffect(() => {
    const gone = new AbortController();
    const update = (now: Locating) => {
      if (!gone.signal.aborted) setLocating(now);
    };
    update({ kind: 'loading', loaded: 0 });
    const onLoaded = (loaded: number) => update({ kind: 'loading', loaded });
    locate({ view: asked, resource, first, signal: gone.signal }, onLoaded).then(
      (located) => update({ kind: 'located', of: first, located }),
      (error: unknown) => update({ kind: 'failed', of: first, error }),
    );
    return () => gone.abort();
  }, [first]);
  // Until the effect has run, the state may be that of the previous view.
  return locating.kind !== 'loading' && locating.of !== first ? { kind: 'loading', loaded: 0 } : locating;
}

interface Request {
  readonly view: View;
  readonly resource: ResourceInfo;
  readonly first: string;
  readonly signal: AbortSignal;
}

/** @param onLoaded called with the number of records so far */
async function locate(
  { view, resource, first, signal }: Request,
  onLoaded: (loaded: number) => void,
): Promise<Located> {
  const records: MapRecord[] = [];
  let count: number | undefined;
  let next: string | undefined = first;
  const most = view.interface === 'native' ? MOST_OF_FEW : MOST_POINTS;
  while (next !== undefined && records.length < most) {
    const { body } = await ask<Body>(next, { signal });
    const page = pageOf(view, body, next);
    records.push(...page.rows.flatMap((row) => recordIn(row, view, resource)));
    count ??= page.count;
    // The native interface returns a token even after the last record.
    next = page.rows.length === 0 || records.length >= (count ?? most) ? undefined : page.next;
    onLoaded(records.length);
  }
  return { records, count: count ?? records.length, isWhole: next === undefined };
}

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '');

function recordIn(row: Row, view: View, { name, key }: ResourceInfo): MapRecord[] {
  const { Latitude: latitude, Longitude: longitude, City, ListPrice, StandardStatus, UnparsedAddress } = row;
  if (typeof latitude !== 'number' || typeof longitude !== 'number') return [];
  const id = String(row[key[0] ?? ''] ?? '');
  const price = typeof ListPrice === 'number' ? ListPrice : undefined;
  const parts = [
    textIn(UnparsedAddress) || id,
    ...(price === undefined ? [] : [price.toLocaleString('en-US')]),
    textIn(StandardStatus),
  ];
  return [
    {
      id,
      latitude,
      longitude,
      label: parts.filter((part) => part !== '').join(' · '),
      place: textIn(City),
      tone: toneOf(textIn(StandardStatus)),
      href: listingOf(name, row, view.as),
      price,
    },
  ];
}

/** Listings that are for sale stand out most, those under contract less, and all others recede. */
function toneOf(status: string): Tone {
  if (status === '' || status === 'Active' || status === 'Coming Soon') return 'main';
  return status === 'Active Under Contract' || status === 'Pending' ? 'warn' : 'soft';
}
