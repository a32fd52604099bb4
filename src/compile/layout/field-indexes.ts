/**
 * The indexes on fields of a resource, the same in every engine: their fields, the columns that they cover, and their names. Each
 * engine declares them in its own SQL.
 */
import type { SearchIndex } from '../../dictionary/index.ts';

export interface FieldIndex {
  readonly fields: readonly string[];
  /** Columns whose values an index of a search table also contains, so that a search that names no other column reads no row. */
  readonly covered: readonly string[];
  /** The end of the index's name. An index that covers other columns gets another name, so that it replaces this one. */
  readonly suffix: string;
}

/** The columns that determine who sees a row and its withheld values; every search uses some of them. */
const VISIBILITY_COLUMNS = ['_visible', '_shown', '_system'];

/** @param inUse the names of the fields in use */
export function fieldIndexes(declared: readonly SearchIndex[], inUse: ReadonlySet<string>): FieldIndex[] {
  const isInUse = (field: string): boolean => inUse.has(field);
  return declared
    .filter(({ fields }) => fields.every(isInUse))
    .map(({ fields, covers }) => {
      const found = covers.filter(isInUse);
      return found.length === 0
        ? { fields, covered: [], suffix: '' }
        : {
            fields,
            covered: [...VISIBILITY_COLUMNS, ...found],
            suffix: `_with_${found.map(initials).join('_')}`,
          };
    });
}

/** `BedroomsTotal` → `bt` */
const initials = (field: string): string => field.replace(/[^A-Z]/g, '').toLowerCase();

/** All columns of an index. */
export const indexColumns = ({ fields, covered }: FieldIndex): readonly string[] => [...fields, ...covered];
