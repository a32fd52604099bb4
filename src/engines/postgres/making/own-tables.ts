import { TEXT } from '../column-types.ts';

const table = (name: string, columns: string): string =>
  `CREATE TABLE IF NOT EXISTS ${name} (${columns.replaceAll(' text', ` ${TEXT}`)})`;

/** plat's own tables, which hold no records. */
export const OWN_TABLES: readonly string[] = [
  table('plat_meta', 'name text PRIMARY KEY, value text NOT NULL'),
  table(
    'plat_profile',
    'resource text NOT NULL, field text NOT NULL, since integer NOT NULL, PRIMARY KEY (resource, field)',
  ),
  table('plat_sequence', 'resource text PRIMARY KEY, next bigint NOT NULL'),
  table(
    'plat_counters',
    'resource text NOT NULL, visible integer NOT NULL, system text NOT NULL, rows bigint NOT NULL, PRIMARY KEY (resource, visible, system)',
  ),
  table(
    'plat_tombstones',
    'resource text NOT NULL, key text NOT NULL, system text, deleted_at text NOT NULL, PRIMARY KEY (resource, key)',
  ),
  table(
    'plat_keys',
    'id text PRIMARY KEY, token_hash text NOT NULL UNIQUE, name text NOT NULL, kind text NOT NULL, role text NOT NULL, systems text NOT NULL, created_at text NOT NULL, expires_at text, revoked_at text',
  ),
  table(
    'plat_key_use',
    'key_id text PRIMARY KEY, requests bigint NOT NULL, rows bigint NOT NULL, bytes bigint NOT NULL, last_request_at text, last_window text, last_sweep_at text',
  ),
  table(
    'plat_ledger_state',
    'source text NOT NULL, name text NOT NULL, value text NOT NULL, PRIMARY KEY (source, name)',
  ),
  table(
    'plat_ledger_seen',
    'source text NOT NULL, resource text NOT NULL, key text NOT NULL, sweep bigint NOT NULL, PRIMARY KEY (source, resource, key)',
  ),
  table(
    'plat_ledger_wanted',
    'source text NOT NULL, resource text NOT NULL, why text NOT NULL, key text NOT NULL, PRIMARY KEY (source, resource, why, key)',
  ),
  table(
    'plat_quarantine',
    'source text NOT NULL, resource text NOT NULL, key text NOT NULL, reason text NOT NULL, payload text NOT NULL, first_at text NOT NULL, last_at text NOT NULL, attempts integer NOT NULL, PRIMARY KEY (source, resource, key)',
  ),
  table('plat_partitions', 'system text PRIMARY KEY, number integer NOT NULL UNIQUE'),
  table('plat_leases', 'source text PRIMARY KEY, holder text NOT NULL, expires bigint NOT NULL'),
];
