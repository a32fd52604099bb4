/**
 * The state of the page: interface, role or key, resource, and query. All of it is in the address. This module must not know how
 * requests are sent.
 */
import type { SurfaceName, Viewer } from '../../app/api.ts';

export type InterfaceName = 'reso' | 'native' | 'floorplans';

export interface View {
  readonly interface: InterfaceName;
  /** Replication keys use another surface than api keys. */
  readonly surface: SurfaceName;
  readonly resource: string;
  readonly as: Viewer;
  readonly filter: string;
  /** Names of fields; empty: the default columns; `*`: all. */
  readonly select: string;
  /** In the syntax of the interface: `ListPrice desc,City`, or `-ListPrice,+City`. */
  readonly order: string;
  readonly expand: string;
  readonly shows: 'table' | 'json' | 'map';
}

export const INTERFACES: readonly { readonly name: InterfaceName; readonly title: string }[] = [
  { name: 'reso', title: 'RESO Web API' },
  { name: 'native', title: 'Native (v1)' },
  { name: 'floorplans', title: 'Floor plans' },
];

/** The default resource of each interface. */
const FIRST: Readonly<Record<InterfaceName, string>> = {
  reso: 'Property',
  native: 'listings',
  floorplans: 'Media',
};

export interface ListedKey {
  readonly id: string;
  readonly name: string;
  readonly kind: 'api' | 'replication' | 'floorplans' | 'admin';
  readonly role: string;
  readonly revokedAt: string | null;
}

/**
 * The view that the address describes.
 *
 * @param as the role or key that the address names
 * @param keys undefined: not known yet
 */
export function viewOf(query: URLSearchParams, as: Viewer, keys: readonly ListedKey[] | undefined): View {
  const given = (name: string): string => query.get(name) ?? '';
  const name = INTERFACES.find((each) => each.name === given('interface'))?.name ?? 'reso';
  const kind = keys?.find(({ id }) => as === `key/${id}`)?.kind;
  const shows = given('view');
  return {
    interface: name,
    surface: name === 'floorplans' ? 'floorplans' : kind === 'replication' ? 'replication' : 'api',
    resource: given('resource') || FIRST[name],
    as,
    filter: given('filter').trim(),
    select: given('select'),
    order: given('order'),
    expand: given('expand'),
    shows: shows === 'json' || shows === 'map' ? shows : 'table',
  };
}

/** The names in a list with commas; `"Group"."Field"` may contain commas itself. */
export const namesIn = (text: string): readonly string[] =>
  (text.match(/(?:"[^"]*"|[^",])+/g) ?? []).map((name) => name.trim()).filter((name) => name !== '');
