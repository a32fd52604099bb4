/** What a file keeps of its time (store/meta.ts), where it is written between two looks at the clock. */
import { type MetaChange, storedRows } from '../../store/meta.ts';
import type { Connection } from './connection.ts';

export function writeTimes({ prepare }: Connection, change: MetaChange): void {
  const put = prepare(
    'INSERT INTO plat_meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  );
  for (const { name, value } of storedRows(change)) put.run(name, value);
}
