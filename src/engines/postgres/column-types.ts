/** The types of columns on a server. */

import type { StoredKind } from '../../compile/layout/tables.ts';

/** Texts are compared by their bytes (I1). */
export const TEXT = 'text COLLATE "C"';

/** Numbers are those of JSON; a replica keeps a fraction also where none is due. */
export const COLUMN_TYPES: Readonly<Record<StoredKind, string>> = {
  text: TEXT,
  number: 'double precision',
  boolean: 'boolean',
  count: 'integer',
  id: 'bigint',
};
