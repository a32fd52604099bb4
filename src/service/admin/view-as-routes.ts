/** The paths under which an operator uses the interfaces as another role or key, and their descriptions. */
import { FACET_OPTIONS } from '../console/facet-request.ts';
import type { DescribedRoute } from './admin-route.ts';

/** The prefixes of paths that select the role or the key. */
const VIEWERS = [
  ['/as/role/{role}/{surface}', 'a key of this role'],
  ['/as/key/{id}/{surface}', 'this key'],
] as const;

/** The interfaces as another role or key. `view-as.ts` redirects them to their surface before a path is looked up here. */
export const VIEW_AS_ROUTES: readonly DescribedRoute[] = VIEWERS.flatMap(([root, who]): DescribedRoute[] => [
  {
    path: `${root}/{path}`,
    method: 'GET',
    summary: `Send a request to a surface (api, replication or floorplans) as ${who}; the path is one of its own description, such as Reso/OData/Property`,
    type: '*/*',
  },
  {
    path: `${root}/facets/{resource}`,
    method: 'GET',
    summary: `Count the records that ${who} sees by the values of fields, for a resource of the RESO interface`,
    query: {
      ...FACET_OPTIONS,
      $filter: 'A condition of the RESO interface.',
      $search: 'The words to search for.',
    },
  },
  {
    path: `${root}/facets/v1/{collection}`,
    method: 'GET',
    summary: `Count the records that ${who} sees by the values of fields, for listings, openhouses or accounts of the native interface`,
    query: { ...FACET_OPTIONS, _filter: 'A condition of the native interface.' },
  },
]);
