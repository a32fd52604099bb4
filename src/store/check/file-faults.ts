/** What is wrong beneath the records of a store, and what that means for a repair. It knows nothing of engines. */
import type { StoreModel } from '../../compile/model.ts';
import { initialFields } from '../../records/profile.ts';

export interface FileFault {
  readonly what: string;
  /**
   * `structure`: indexes and the like, which follow from the records and are made anew. `pages`: where records lie, so
   * that nothing may be written there any more. `model`: what every record is read by, so that none can be evaluated.
   * `notes`: what a replica keeps of its source, which a refresh makes anew.
   */
  readonly kind: 'structure' | 'pages' | 'model' | 'notes';
}

/** Columns of plat's own, and of ready texts. */
const OWN = /^_|_(values|nulls)$|^native_(head|text|plan_text)$/;

/**
 * Whether the fields in use are those that the tables have columns for.
 * @param columnsOf the names of the columns of a table
 */
export function findModelFaults(
  model: StoreModel,
  columnsOf: (table: string) => Iterable<string>,
): FileFault[] {
  const lacking = new Set<string>();
  for (const { resource, name } of initialFields(model.dictionary)) {
    if (model.profile.since.get(resource)?.has(name) !== true) lacking.add(`${resource}.${name}`);
  }
  for (const resource of model.dictionary.resources.keys()) {
    if (!model.stores(resource)) continue;
    const known = model.profile.since.get(resource);
    for (const column of columnsOf(model.layout(resource).columnsTable)) {
      if (!OWN.test(column) && known?.has(column) !== true) lacking.add(`${resource}.${column}`);
    }
  }
  return [...lacking].map((field) => ({ what: `the list of fields in use lacks ${field}`, kind: 'model' }));
}
