/** Random native queries, and their expected results. */
import { evaluate } from './evaluate.ts';
import type { Catalogue, Context } from './generate/context.ts';
import { makeFilter } from './generate/native.ts';
import { nativeField } from './generate/native-left.ts';
import { meets } from './native-evaluate.ts';
import type { Joined } from './native-term.ts';
import { fieldName, writeFilter } from './native-text.ts';
import { type Expected, type OrderKey, ranked, seen, VIEWERS } from './query.ts';
import { makeRandom, type Random } from './random.ts';
import { Unsure } from './values.ts';
import type { Entity, Viewer, World } from './world.ts';

export interface NativeQuery {
  readonly viewer: Viewer;
  readonly filter: Joined | undefined;
  readonly order: readonly OrderKey[];
}

const ORDERED = ['string', 'integer', 'decimal', 'date', 'timestamp', 'boolean'] as const;

export function makeNativeQuery(
  seed: number,
  world: World,
  now: number,
  catalogueOf: (viewer: Viewer) => Catalogue,
): NativeQuery {
  const random = makeRandom(seed);
  const viewer = random.pick(VIEWERS);
  const resource = world.dictionary.resources.get('Property');
  if (resource === undefined) throw new Error('no resource Property');
  const rows = seen(world, 'Property', viewer);
  const context: Context = {
    random,
    world,
    viewer,
    now,
    catalogue: catalogueOf(viewer),
    open: [{ kind: 'record', resource, sample: random.among(rows) }],
    self: 0,
    named: new Set(),
  };
  const filter = random.chance(0.97) ? selective(context, rows) : undefined;
  const terms = random.chance(0.3) ? random.between(1, 3) : 0;
  const order = Array.from({ length: terms }, () => ({
    term: nativeField(context, random.pick(ORDERED)),
    descending: random.chance(0.4),
  }));
  return { viewer, filter, order };
}

/** The number of records on which a new filter is tried. */
const TRIED = 24;
/** The number of attempts before a filter is accepted that matches no record or all of them. */
const ATTEMPTS = 4;

/** A filter that some records match and others do not, if one is found soon. */
function selective(context: Context, rows: readonly Entity[]): Joined {
  const { random } = context;
  let made = makeFilter(context);
  for (let attempt = 1; attempt < ATTEMPTS; attempt++) {
    const met = Array.from({ length: TRIED }, () => isMet(made, context, random.among(rows)));
    if (new Set(met).size > 1) return made;
    made = makeFilter(context);
  }
  return made;
}

function isMet(filter: Joined, context: Context, entity: Entity | undefined): boolean {
  try {
    return entity !== undefined && meets(filter, { ...context, scopes: [entity] });
  } catch (error) {
    if (error instanceof Unsure) return false;
    throw error;
  }
}

/** The texts of `_filter` and `_orderby`. */
export function writeNativeQuery({ filter, order }: NativeQuery, random: Random) {
  const terms = order.map(({ term, descending }) => {
    if (term.kind !== 'field') throw new Error('only fields give an order');
    return `${descending ? '-' : random.pick(['', '+'])}${fieldName(term.field, random)}`;
  });
  return { filter: filter === undefined ? '' : writeFilter(filter, random), order: terms.join(',') };
}

export function expectedNative({ viewer, filter, order }: NativeQuery, world: World, now: number): Expected {
  return ranked('Property', viewer, world, order, (entity) => {
    const situation = { world, viewer, now, scopes: [entity] };
    return {
      met: () => filter === undefined || meets(filter, situation),
      value: (term) => evaluate(term, situation),
    };
  });
}
