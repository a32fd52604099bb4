/**
 * Roles as an operator defines them (docs/roles.md), and the built-in ones. Row filters are OData filters over the dictionary, so
 * that a role reads like a query; rules.ts parses them. This module knows nothing about keys or stores.
 */
import { PARTS_OF_LISTINGS } from '../dictionary/index.ts';

export interface RoleDefinition {
  readonly name: string;
  /** The visibility classes whose fields the role sees; `open` is always among them. */
  readonly classes: 'all' | readonly string[];
  /** True for a role that also sees what a seller withholds from the public. */
  readonly seesWithheld?: boolean;
  /**
   * The resources the role may read, each with a row filter (`''` for every row). A child is visible only with
   * its parent, whatever its own filter says. `'all'`: every resource, every row.
   */
  readonly resources: 'all' | Readonly<Record<string, string>>;
}

/** Classes whose fields read as null in the rows where the filter does not hold. */
export interface WithheldDefinition {
  readonly resource: string;
  readonly classes: readonly string[];
  readonly shownWhen: string;
}

export interface AccessDefinition {
  readonly roles: readonly RoleDefinition[];
  readonly withheld: readonly WithheldDefinition[];
}

// Day terms

const TERM = /\{today(?: - (\d{1,4}) (day|month|year)s?)?\}/g;

/** Whether the result of a row filter depends on the current day. */
export function dependsOnDay(filter: string): boolean {
  return filter.includes('{today');
}

/**
 * Replaces `{today}` and `{today - 3 years}` (days, months, years) in a row filter by dates. If the month has no such day, its last
 * day is used.
 *
 * @param today the UTC day, `YYYY-MM-DD`
 */
export function resolveDayTerms(filter: string, today: string): string {
  return filter.replace(TERM, (_, amount: string | undefined, unit: string | undefined) => {
    const [year = 0, month = 1, day = 1] = today.split('-').map(Number);
    const back = Number(amount ?? 0);
    if (unit === 'day' || unit === undefined) return isoDay(Date.UTC(year, month - 1, day - back));
    const months = unit === 'year' ? back * 12 : back;
    const lastOfMonth = new Date(Date.UTC(year, month - months, 0)).getUTCDate();
    return isoDay(Date.UTC(year, month - 1 - months, Math.min(day, lastOfMonth)));
  });
}

const isoDay = (milliseconds: number): string => new Date(milliseconds).toISOString().slice(0, 10);

// The built-in roles

const ON_DISPLAY = 'InternetEntireListingDisplayYN ne false';
const ON_MARKET = "StandardStatus in ('Active','Active Under Contract','Pending','Coming Soon')";
const RECENTLY_SOLD = "(StandardStatus eq 'Closed' and CloseDate ge {today - 3 years})";
const EVER_ON_MARKET =
  "StandardStatus in ('Active','Active Under Contract','Pending','Coming Soon','Closed','Hold')";
const NOT_DRAFT = "not (StandardStatus in ('Incomplete','Delete'))";

/**
 * Media without a Permission are visible to everyone who sees the parent; otherwise, one of the permissions must be the role or
 * Public.
 */
const permissionFilter = (...names: readonly string[]): string =>
  `not Permission/any() or Permission/any(p: p in (${['Public', ...names].map((name) => `'${name}'`).join(',')}))`;

/** The resources of a published feed, for every role except `private`. */
function publishedResources(
  listings: string,
  permissions: readonly string[],
  people: string,
): Record<string, string> {
  const active = (field: string): string =>
    people === '' ? '' : `${field} eq null or ${field} eq '${people}'`;
  return {
    Property: listings,
    Media: permissionFilter(...permissions),
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

/**
 * The built-in roles; an operator may redefine them or add others. A role's index is its bit in the stored visibility, so new roles
 * must be appended.
 */
const ROLES: readonly RoleDefinition[] = [
  { name: 'private', classes: 'all', seesWithheld: true, resources: 'all' },
  {
    name: 'idx',
    classes: ['idx', 'address'],
    resources: publishedResources(`(${ON_MARKET} or ${RECENTLY_SOLD}) and ${ON_DISPLAY}`, ['IDX'], 'Active'),
  },
  {
    name: 'vow',
    classes: ['idx', 'address', 'facts', 'address-facts', 'history'],
    resources: publishedResources(`${NOT_DRAFT} and ${ON_DISPLAY}`, ['VOW'], ''),
  },
  {
    name: 'public',
    classes: ['idx', 'address', 'facts', 'address-facts'],
    resources: publishedResources(`(${ON_MARKET} or ${RECENTLY_SOLD}) and ${ON_DISPLAY}`, [], 'Active'),
  },
  {
    name: 'portal',
    classes: ['idx', 'address', 'facts', 'address-facts', 'history'],
    resources: publishedResources(`${EVER_ON_MARKET} and ${ON_DISPLAY}`, ['Portal'], 'Active'),
  },
];

export const BUILT_IN_ACCESS: AccessDefinition = {
  roles: ROLES,
  withheld: [
    {
      resource: 'Property',
      classes: ['address', 'address-facts'],
      shownWhen: 'InternetAddressDisplayYN ne false',
    },
  ],
};
