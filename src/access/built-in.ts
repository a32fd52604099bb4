import { PARTS_OF_LISTINGS } from '../dictionary/index.ts';
import type { AccessDefinition, RoleDefinition } from './definition.ts';

const ON_DISPLAY = 'InternetEntireListingDisplayYN ne false';
const ON_MARKET = "StandardStatus in ('Active','Active Under Contract','Pending','Coming Soon')";
const SOLD_LATELY = "(StandardStatus eq 'Closed' and CloseDate ge {today - 3 years})";
const EVER_ON_MARKET =
  "StandardStatus in ('Active','Active Under Contract','Pending','Coming Soon','Closed','Hold')";
const NOT_DRAFT = "not (StandardStatus in ('Incomplete','Delete'))";

/** Media without permission are for all who see the parent; else the permission must name the role or the public. */
const permits = (...names: readonly string[]): string =>
  `not Permission/any() or Permission/any(p: p in (${['Public', ...names].map((name) => `'${name}'`).join(',')}))`;

/** The resources of a published feed, for roles that are less than private. */
function published(listings: string, permissions: readonly string[], people: string): Record<string, string> {
  const active = (field: string): string =>
    people === '' ? '' : `${field} eq null or ${field} eq '${people}'`;
  return {
    Property: listings,
    Media: permits(...permissions),
    ...Object.fromEntries([...PARTS_OF_LISTINGS].map((resource) => [resource, ''])),
    SocialMedia: '',
    Member: active('MemberStatus'),
    Office: active('OfficeStatus'),
    Teams: '',
    TeamMembers: '',
    OUID: '',
    Lookup: '',
    Field: '',
  };
}

const PRIVATE: RoleDefinition = { name: 'private', classes: 'all', seesWithheld: true, resources: 'all' };

const IDX: RoleDefinition = {
  name: 'idx',
  classes: ['idx', 'address'],
  resources: published(`(${ON_MARKET} or ${SOLD_LATELY}) and ${ON_DISPLAY}`, ['IDX'], 'Active'),
};

const PUBLIC: RoleDefinition = {
  name: 'public',
  classes: ['idx', 'address', 'facts', 'address-facts'],
  resources: published(`(${ON_MARKET} or ${SOLD_LATELY}) and ${ON_DISPLAY}`, [], 'Active'),
};

const PORTAL: RoleDefinition = {
  name: 'portal',
  classes: ['idx', 'address', 'facts', 'address-facts', 'history'],
  resources: published(`${EVER_ON_MARKET} and ${ON_DISPLAY}`, ['Portal'], 'Active'),
};

const VOW: RoleDefinition = {
  name: 'vow',
  classes: ['idx', 'address', 'facts', 'address-facts', 'history'],
  resources: published(`${NOT_DRAFT} and ${ON_DISPLAY}`, ['VOW'], ''),
};

/** The roles that every store knows; an operator may redefine them or add others. */
export const BUILT_IN_ACCESS: AccessDefinition = {
  roles: [PRIVATE, IDX, VOW, PUBLIC, PORTAL],
  withheld: [
    {
      resource: 'Property',
      classes: ['address', 'address-facts'],
      shownWhen: 'InternetAddressDisplayYN ne false',
    },
  ],
};
