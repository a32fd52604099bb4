/**
 * The kinds of requests to all servers, each with the address at plat (RESO) and at the plain server, over the same records. A work
 * marked `never` never repeats a request, so that no cached list answers it.
 */
import type { PlainRecord } from './plain-market.ts';

export const WORK_NAMES = [
  'page',
  'page-gzip-second',
  'window',
  'filter-fresh',
  'filter-cached',
  'scan',
  'expand',
  'key',
  'keys',
  'count',
] as const;
export type WorkName = (typeof WORK_NAMES)[number];

export const WHAT: Readonly<Record<WorkName, string>> = {
  page: 'page of 1,000 full listings',
  'page-gzip-second': 'the same by gzip, second client',
  window: 'window of 1,000, never asked',
  'filter-fresh': 'four terms by price, top 20, never asked',
  'filter-cached': 'the same, asked before',
  scan: 'three terms without an index, top 20, never asked',
  expand: '200 listings with Media',
  key: 'record by key',
  keys: 'page of 1,000 keys',
  count: 'count of all',
};

/** One request: the path at plat, and at the plain server. */
export interface Request {
  readonly plat: string;
  readonly plain: string;
}

/** Returns a request of a work. Different numbers give different requests, as far as the work has that many. */
export type Work = (number: number) => Request;

/** What works need to know about the market. */
export interface Facts {
  /** Of the listings, in key order. */
  readonly keys: readonly string[];
  /** Values of ModificationTimestamp, in order. */
  readonly timestamps: readonly string[];
  readonly cities: readonly string[];
}

export function factsOf(listings: readonly PlainRecord[]): Facts {
  const texts = (field: string): string[] => listings.map((listing) => String(listing[field])).toSorted();
  return {
    keys: texts('ListingKey'),
    timestamps: texts('ModificationTimestamp'),
    cities: [...new Set(texts('City'))].filter((city) => city !== 'null'),
  };
}

const PAGE = 1000;
/** The number of filters that are repeated. */
const AGAIN = 20;

const at = <T>(all: readonly T[], number: number): T | undefined => all[number % all.length];

/** @param values parameters of the plain server: numbers are named `n`, texts `t` */
const plain = (path: string, ...values: readonly (string | number)[]): string =>
  `${path}?${values.map((value) => `${typeof value === 'number' ? 'n' : 't'}=${encodeURIComponent(value)}`).join('&')}`;

export function worksOf({ keys, timestamps, cities }: Facts): Readonly<Record<WorkName, Work>> {
  const pages = Math.max(1, Math.floor(keys.length / PAGE) - 1);
  /** The key before a page. Consecutive numbers give pages that are far apart. */
  const before = (number: number): string => keys[((number * 97) % pages) * PAGE - 1] ?? '';
  const page = (number: number): Request => ({
    plat: `Property?$top=${PAGE}&$skiptoken=${before(number)}`,
    plain: plain('page', before(number)),
  });
  const filter = (number: number): Request => {
    const city = at(cities, number) ?? '';
    const least = 100_000 + ((number * 37) % 400_000);
    const terms = `City eq '${city}' and ListPrice gt ${least} and ListPrice lt ${least + 500_000} and BedroomsTotal ge 3`;
    return {
      plat: `Property?$top=20&$orderby=ListPrice%20desc&$filter=${encodeURIComponent(terms)}`,
      plain: plain('filter', city, least, least + 500_000),
    };
  };
  return {
    page,
    'page-gzip-second': page,
    window(number) {
      const start = ((number * 97) % pages) * PAGE;
      const [first = '', last = ''] = [timestamps[start], timestamps[start + PAGE]];
      const from = new Date(Date.parse(first) - Math.floor(number / pages)).toISOString();
      const terms = `ModificationTimestamp ge ${from} and ModificationTimestamp lt ${last}`;
      return {
        plat: `Property?$top=${PAGE}&$filter=${encodeURIComponent(terms)}`,
        plain: plain('window', from, last),
      };
    },
    'filter-fresh': (number) => filter(AGAIN + number),
    'filter-cached': (number) => filter(number % AGAIN),
    scan(number) {
      const [area, score, year] = [2000 + (number % 997), 60 + (number % 40), 1950 + (number % 70)];
      const terms = `LivingArea gt ${area} and WalkScore eq ${score} and YearBuilt eq ${year}`;
      return {
        plat: `Property?$top=20&$filter=${encodeURIComponent(terms)}`,
        plain: plain('scan', area, score, year),
      };
    },
    expand(number) {
      const key = keys[(number * 173) % (keys.length - 200)] ?? '';
      return { plat: `Property?$top=200&$expand=Media&$skiptoken=${key}`, plain: plain('expand', key) };
    },
    key(number) {
      const key = at(keys, number * 4999) ?? '';
      return { plat: `Property('${key}')`, plain: plain('key', key) };
    },
    keys: (number) => ({
      plat: `Property?$top=${PAGE}&$select=ListingKey&$skiptoken=${before(number)}`,
      plain: plain('keys', before(number)),
    }),
    count: () => ({ plat: 'Property?$top=1&$select=ListingKey&$count=true', plain: 'count' }),
  };
}
