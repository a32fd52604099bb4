/** The columns of ready texts, and how a write computes them from a record. */
import type { FieldValue } from '../../dictionary/index.ts';
import { isChildCount } from '../../records/media.ts';
import {
  plainValues,
  type RowToPut,
  type StoredRow,
  valuesToStore,
  valueToStore,
} from '../../records/rows.ts';
import { isAssignedTimestamp } from '../../records/timestamps.ts';
import { containsTimestamps, type ResourceLayout } from '../layout/index.ts';
import type { StoreModel } from '../model.ts';
import { columnsOf, type ReadValue, servedFile, type TextPlan, textPlans, writeTexts } from './members.ts';
import { nativeHead, nativePartTexts, partContains } from './native-parts.ts';

type Bindable = string | number | null;

/** Columns, and how to compute them from a record. */
interface ColumnWriter<T> {
  readonly columns: readonly string[];
  readonly values: (from: T) => Bindable[];
}

/** The values of a record in the order of the fields of its layout. */
type ValuesOf = (row: Pick<RowToPut, 'values' | 'derived'>) => (FieldValue | undefined)[];

/** Reads all values of a record at once, since columns, texts and counters need each of them. */
export function valuesReader({ fields }: ResourceLayout): ValuesOf {
  const names = fields.map(({ name }) => name);
  const places = new Map(names.map((name, place) => [name, place]));
  return (row) => valuesToStore(row, names, places);
}

/** A record's rank among its siblings, and the file that this service serves for it. */
export function rankAndFile(row: Pick<RowToPut, 'values'>): {
  rank: number | null;
  file: string | null;
} {
  const order = valueToStore(row, 'Order');
  return {
    rank: typeof order === 'number' ? order : null,
    file: servedFile(valueToStore(row, 'MediaURL')) ?? null,
  };
}

/** Whether a text contains nothing that the store sets when it writes a record, such as timestamps and counts of children. */
const isFixed = ({ fields }: TextPlan): boolean =>
  !fields.some(({ field }) => isAssignedTimestamp(field) || isChildCount(field));

/** Writes the texts of a record that are known before it is stored, for `RowToPut`. */
export function fixedTexts(layout: ResourceLayout): (record: Pick<RowToPut, 'values'>) => readonly string[] {
  const plans = textPlans(layout).filter(isFixed);
  const valuesOf = valuesReader(layout);
  return (record) => {
    const values = valuesOf(record);
    return writeTexts(plans, ({ place }) => values[place]);
  };
}

/** The columns of all ready texts of a record, and of the version of the profile with which they are written. */
export function textColumns(
  model: StoreModel,
  layout: ResourceLayout,
): Pick<ColumnWriter<RowToPut>, 'columns'> & {
  /** @param values the values of the record, as `valuesReader` returns them */
  readonly values: (row: RowToPut, values: readonly (FieldValue | undefined)[]) => Bindable[];
} {
  const plans = textPlans(layout);
  const [fixed, others] = [plans.filter(isFixed), plans.filter((plan) => !isFixed(plan))];
  const native = nativeColumns(model, layout);
  const { version } = model.profile;
  return {
    columns: ['_profile', ...native.columns, ...columnsOf(others), ...columnsOf(fixed)],
    values: (row, values) => {
      const read: ReadValue = ({ place }) => values[place];
      const known = row.fixedTexts?.() ?? writeTexts(fixed, read);
      return [version, ...native.values(row), ...writeTexts(others, read), ...known];
    },
  };
}

/** The head of a listing, or the whole text of a sub-resource, for the native interface. */
function nativeColumns({ settings }: StoreModel, { resource }: ResourceLayout): ColumnWriter<RowToPut> {
  if (resource.name === 'Property')
    return { columns: ['native_head'], values: ({ key }) => [nativeHead(key)] };
  if (resource.parent === undefined) return { columns: [], values: () => [] };
  const { timeZone } = settings;
  return {
    columns: ['native_text', 'native_plan_text'],
    values: ({ key, parent, kind, values }) => {
      const place = { resource: resource.name, key, parent: parent ?? '', kind: kind ?? undefined };
      const { native, nativePlan } = nativePartTexts({ ...place, values: plainValues(values), timeZone });
      return [native, nativePlan];
    },
  };
}

/** The texts of pieces that contain timestamps. */
export function timestampTextColumns(
  layout: ResourceLayout,
): ColumnWriter<(name: string) => FieldValue | undefined> {
  const plans = textPlans(layout).filter(({ fields }) =>
    fields.some(({ field }) => isAssignedTimestamp(field)),
  );
  return {
    columns: columnsOf(plans),
    values: (read) => writeTexts(plans, ({ field }) => read(field.name)),
  };
}

/** Whether other texts of a record contain timestamps as well, so that they must be written from the whole record. */
export function hasOtherTextsWithTimestamps({
  resource,
}: ResourceLayout): (row: Pick<StoredRow, 'kind'>) => boolean {
  const stamps = new Set([...resource.fields.values()].filter(isAssignedTimestamp).map(({ name }) => name));
  return ({ kind }) => partContains({ resource: resource.name, kind: kind ?? undefined }, stamps);
}

/** The newest version of the profile in which a field of one of these texts came into use. */
export const newestTimestampVersion = (layout: ResourceLayout): number =>
  Math.max(0, ...layout.pieces.filter(containsTimestamps).flatMap(({ fields }) => fields.map(layout.since)));
