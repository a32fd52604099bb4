import type { ResourceLayout } from '../../compile/layout/index.ts';
import type { StoreModel } from '../../compile/model.ts';
import type { Field } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import { checkTimeZone } from '../../records/local-time.ts';
import { returnsOwnTimestamps } from '../../records/settings.ts';

const usageError = (reason: string) => platError('usage', { reason });

/** What a store contains apart from its published dictionary. */
export interface StoredContent {
  readonly records: boolean;
  readonly listings: boolean;
}

/** @throws PlatError `usage` if the new settings contradict stored records */
export function checkChange(before: StoreModel, after: StoreModel, holds: StoredContent): void {
  const { owner, agentsFrom } = before.settings;
  checkTimeZone(after.settings.timeZone);
  if (after.settings.owner !== owner && holds.records) {
    throw usageError(
      `A store that contains records stays ${owner === 'replica' ? 'a replica' : 'an authority'}.`,
    );
  }
  if (returnsOwnTimestamps(after.settings) !== returnsOwnTimestamps(before.settings) && holds.records) {
    throw usageError('Once a replica contains records, its onwardTimestamps cannot be changed.');
  }
  if (after.settings.agentsFrom !== agentsFrom && holds.listings) {
    throw usageError(
      `Once listings are stored, their agent and office fields come from the ${agentsFrom} for good.`,
    );
  }
  for (const name of before.dictionary.resources.keys()) {
    if (before.stores(name) && !after.dictionary.resources.has(name)) {
      throw usageError(`The resource ${name} has held records and stays declared.`);
    }
  }
  for (const { resource, name } of fieldsWithChangedTypes(before, after)) {
    const type = after.settings.declarations.customFields?.find((each) => each.name === name)?.type;
    throw usageError(
      `The custom field ${resource}.${name} has values of another type than ${type}; declare a new one.`,
    );
  }
}

function fieldsWithChangedTypes(before: StoreModel, after: StoreModel): Field[] {
  const known = [...before.dictionary.resources.values()].flatMap(({ fields }) => [...fields.values()]);
  return known.filter((field) => {
    const now = after.dictionary.resources.get(field.resource)?.fields.get(field.name);
    if (field.custom === undefined || now === undefined) return false;
    return now.type.kind !== field.type.kind || now.collection !== field.collection;
  });
}

/** The resources whose stored texts are outdated after a change. */
export function outdatedTexts(before: StoreModel, after: StoreModel): string[] {
  const stored = [...before.dictionary.resources.keys()].filter(before.stores);
  const otherTimes = before.settings.timeZone !== after.settings.timeZone;
  return stored.filter(
    (name) =>
      (name === 'OpenHouse' && otherTimes) ||
      returnedFields(before, after, name).length > 0 ||
      haveTextsChanged(before.layout(name), after.layout(name)),
  );
}

/** The fields of a resource that are declared again, so that their retained values become visible again. */
export function returnedFields(before: StoreModel, after: StoreModel, resource: string): Field[] {
  const known = new Set(before.layout(resource).fields.map(({ name }) => name));
  const layout = after.layout(resource);
  return layout.fields.filter(
    (field) => !known.has(field.name) && layout.since(field) <= before.profile.version,
  );
}

/** Whether a field has left the texts, or has moved to another piece. */
function haveTextsChanged(before: ResourceLayout, after: ResourceLayout): boolean {
  const now = new Map(after.fields.map((field) => [field.name, field]));
  return before.fields.some((field) => now.get(field.name)?.class !== field.class);
}
