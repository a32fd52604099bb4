/** What a generator knows at a position in an expression: the viewer, the names in scope, and a sample record to match. */
import type { Field, Navigation, Resource } from '../../../src/dictionary/index.ts';
import { evaluate, type Member } from '../evaluate.ts';
import type { Random } from '../random.ts';
import type { ElementTerm, FieldTerm, Scope, Term } from '../term.ts';
import { type Type, Unsure, type Value } from '../values.ts';
import {
  type Entity,
  fieldValue,
  fieldValues,
  maySee,
  typeOfField,
  type Viewer,
  type World,
} from '../world.ts';

/** A record or value in scope, with a sample that literals should match. */
export type Open =
  | { readonly kind: 'record'; readonly resource: Resource; readonly sample: Entity | undefined }
  | { readonly kind: 'value'; readonly field: Field; readonly sample: string | undefined };

export interface Context {
  readonly random: Random;
  readonly world: World;
  readonly viewer: Viewer;
  readonly now: number;
  readonly catalogue: Catalogue;
  readonly open: readonly Open[];
  /** The scope of unprefixed names. */
  readonly self: Scope;
  /** Scopes that have a variable. */
  readonly named: ReadonlySet<Scope>;
}

/** The fields with values, and others, for one viewer. */
export interface Catalogue {
  singles(
    resource: Resource,
    type: Type,
  ): { readonly used: readonly Field[]; readonly all: readonly Field[] };
  lists(resource: Resource): readonly Field[];
  /** Values that occur in records. */
  stored(type: Type): readonly Value[];
}

/** The number of records of a resource that are examined to find the fields in use. */
const LOOKED_AT = 150;

export function makeCatalogue(world: World, viewer: Viewer): Catalogue {
  const kept = new Map<string, { used: Field[]; all: Field[] }>();
  const stored = new Map<Type, Value[]>();
  const lists = new Map<string, Field[]>();
  for (const resource of world.dictionary.resources.values()) {
    const entities = world.entities(resource.name).slice(-LOOKED_AT);
    if (entities.length === 0) continue;
    for (const field of resource.fields.values()) {
      if (!maySee(field, viewer)) continue;
      if (field.collection) {
        const used = entities.some((entity) => fieldValues(world, entity, field, viewer).length > 0);
        if (used) lists.set(resource.name, [...(lists.get(resource.name) ?? []), field]);
        continue;
      }
      const type = typeOfField(field);
      const name = `${resource.name} ${type}`;
      const fields = kept.get(name) ?? { used: [], all: [] };
      kept.set(name, fields);
      fields.all.push(field);
      const values = entities.map((entity) => fieldValue(world, entity, field, viewer));
      const some = values.filter((value) => value !== null).slice(-12);
      if (some.length > 0) fields.used.push(field);
      stored.set(type, [...(stored.get(type) ?? []), ...some]);
    }
  }
  const none = { used: [], all: [] };
  return {
    singles: (resource, type) => kept.get(`${resource.name} ${type}`) ?? none,
    lists: (resource) => lists.get(resource.name) ?? [],
    stored: (type) => stored.get(type) ?? [],
  };
}

/** The value of a term for the sample records; undefined if it cannot be determined. */
export function aimed(context: Context, term: Term): Value | undefined {
  const scopes: Member[] = [];
  for (const { sample } of context.open) {
    if (sample === undefined) return undefined;
    scopes.push(sample);
  }
  try {
    return evaluate(term, { ...context, scopes });
  } catch (error) {
    if (error instanceof Unsure) return undefined;
    throw error;
  }
}

const isReachable = ({ self, named }: Context, scope: Scope): boolean =>
  scope === 0 || scope === self || named.has(scope);

/** A scope of a kind that can be named here, usually the innermost. */
export function chooseScope<Kind extends Open['kind']>(
  context: Context,
  kind: Kind,
): { readonly scope: Scope; readonly open: Extract<Open, { kind: Kind }> } | undefined {
  const found: { scope: Scope; open: Extract<Open, { kind: Kind }> }[] = [];
  for (const [scope, open] of context.open.entries()) {
    if (isOf(open, kind) && isReachable(context, scope)) found.push({ scope, open });
  }
  return context.random.chance(0.75) ? found.at(-1) : context.random.among(found);
}

const isOf = <Kind extends Open['kind']>(open: Open, kind: Kind): open is Extract<Open, { kind: Kind }> =>
  open.kind === kind;

/** Resources of which the market has records. */
const TARGETS = new Set([
  'Property',
  'Member',
  'Office',
  'Media',
  'PropertyRooms',
  'PropertyUnitTypes',
  'OpenHouse',
]);

export interface Way {
  readonly scope: Scope;
  readonly via: readonly Navigation[];
  readonly resource: Resource;
}

/** A record that can be named, often one that to-one navigations lead to. */
export function chooseWay(context: Context, stay = 0.75): Way | undefined {
  const { random, world } = context;
  const start = chooseScope(context, 'record');
  if (start === undefined) return undefined;
  const via: Navigation[] = [];
  let { resource } = start.open;
  while (via.length < 3 && !random.chance(stay)) {
    const next = random.among([...resource.navigations.values()].filter(isToOne));
    const target = next && world.dictionary.resources.get(next.target);
    if (next === undefined || target === undefined) break;
    via.push(next);
    resource = target;
  }
  return { scope: start.scope, via, resource };
}

const isToOne = ({ collection, target }: Navigation): boolean => !collection && TARGETS.has(target);

export const toMany = (resource: Resource): readonly Navigation[] =>
  [...resource.navigations.values()].filter(({ collection, target }) => collection && TARGETS.has(target));

/** A field of a type, usually one with values; undefined if no record in scope has one. */
export function chooseField(context: Context, type: Type): FieldTerm | undefined {
  const { random, catalogue } = context;
  for (let attempt = 0; attempt < 3; attempt++) {
    const way = chooseWay(context);
    if (way === undefined) return undefined;
    const { used, all } = catalogue.singles(way.resource, type);
    const field = random.among(used.length > 0 && random.chance(0.93) ? used : all);
    if (field !== undefined) return { kind: 'field', type, scope: way.scope, via: way.via, field };
  }
  return undefined;
}

/** The variable of a lambda over a multi-valued field. */
export function chooseElement(context: Context): ElementTerm | undefined {
  const found = chooseScope(context, 'value');
  if (found === undefined) return undefined;
  const { field } = found.open;
  return { kind: 'element', type: typeOfField(field), scope: found.scope, lookup: field.lookup };
}
