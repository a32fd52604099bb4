/**
 * The fields of a listing that count its children (Data Dictionary 2.0): in an authority they follow from the records
 * that it holds, and what an import says of them is not believed. They count what everyone may see, so that they tell
 * nobody of what is hidden: media without a Permission, and those with one for the public. In a replica they are what
 * the source sent.
 */
import {
  CHILD_COUNTS,
  countOfMedium,
  type FieldValue,
  type FieldValues,
  type MediaKind,
} from '../dictionary/index.ts';

/** The resource whose records are counted, and the one that has the counts. */
export const COUNTED = 'Media';
export const COUNTING = 'Property';

/** The field in which a medium is counted. */
export const countOf = (kind: MediaKind | null): string | undefined => countOfMedium(kind ?? 'other');

export const isChildCount = ({
  resource,
  name,
}: {
  readonly resource: string;
  readonly name: string;
}): boolean => resource === COUNTING && CHILD_COUNTS.includes(name);

/** Says of a medium who may see it. */
export const PERMISSION = 'Permission';

/** A medium as it is counted. */
export interface CountedChild {
  readonly kind: MediaKind | null;
  readonly values: FieldValues;
}

const isForAll = (permission: FieldValue | undefined): boolean =>
  !Array.isArray(permission) || permission.length === 0 || permission.includes('Public');

/** @param fields those of the counts that are in use */
export function countChildren(
  children: Iterable<CountedChild>,
  fields: readonly string[],
): Readonly<Record<string, number>> {
  const counts: Record<string, number> = Object.fromEntries(fields.map((name) => [name, 0]));
  for (const { kind, values } of children) {
    const name = countOf(kind);
    const count = name === undefined ? undefined : counts[name];
    if (name !== undefined && count !== undefined && isForAll(values[PERMISSION])) counts[name] = count + 1;
  }
  return counts;
}
