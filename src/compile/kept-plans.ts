/**
 * Plans that are composed once and serve many requests: the SQL of a whole record is several thousand characters, and
 * composing it takes longer than the engine needs to read the record (docs/performance.md). It knows no statement; the
 * caller that caches a plan names everything on which its text depends.
 */
import { BoundedCache } from '../shared/bounded-cache.ts';
import { numberOf } from '../shared/per-object.ts';
import type { Planner } from './context.ts';
import type { BoundValue, Slot, Statement } from './fragment.ts';
import { isVisibilityCurrent } from './model.ts';
import type { RecordQuery, Shape } from './read.ts';
import { isWhole } from './text/reso-text.ts';

const kept = new BoundedCache<Statement>('kept plans', { bytes: 8 * 1024 * 1024 });

/**
 * The inputs on which the text of a statement depends that reads whole records only by their keys; undefined for a
 * statement that depends on more, such as the time of the request, the URL of a file, or damage.
 */
export function plainName(
  { dialect, model, damaged }: Planner,
  query: RecordQuery,
  shape: Shape,
): string | undefined {
  const { resource, view } = query;
  const form = isPlainRead({ model, damaged }, query) ? formOf(shape) : undefined;
  if (form === undefined) return undefined;
  return `${numberOf(dialect)} ${numberOf(model.layout(resource.name))} ${numberOf(view)} ${form}`;
}

/** What decides whether rows are read as they are stored. */
export type ReadBy = Pick<Planner, 'model' | 'damaged'>;

/** Whether rows are the same, and look the same, whenever and wherever they are read. */
export const isPlainRead = (
  { model, damaged }: ReadBy,
  { resource, under }: Pick<RecordQuery, 'resource' | 'under'>,
): boolean =>
  damaged === undefined &&
  under === undefined &&
  resource.name !== 'Media' &&
  !resource.fromChanges &&
  isVisibilityCurrent(model);

function formOf(shape: Shape): string | undefined {
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

/** The plan of a name, composed on first use, with the values of its slots. */
export function keptPlan(
  name: string,
  values: Readonly<Partial<Record<Slot, BoundValue>>>,
  compose: () => Statement,
): Statement {
  const known = kept.get(name) ?? keep(name, compose());
  return {
    text: known.text,
    values: known.values.map((value) =>
      typeof value === 'object' && value !== null && 'slot' in value ? (values[value.slot] ?? value) : value,
    ),
  };
}

/** Bytes that a value takes. */
const VALUE = 40;

const keep = (name: string, plan: Statement): Statement =>
  kept.put(name, plan, plan.text.length + VALUE * plan.values.length);
