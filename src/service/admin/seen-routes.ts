/** The paths under which an operator sees the interfaces through another's eyes, as they are described. */
import { FACET_OPTIONS } from '../console/facet-wish.ts';
import type { DescribedRoute } from './admin-route.ts';

/** Whose eyes: the paths before those of a surface. */
const EYES = [
  ['/as/role/{role}/{surface}', 'a key of this role'],
  ['/as/key/{id}/{surface}', 'this key'],
] as const;

/** The interfaces through another's eyes. `see-as.ts` leads them to their surface before a path is looked for here. */
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
