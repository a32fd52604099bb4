/**
 * Caches plans that are composed once and serve many requests: the SQL of a whole record is several thousand characters, and
 * composing it takes longer than the engine needs to read the record (docs/performance.md). It knows nothing about statements; the
 * caller that caches a plan names everything on which its text depends.
 */
import { BoundedCache } from '../shared/bounded-cache.ts';
import { objectId } from '../shared/memoize.ts';
import type { Planner } from './context.ts';
import type { BoundValue, Slot, Statement } from './fragment.ts';
import { isVisibilityCurrent } from './model.ts';
import type { RecordQuery, Shape } from './read.ts';
import { isWhole } from './text/reso-text.ts';

/** The limit in bytes for the cached plans of one kind. */
const CACHE_BOUNDS = { bytes: 3 * 1024 * 1024 };

/**
 * The name of a statement that reads whole records only by their keys: everything on which its text depends. Undefined for a
 * statement that depends on more, such as the time of the request, the URL of a file, or damage.
 */
export function planCacheKey(
  { dialect, model, damaged }: Planner,
  query: RecordQuery,
  shape: Shape,
): string | undefined {
  const { resource, view } = query;
  const form = isPlainRead({ model, damaged }, query) ? shapeKey(shape) : undefined;
  if (form === undefined) return undefined;
  return `${objectId(dialect)} ${objectId(model.layout(resource.name))} ${objectId(view)} ${form}`;
}

/** What `isPlainRead` depends on. */
export type PlainReadSource = Pick<Planner, 'model' | 'damaged'>;

/** Whether nothing but the view and the shape affects how rows are read: no damage, parent, or day with other visibility. */
export const isPlainRead = (
  { model, damaged }: PlainReadSource,
  { resource, under }: Pick<RecordQuery, 'resource' | 'under'>,
): boolean =>
  damaged === undefined &&
  under === undefined &&
  resource.name !== 'Media' &&
  !resource.fromChanges &&
  isVisibilityCurrent(model);

function shapeKey(shape: Shape): string | undefined {
  switch (shape.kind) {
    case 'reso': {
      const { computed, expansions, omitNulls, annotateHidden, ownOnly = false } = shape;
      if (!isWhole(shape) || computed.length > 0 || expansions.length > 0) return undefined;
      return `reso ${omitNulls} ${annotateHidden} ${ownOnly}`;
    }
    case 'native-listing': {
      const { computed = [], expansions, display } = shape;
      if (!isWhole(shape) || computed.length > 0 || expansions.length > 0) return undefined;
      return `native ${display}`;
    }
    case 'native-part':
      return undefined;
  }
}

/**
 * Makes a cache for plans of one kind.
 * @returns a function that finds the plan of a name, which is composed on first use; a plan without a name is composed each time
 */
export function makePlanCache<T extends object>(
  statementsOf: (plan: T) => readonly (Statement | undefined)[],
) {
  const kept = new BoundedCache<T>('kept plans', CACHE_BOUNDS);
  const sizeOf = (plan: T): number =>
    statementsOf(plan).reduce(
      (sum, each) => sum + (each === undefined ? 0 : each.text.length + VALUE * each.values.length),
      0,
    );
  return (name: string | undefined, compose: () => T): T => {
    if (name === undefined) return compose();
    const known = kept.get(name);
    if (known !== undefined) return known;
    const plan = compose();
    return kept.put(name, plan, sizeOf(plan));
  };
}

/** Estimated bytes of a value. */
const VALUE = 40;

/** Binds values to some slots of a statement. */
export const bindSlots = (
  { text, values }: Statement,
  slots: Readonly<Partial<Record<Slot, BoundValue>>>,
): Statement => ({
  text,
  values: values.map((value) =>
    typeof value === 'object' && value !== null && 'slot' in value ? (slots[value.slot] ?? value) : value,
  ),
});
