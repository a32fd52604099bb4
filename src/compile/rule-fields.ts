import type { Field, FieldValue } from '../dictionary/index.ts';
import { ownFieldsOf } from '../query/fields-of.ts';
import type { RowToPut } from '../records/rows.ts';
import { ownColumn, type ResourceLayout } from './layout/index.ts';

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

/** The column under which rules look for a field. */
export const ruleColumn = ({ resource }: ResourceLayout, field: Field): string =>
  ownColumn(resource, field) ?? field.name;

/** What a row that is about to be written has in it. */
export function ruleValue(
  { resource }: ResourceLayout,
  field: Field,
  row: RowToPut,
): FieldValue | null | undefined {
  switch (ownColumn(resource, field)) {
    case '_key':
      return row.key;
    case '_parent':
      return row.parent;
    case '_parent_resource':
      return row.parentResource;
    case undefined:
      return row.values[field.name];
  }
}
