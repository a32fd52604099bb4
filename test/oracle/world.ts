/** Records as plain objects, and what a role sees of them, derived from the specification and not from the service. */
import type {
  Dictionary,
  Field,
  FieldValue,
  FieldValues,
  Navigation,
  Resource,
} from '../../src/dictionary/index.ts';
import type { Type, Value } from './values.ts';

export interface Entity {
  readonly resource: Resource;
  readonly key: string;
  readonly values: FieldValues;
}

export type RoleName = 'private' | 'idx';

/** The viewer of records. */
export interface Viewer {
  readonly role: RoleName;
  /** The originating system to which the viewer is restricted. */
  readonly system?: string;
}

export interface World {
  readonly dictionary: Dictionary;
  /** The UTC day for which the roles are evaluated. */
  readonly today: string;
  entities(resource: string): readonly Entity[];
  find(resource: string, field: string, value: string): Entity | undefined;
  /** The records that a to-many navigation leads to, visible or not. */
  related(entity: Entity, navigation: Navigation): readonly Entity[];
}

/** @param records by resource; each refers to its parent by key */
export function makeWorld(
  dictionary: Dictionary,
  today: string,
  records: ReadonlyMap<string, readonly FieldValues[]>,
): World {
  const all = new Map<string, readonly Entity[]>();
  for (const [name, list] of records) {
    const resource = dictionary.resources.get(name);
    if (resource === undefined) throw new Error(`no resource ${name}`);
    const entities = list.map((values) => ({ resource, key: String(values[resource.key]), values }));
    all.set(name, entities);
  }
  const indexes = new Map<string, Map<FieldValue | undefined, Entity[]>>();
  const index = (resource: string, field: string) => {
    const name = `${resource}.${field}`;
    const made = indexes.get(name) ?? Map.groupBy(all.get(resource) ?? [], ({ values }) => values[field]);
    indexes.set(name, made);
    return made;
  };
  return {
    dictionary,
    today,
    entities: (resource) => all.get(resource) ?? [],
    find: (resource, field, value) => index(resource, field).get(value)?.[0],
    related: (entity, { target, remote }) =>
      (index(target, remote).get(entity.key) ?? []).filter((other) => isPartOf(other, entity)),
  };
}

/** Whether a child belongs to a record. Media and similar records name the resource of their parent. */
function isPartOf(child: Entity, { resource }: Entity): boolean {
  const { parent } = child.resource;
  return parent?.kind !== 'named' || child.values[parent.resourceField] === resource.name;
}

const ON_MARKET = ['Active', 'Active Under Contract', 'Pending', 'Coming Soon'];

/** The lookup value that a text in any spelling stands for. */
export function standardValue(dictionary: Dictionary, lookup: string | undefined, text: string): string {
  return (lookup === undefined ? undefined : dictionary.lookups.get(lookup)?.spellings.get(text)) ?? text;
}

function yearsBefore(day: string, years: number): string {
  return `${String(Number(day.slice(0, 4)) - years).padStart(4, '0')}${day.slice(4)}`;
}

/** Whether IDX may display a row (contract, "Access"). */
function isDisplayed({ dictionary, today }: World, { values }: Entity): boolean {
  if (values.InternetEntireListingDisplayYN === false) return false;
  const { StandardStatus: given, CloseDate: closed } = values;
  const status = typeof given === 'string' ? standardValue(dictionary, 'StandardStatus', given) : '';
  if (ON_MARKET.includes(status)) return true;
  return status === 'Closed' && typeof closed === 'string' && closed >= yearsBefore(today, 3);
}

function isPermitted({ values }: Entity): boolean {
  const given = values.Permission;
  const names = Array.isArray(given) ? given : [];
  return names.length === 0 || names.some((name) => ['Public', 'IDX', 'Idx'].includes(name));
}

