/** The types of columns on a server. */

import type { StoredKind } from '../../compile/layout/tables.ts';

/** Texts are compared bytewise (I1). */
export const TEXT = 'text COLLATE "C"';

/** Numbers are those of JSON. A replica keeps a fraction even in an integer field. */
export const COLUMN_TYPES: Readonly<Record<StoredKind, string>> = {
  text: TEXT,
  number: 'double precision',
  boolean: 'boolean',
  count: 'integer',
  id: 'bigint',
};
