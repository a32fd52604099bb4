/** The surfaces of the service: who may use each, the paths of its interfaces, and its paging (contract, Surfaces). */
import type { KeyKind } from '../access/index.ts';

/** The surfaces for clients, which may share an address. */
export const PUBLIC_SURFACES = ['api', 'replication', 'floorplans'] as const;
/** All surfaces. Each has its own listener, or its own host name on a shared listener. */
export const SURFACES = [...PUBLIC_SURFACES, 'admin'] as const;
export type SurfaceName = (typeof SURFACES)[number];

export interface Surface {
  readonly name: SurfaceName;
  /** For people. */
  readonly title: string;
  readonly keyKind: KeyKind;
  /** Path of the RESO service root, with slashes on both sides. */
  readonly resoRoot?: string;
  readonly nativeRoot?: string;
  readonly paging: Paging;
}

/** The number of rows of a page, and the meaning of `$top`. */
export interface Paging {
  /** `page`: `$top` is the page size (specification 4.2). `total`: it is the number of rows over all pages. */
  readonly top: 'page' | 'total';
  readonly defaultSize: number;
  readonly largestSize: number;
  /** `_limit` of listings and accounts, and of other resources. */
  readonly nativeLimit: { readonly most: number; readonly others: number; readonly default: number };
}

const LARGEST_PAGE = 1000;

const REGULAR: Paging = {
  top: 'total',
  defaultSize: 200,
  largestSize: LARGEST_PAGE,
  nativeLimit: { most: 25, others: 25, default: 10 },
};

const INTERFACES = { resoRoot: '/Reso/OData/', nativeRoot: '/v1/' } as const;

export const SURFACE: Readonly<Record<SurfaceName, Surface>> = {
  api: { name: 'api', title: 'plat: Listings', keyKind: 'api', ...INTERFACES, paging: REGULAR },
  replication: {
    name: 'replication',
    title: 'plat: Listings, for replicas',
    keyKind: 'replication',
    ...INTERFACES,
    paging: {
      top: 'page',
      defaultSize: LARGEST_PAGE,
      largestSize: LARGEST_PAGE,
      nativeLimit: { most: LARGEST_PAGE, others: 200, default: 10 },
    },
  },
  floorplans: {
    ...{ name: 'floorplans', title: 'plat: Floor plans', keyKind: 'floorplans', resoRoot: '/Reso/' },
    paging: REGULAR,
  },
  admin: { name: 'admin', title: 'plat: Administration', keyKind: 'admin', paging: REGULAR },
};