function parentOf(world: World, { resource, values }: Entity): Entity | undefined {
  const { parent } = resource;
  if (parent === undefined) return undefined;
  const name = parent.kind === 'fixed' ? parent.resource : values[parent.resourceField];
  const key = values[parent.keyField];
  const found = typeof name === 'string' ? world.dictionary.resources.get(name) : undefined;
  return found && typeof key === 'string' ? world.find(found.name, found.key, key) : undefined;
}

const isActive = (status: FieldValue | undefined): boolean =>
  status === undefined || status === null || status === 'Active';

/** Whether the record exists for the viewer. A child is visible only with its parent. */
export function isVisible(world: World, entity: Entity, viewer: Viewer): boolean {
  const { resource, values } = entity;
  if (resource.parent !== undefined) {
    const parent = parentOf(world, entity);
    if (parent === undefined || !isVisible(world, parent, viewer)) return false;
  } else if (viewer.system !== undefined && resource.fields.has('OriginatingSystemID')) {
    if (values.OriginatingSystemID !== viewer.system) return false;
  }
  if (viewer.role === 'private') return true;
  switch (resource.name) {
    case 'Property':
      return isDisplayed(world, entity);
    case 'Media':
      return isPermitted(entity);
    case 'Member':
      return isActive(values.MemberStatus);
    case 'Office':
      return isActive(values.OfficeStatus);
    default:
      return true;
  }
}

const IDX_CLASSES = new Set(['open', 'idx', 'address']);

/** Whether the viewer may name the field. */
export const maySee = (field: Field, { role }: Viewer): boolean =>
  role === 'private' || IDX_CLASSES.has(field.class);

const isWithheld = ({ resource, values }: Entity, field: Field, { role }: Viewer): boolean =>
  role !== 'private' &&
  resource.name === 'Property' &&
  values.InternetAddressDisplayYN === false &&
  (field.class === 'address' || field.class === 'address-facts');

/** The value of a field for the viewer. Agent and office fields come from the record to which the key refers. */
function contentOf(world: World, entity: Entity, field: Field, viewer: Viewer): FieldValue {
  if (isWithheld(entity, field, viewer)) return null;
  const { joined } = field;
  if (joined === undefined) return entity.values[field.name] ?? null;
  const key = entity.values[joined.link];
  const target = world.dictionary.resources.get(joined.resource);
  if (typeof key !== 'string' || target === undefined) return null;
  return world.find(target.name, target.key, key)?.values[joined.field] ?? null;
}

export function fieldValues(world: World, entity: Entity, field: Field, viewer: Viewer): readonly string[] {
  const content = contentOf(world, entity, field, viewer);
  return Array.isArray(content) ? content : [];
}

export function fieldValue(world: World, entity: Entity, field: Field, viewer: Viewer): Value {
  const content = contentOf(world, entity, field, viewer);
  if (content === null) return null;
  if (typeof content === 'boolean' || typeof content === 'number') return content;
  if (typeof content !== 'string') throw new Error(`${field.name} has several values`);
  switch (field.type.kind) {
    case 'date':
      return Date.parse(`${content}T00:00:00Z`);
    case 'timestamp':
      return Date.parse(content);
    default:
      return content;
  }
}

export const typeOfField = ({ type }: Field): Type =>
  type.kind === 'decimal' && type.scale === 0 ? 'integer' : type.kind;

/** Follows to-one navigations; undefined if a record is missing or hidden. */
export function follow(
  world: World,
  entity: Entity,
  via: readonly Navigation[],
  viewer: Viewer,
): Entity | undefined {
  let at = entity;
  for (const { local, target, remote } of via) {
    const key = at.values[local];
    const found = typeof key === 'string' ? world.find(target, remote, key) : undefined;
    if (found === undefined || !isVisible(world, found, viewer)) return undefined;
    at = found;
  }
  return at;
}

/** The visible records that a to-many navigation leads to. */
export const membersOf = (
  world: World,
  entity: Entity,
  navigation: Navigation,
  viewer: Viewer,
): readonly Entity[] => world.related(entity, navigation).filter((other) => isVisible(world, other, viewer));
