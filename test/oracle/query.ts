/** What queries of both languages have in common: the viewer, and the matching rows in order. */
import { type Catalogue, makeCatalogue } from './generate/context.ts';
import type { Term } from './term.ts';
import { compareTexts, compareValues, Unsure, type Value } from './values.ts';
import { type Entity, isVisible, type Viewer, type World } from './world.ts';

export interface OrderKey {
  readonly term: Term;
  readonly descending: boolean;
}

export const VIEWERS: readonly Viewer[] = [
  { role: 'private' },
  { role: 'private' },
  { role: 'idx' },
  { role: 'idx', system: 'M00000412' },
];

/** Catalogues are expensive, and depend only on the role. */
export function makeCatalogues(world: World): (viewer: Viewer) => Catalogue {
  const kept = new Map<string, Catalogue>();
  return (viewer) => {
    const known = kept.get(viewer.role) ?? makeCatalogue(world, viewer);
    kept.set(viewer.role, known);
    return known;
  };
}

export const seen = (world: World, resource: string, viewer: Viewer): readonly Entity[] =>
  world.entities(resource).filter((entity) => isVisible(world, entity, viewer));

export interface Expected {
  readonly keys: readonly string[];
  /** Records for which the standard leaves the result open. */
  readonly unsure: ReadonlySet<string>;
  readonly visible: number;
}

/** One record during evaluation. */
interface Evaluation {
  readonly met: () => boolean;
  readonly value: (term: Term) => Value;
}

interface Row {
  readonly key: string;
  readonly values: readonly Value[];
}

/** The keys that match, in order. @throws Unsure if the order itself is left open */
export function ranked(
  resource: string,
  viewer: Viewer,
  world: World,
  order: readonly OrderKey[],
  evaluate: (entity: Entity) => Evaluation,
): Expected {
  const unsure = new Set<string>();
  const rows: Row[] = [];
  const visible = seen(world, resource, viewer);
  for (const entity of visible) {
    const { met, value } = evaluate(entity);
    try {
      if (!met()) continue;
    } catch (error) {
      if (!(error instanceof Unsure)) throw error;
      unsure.add(entity.key);
      continue;
    }
    rows.push({ key: entity.key, values: order.map(({ term }) => value(term)) });
  }
  const keys = rows.toSorted((one, other) => compareRows(one, other, order)).map(({ key }) => key);
  return { keys, unsure, visible: visible.length };
}

/** Null sorts lowest; the key breaks ties. */
function compareRows(one: Row, other: Row, order: readonly OrderKey[]): number {
  for (const [index, { descending }] of order.entries()) {
    const [left, right] = [one.values[index] ?? null, other.values[index] ?? null];
    if (left === right) continue;
    const sign = left === null ? -1 : right === null ? 1 : compareValues(left, right);
    if (sign !== 0) return descending ? -sign : sign;
  }
  return compareTexts(one.key, other.key);
}
