/** Complete collections of the RESO interface. */
import { get } from '../app/api.ts';

interface PageOf<T> {
  readonly value: readonly T[];
  readonly '@odata.nextLink'?: string;
}

/** All records of a collection, page by page. @param path on the admin port */
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

/** The path and query of an absolute address: the service may use another host name than the browser does. */
export function hereOf(address: string): string {
  const { pathname, search } = new URL(address, location.origin);
  return pathname + search;
}
