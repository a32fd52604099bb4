/** Random OData queries, and their expected results. */
import { evaluate, truthOf } from './evaluate.ts';
import { makeCondition, makeOrderKey } from './generate/conditions.ts';
import type { Catalogue, Context } from './generate/context.ts';
import { type Writer, writeTerm } from './odata-text.ts';
import { type Expected, type OrderKey, ranked, seen, VIEWERS } from './query.ts';
import { makeRandom, type Random } from './random.ts';
import type { Term } from './term.ts';
import { Unsure } from './values.ts';
import type { Entity, Viewer, World } from './world.ts';

export interface Query {
  readonly resource: string;
  readonly viewer: Viewer;
  readonly filter: Term | undefined;
  readonly order: readonly OrderKey[];
}

/** The number of records on which a new filter is tried. */
const TRIED = 24;
/** The number of attempts before a filter is accepted that matches no record or all of them. */
const ATTEMPTS = 4;

export function makeQuery(
  seed: number,
  world: World,
  now: number,
  catalogueOf: (viewer: Viewer) => Catalogue,
): Query {
  const random = makeRandom(seed);
  const viewer = random.pick(VIEWERS);
  const resource = random.chance(0.8) ? 'Property' : random.pick(['Member', 'Media', 'OpenHouse', 'Office']);
  const rows = seen(world, resource, viewer);
  const sample = random.among(rows);
  const found = world.dictionary.resources.get(resource);
  if (found === undefined) throw new Error(`no resource ${resource}`);
  const context: Context = {
    random,
    world,
    viewer,
    now,
    catalogue: catalogueOf(viewer),
    open: [{ kind: 'record', resource: found, sample }],
    self: 0,
    named: new Set(),
  };
  const make = (): Term => makeCondition(context, random.between(1, 7));
  const filter = random.chance(0.97) ? selective(make, context, rows) : undefined;
  const terms = random.chance(0.35) ? random.between(1, 3) : 0;
  const order = Array.from({ length: terms }, () => ({
    term: makeOrderKey(context, random.between(0, 2)),
    descending: random.chance(0.4),
  }));
  return { resource, viewer, filter, order };
}

/** A condition that some records match and others do not, if one is found soon. */
function selective(make: () => Term, context: Context, rows: readonly Entity[]): Term {
  let made = make();
  for (let attempt = 1; attempt < ATTEMPTS; attempt++) {
    const met = Array.from({ length: TRIED }, () => meets(made, context, context.random.among(rows)));
    if (new Set(met).size > 1) return made;
    made = make();
  }
  return made;
}

function meets(filter: Term, context: Context, entity: Entity | undefined): boolean {
  try {
    return entity !== undefined && truthOf(filter, { ...context, scopes: [entity] }) === true;
  } catch (error) {
    if (error instanceof Unsure) return false;
    throw error;
  }
}

/** The query string: filter, order, and the options that they refer to. */
export function writeQuery({ filter, order }: Query, random: Random): string {
  const writer: Writer = { random, aliases: new Map(), computed: [] };
  const options: [string, string][] = [];
  if (filter !== undefined) options.push(['$filter', writeTerm(filter, writer)]);
  if (order.length > 0) {
    const terms = order.map(
      ({ term, descending }) => writeTerm(term, writer) + (descending ? ' desc' : random.pick(['', ' asc'])),
    );
    options.push(['$orderby', terms.join(',')]);
  }
  if (writer.computed.length > 0) options.push(['$compute', writer.computed.join(',')]);
  options.push(...writer.aliases);
  const dollar = (name: string): string => (random.chance(0.1) ? name.replace('$', '') : name);
  return options.map(([name, text]) => `${dollar(name)}=${encoded(text, random)}`).join('&');
}

function encoded(text: string, random: Random): string {
  const plain = encodeURIComponent(text);
  return random.chance(0.2) ? plain.replaceAll('%20', '+') : plain;
}

export function expected({ resource, viewer, filter, order }: Query, world: World, now: number): Expected {
  return ranked(resource, viewer, world, order, (entity) => {
    const situation = { world, viewer, now, scopes: [entity] };
    return {
      met: () => filter === undefined || truthOf(filter, situation) === true,
      value: (term) => evaluate(term, situation),
    };
  });
}
