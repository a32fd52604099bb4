/** The tables of a store that contain no records: every engine creates them, and a copy includes them. */
import type { ColumnKind } from '../../compile/column-value.ts';

interface OwnTable {
  readonly name: string;
  /** SQL column definitions; every engine has the types TEXT, INTEGER and BIGINT. */
  readonly columns: string;
  readonly key: readonly string[];
  /** Further columns whose values must be unique. */
  readonly unique?: readonly string[];
  /** Whether a repair derives its content from the records. */
  readonly isDerived?: boolean;
}

export const OWN_TABLES: readonly OwnTable[] = [
  { name: 'plat_meta', columns: 'name TEXT NOT NULL, value TEXT NOT NULL', key: ['name'] },
  {
    name: 'plat_profile',
    columns: 'resource TEXT NOT NULL, field TEXT NOT NULL, since INTEGER NOT NULL',
    key: ['resource', 'field'],
  },
  {
    name: 'plat_sequence',
    columns: 'resource TEXT NOT NULL, next BIGINT NOT NULL',
    key: ['resource'],
    isDerived: true,
  },
  {
    name: 'plat_counters',
    columns: 'resource TEXT NOT NULL, visible INTEGER NOT NULL, system TEXT NOT NULL, rows BIGINT NOT NULL',
    key: ['resource', 'visible', 'system'],
    isDerived: true,
  },
  {
    name: 'plat_changes',
    columns: `seq BIGINT NOT NULL, resource TEXT NOT NULL, key TEXT NOT NULL, kind TEXT NOT NULL, at BIGINT NOT NULL,
      was INTEGER NOT NULL, visible INTEGER NOT NULL, system TEXT`,
    key: ['seq'],
  },
  {
    name: 'plat_tombstones',
    columns: 'resource TEXT NOT NULL, key TEXT NOT NULL, system TEXT, deleted_at TEXT NOT NULL',
    key: ['resource', 'key'],
  },
  {
    name: 'plat_keys',
    columns: `id TEXT NOT NULL, token_hash TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, role TEXT NOT NULL,
      systems TEXT NOT NULL, created_at TEXT NOT NULL, expires_at TEXT, revoked_at TEXT`,
    key: ['id'],
    unique: ['token_hash'],
  },
  {
    name: 'plat_key_use',
    columns: `key_id TEXT NOT NULL, requests BIGINT NOT NULL, rows BIGINT NOT NULL, bytes BIGINT NOT NULL,
      last_request_at TEXT, last_window TEXT, last_sweep_at TEXT`,
    key: ['key_id'],
  },
  {
    name: 'plat_history',
    columns: `at BIGINT NOT NULL, process TEXT NOT NULL, counted_from BIGINT NOT NULL, counted_to BIGINT NOT NULL,
      figures TEXT NOT NULL`,
    key: ['at', 'process'],
  },
  {
    name: 'plat_webhooks',
    columns: `id TEXT NOT NULL, url TEXT NOT NULL, secret TEXT NOT NULL, former_secret TEXT, former_until BIGINT, bearer TEXT,
      role TEXT NOT NULL, systems TEXT NOT NULL, resources TEXT NOT NULL, private_hosts INTEGER NOT NULL,
      created_at TEXT NOT NULL, paused TEXT, position TEXT NOT NULL, batch_end BIGINT, delivered BIGINT NOT NULL,
      delivered_at TEXT, attempts INTEGER NOT NULL, failing_since BIGINT, next_attempt BIGINT NOT NULL, last_error TEXT,
      holder TEXT, held_until BIGINT`,
    key: ['id'],
  },
  {
    name: 'plat_ledger_state',
    columns: 'source TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL',
    key: ['source', 'name'],
  },
  {
    name: 'plat_ledger_seen',
    columns: 'source TEXT NOT NULL, resource TEXT NOT NULL, key TEXT NOT NULL, sweep BIGINT NOT NULL',
    key: ['source', 'resource', 'key'],
  },
  {
    name: 'plat_ledger_wanted',
    columns: 'source TEXT NOT NULL, resource TEXT NOT NULL, why TEXT NOT NULL, key TEXT NOT NULL',
    key: ['source', 'resource', 'why', 'key'],
  },
  {
    name: 'plat_quarantine',
    columns: `source TEXT NOT NULL, resource TEXT NOT NULL, key TEXT NOT NULL, reason TEXT NOT NULL, payload TEXT NOT NULL,
      first_at TEXT NOT NULL, last_at TEXT NOT NULL, attempts INTEGER NOT NULL`,
    key: ['source', 'resource', 'key'],
  },
  {
    name: 'plat_leases',
    columns: 'source TEXT NOT NULL, holder TEXT NOT NULL, expires BIGINT NOT NULL',
    key: ['source'],
  },
];

export const createTableStatement = ({ name, columns, key, unique = [] }: OwnTable): string =>
  `CREATE TABLE IF NOT EXISTS ${name} (${columns}, PRIMARY KEY (${key.join(', ')})${unique.map((column) => `, UNIQUE (${column})`).join('')})`;

/** The indexes of the table's keys, by the names that PostgreSQL gives them, with the statements that create them. */
export const keyIndexesOf = ({ name, key, unique = [] }: Omit<OwnTable, 'columns'>): [string, string][] => {
  const keys = [
    { index: `${name}_pkey`, form: `PRIMARY KEY (${key.join(', ')})` },
    ...unique.map((column) => ({ index: `${name}_${column}_key`, form: `UNIQUE (${column})` })),
  ];
  return keys.map(({ index, form }) => [index, `ALTER TABLE ${name} ADD CONSTRAINT ${index} ${form}`]);
};

/** The columns of a table in order, with the kinds of their values. */
export const ownTableColumns = ({ columns }: Pick<OwnTable, 'columns'>): ReadonlyMap<string, ColumnKind> =>
  new Map(
    columns.split(',').map((column) => {
      const [name = '', type] = column.trim().split(' ');
      return [name, type === 'TEXT' ? 'text' : 'number'];
    }),
  );

/** The columns of the table with this name, or none. */
export const ownColumns = (table: string): ReadonlyMap<string, ColumnKind> =>
  ownTableColumns(OWN_TABLES.find(({ name }) => name === table) ?? { columns: '' });
