import type { Field } from '../../dictionary/index.ts';
import { ownFieldsOf } from '../../query/fields-of.ts';
import type { ResourceLayout } from '../layout/index.ts';

/**
 * The fields in use that the rules of a resource look at; undefined when one looks beyond the record. Fields that
 * are not in use are null in every row.
 */
export function ruleFields(layout: ResourceLayout): Field[] | undefined {
  const inUse = new Set(layout.fields);
  const found = new Set<Field>();
  const filters = [
    ...layout.rowRules.map(({ filter }) => filter),
    ...layout.withheldRules.map(({ shownWhen }) => shownWhen),
  ];
  for (const filter of filters) {
    const fields = filter === undefined ? new Set<Field>() : ownFieldsOf(filter);
    if (fields === undefined) return undefined;
    for (const field of fields) if (inUse.has(field)) found.add(field);
  }
  return [...found];
}
