import type { Connection } from './connection.ts';

/**
 * How many rows each resource has of each visibility and originating system, kept in the transaction that changes
 * them, so that a count need not look at the rows.
 */
export interface Counters {
  add(resource: string, visible: number, system: string | null, rows: 1 | -1): void;
  /** Writes what was added since the last time. */
  flush(): void;
}

export function counters(connection: Connection): Counters {
  const pending = new Map<string, { resource: string; visible: number; system: string; rows: number }>();
  return {
    add(resource, visible, system, rows) {
      const id = `${resource}\u0000${visible}\u0000${system}`;
      const entry = pending.get(id);
      if (entry === undefined) pending.set(id, { resource, visible, system: system ?? '', rows });
      else entry.rows += rows;
    },
    flush() {
      const put = connection.prepare(
        'INSERT INTO plat_counters VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows',
      );
      for (const { resource, visible, system, rows } of pending.values()) {
        if (rows !== 0) put.run(resource, visible, system, rows);
      }
      pending.clear();
    },
  };
}
