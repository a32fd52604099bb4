/** The paths under which an operator uses the interfaces as another role or key, and their descriptions. */
import { FACET_OPTIONS } from '../console/facet-wish.ts';
import type { DescribedRoute } from './admin-route.ts';

/** The role or key: the paths before those of a surface. */
const EYES = [
  ['/as/role/{role}/{surface}', 'a key of this role'],
  ['/as/key/{id}/{surface}', 'this key'],
] as const;

/**
 * The interfaces as another role or key. `see-as.ts` redirects them to their surface before a path is looked up here.
 */
export const SEEN_ROUTES: readonly DescribedRoute[] = EYES.flatMap(([root, who]): DescribedRoute[] => [
  {
    path: `${root}/{path}`,
    method: 'GET',
    gives: `what the surface (api, replication or floorplans) answers to ${who} at any path of its own description, such as Reso/OData/Property`,
    type: '*/*',
    isOpen: false,
  },
  {
    path: `${root}/facets/{resource}`,
    method: 'GET',
    gives: `the values of fields with the numbers of records that ${who} sees, of a resource of the RESO interface`,
    type: 'application/json',
    query: { ...FACET_OPTIONS, $filter: 'A condition of the RESO interface.', $search: 'Words to look for.' },
    isOpen: false,
  },
  {
    path: `${root}/facets/v1/{collection}`,
    method: 'GET',
    gives: `the same of listings, openhouses or accounts of the native interface, in its names`,
    type: 'application/json',
    query: { ...FACET_OPTIONS, _filter: 'A condition of the native interface.' },
    isOpen: false,
  },
]);
