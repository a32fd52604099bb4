/** What a file keeps of its time (store/meta.ts), where it is read and written between two looks at the clock. */
import { render } from '../../compile/fragment.ts';
import { type Meta, type MetaChange, metaOf, metaRows, storedRows, TIMES } from '../../store/meta.ts';
import { bindings, type Connection } from './connection.ts';
import { sqliteDialect } from './dialect.ts';

const OF_TIME = render(metaRows(...TIMES), sqliteDialect.placeholder);

export const readTimes = ({ prepare }: Connection): Meta =>
  metaOf(prepare(OF_TIME.text).all(...bindings(OF_TIME)));

export function writeTimes({ prepare }: Connection, change: MetaChange): void {
  const put = prepare(
    'INSERT INTO plat_meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  );
  for (const { name, value } of storedRows(change)) put.run(name, value);
}
