/**
 * One record as each role sees it: the fields that it may not see, and the values that are withheld from it. This module must not
 * know how they are displayed.
 */
import { ask, get, pathSeenBy, Refused } from '../../app/api.ts';
import type { ClassedResource, RolesInForce, SeenRole } from '../../parts/roles-in-force.ts';
import { isEmpty } from '../../parts/words.ts';
import { viewerOf } from './row-matrix.tsx';

type Values = Readonly<Record<string, unknown>>;

/** A field of the record, as one role sees it. */
export type Seen =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'empty' }
  /** The record has a value that the seller withholds from the public. */
  | { readonly kind: 'withheld' }
  /** The role may not see the field. */
  | { readonly kind: 'hidden' };

interface SeenField {
  readonly name: string;
  readonly class: string;
  /** In the order of the roles that see the record. */
  readonly seen: readonly Seen[];
  /** Whether all of these roles see the same. */
  readonly isSame: boolean;
}

export interface SeenRecord {
  /** The roles that see it. */
  readonly roles: readonly SeenRole[];
  readonly blind: readonly SeenRole[];
  readonly fields: readonly SeenField[];
}

/** A text as a key in a URL of OData. */
const quoted = (text: string): string => encodeURIComponent(`'${text.replaceAll("'", "''")}'`);

/** @throws Refused for any error other than that a role does not see the record */
export async function seenRecord(
  { roles, classes, withheld }: RolesInForce,
  resource: ClassedResource,
  key: string,
): Promise<SeenRecord> {
  const records = await Promise.all(
    roles.map(async (role) => ({ role, record: await recordFor(role, resource.name, key) })),
  );
  const seeing = records.flatMap(({ role, record }) => (record === undefined ? [] : [{ role, record }]));
  const rules = withheld.filter((rule) => rule.resource === resource.name);
  const fields = classes.flatMap((kind) =>
    (resource.fields[kind] ?? []).map((name): SeenField => {
      const isKept = rules.some((rule) => rule.classes.includes(kind));
      const hasValue = seeing.some(({ record }) => !isEmpty(record[name]));
      const seen = seeing.map(({ role, record }): Seen => {
        if (!role.classes.includes(kind)) return { kind: 'hidden' };
        if (!isEmpty(record[name])) return { kind: 'value', value: record[name] };
        return isKept && hasValue && !role.seesWithheld ? { kind: 'withheld' } : { kind: 'empty' };
      });
      const isSame = !hasValue || new Set(seen.map((each) => JSON.stringify(each))).size <= 1;
      return { name, class: kind, seen, isSame };
    }),
  );
  return {
    roles: seeing.map(({ role }) => role),
    blind: records.flatMap(({ role, record }) => (record === undefined ? [role] : [])),
    fields,
  };
}

async function recordFor(role: SeenRole, resource: string, key: string): Promise<Values | undefined> {
  if (role.rows[resource] === undefined) return undefined;
  try {
    return await get<Values>(
      pathSeenBy(viewerOf(role.name), 'api', `/Reso/OData/${resource}(${quoted(key)})`),
    );
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return undefined;
    throw error;
  }
}

/** Which record to choose as an example: any, or one of which something is withheld. */
export type Example = 'any' | 'withheld';

/** The key of an example, chosen by the role that sees most; undefined: there is none. */
export async function exampleOf(
  { roles, withheld }: RolesInForce,
  { name, key }: ClassedResource,
  which: Example,
): Promise<string | undefined> {
  const reader = roles.find((role) => role.seesWithheld && role.rows[name] !== undefined) ?? roles[0];
  const rule = withheld.find(({ resource }) => resource === name);
  if (reader === undefined || (which === 'withheld' && rule === undefined)) return undefined;
  const from = (path: string): string =>
    pathSeenBy(viewerOf(reader.name), 'api', `/Reso/OData/${name}${path}`);
  const filter = which === 'withheld' ? `&$filter=${encodeURIComponent(`not (${rule?.shownWhen})`)}` : '';
  const skip = which === 'withheld' ? 0 : await placeOf(from('/$count'));
  const { value } = await get<{ readonly value: readonly Values[] }>(
    from(`?$top=1&$skip=${skip}&$select=${key}${filter}`),
  );
  const found = value[0]?.[key];
  return typeof found === 'string' ? found : undefined;
}

/** The number of records among which one is chosen; a larger offset would take longer. */
const AMONG = 1000;

async function placeOf(path: string): Promise<number> {
  const { body } = await ask(path, { headers: { accept: 'text/plain' } });
  return Math.floor(Math.random() * Math.min(AMONG, Number(body)));
}
