import { creationOf, OWN_TABLES } from '../../../store/own-tables.ts';
import { TEXT } from '../column-types.ts';

/** plat's own tables, with that of the partitions, which no other engine has. */
const TABLES = [
  ...OWN_TABLES,
  {
    name: 'plat_partitions',
    columns: 'system TEXT NOT NULL, number INTEGER NOT NULL UNIQUE',
    key: ['system'],
  },
];

export const OWN = TABLES.map((table) => creationOf(table).replaceAll(' TEXT', ` ${TEXT}`));
