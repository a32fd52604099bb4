/** Collections of the RESO interface that a page shows as a whole. */
import { get } from '../app/api.ts';

interface PageOf<T> {
  readonly value: readonly T[];
  readonly '@odata.nextLink'?: string;
}

/** The records of a collection, page by page to its end. @param path on the admin port */
export async function everyPage<T>(path: string): Promise<readonly T[]> {
  const records: T[] = [];
  let next: string | undefined = path;
  while (next !== undefined) {
    const page: PageOf<T> = await get(next);
    records.push(...page.value);
    const link = page['@odata.nextLink'];
    next = link === undefined ? undefined : hereOf(link);
  }
  return records;
}

/** The part of a whole address that this page asks: the service may know itself by another one than the browser has. */
export function hereOf(address: string): string {
  const { pathname, search } = new URL(address, location.origin);
  return pathname + search;
}
