import type { Field } from '../../dictionary/index.ts';
import { ownFieldsOf } from '../../query/fields-of.ts';
import type { ResourceLayout } from '../layout/index.ts';

/**
 * The fields in use that the rules of a resource look at; rules look at nothing but the record. Fields that are not
 * in use are null in every row.
 */
export function ruleFields(layout: ResourceLayout): Field[] {
  const inUse = new Set(layout.fields);
  const filters = [
    ...layout.rowRules.map(({ filter }) => filter),
    ...layout.withheldRules.map(({ shownWhen }) => shownWhen),
  ];
  const fields = filters.flatMap((filter) => [...((filter && ownFieldsOf(filter)) ?? [])]);
  return [...new Set(fields)].filter((field) => inUse.has(field));
}
