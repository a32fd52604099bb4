import { escapeLiteral } from 'pg';
import { sql } from '../../../compile/fragment.ts';
import { chunked } from '../../../shared/chunked.ts';
import type { Session, WriteSession } from '../../../store/session.ts';
import { readMeta } from '../../../store/state/meta.ts';
import type { ServerSession } from '../connection/session.ts';

/** The number of systems whose partitions one transaction creates: each takes a dozen locks per table, of few thousand. */
const MOST_AT_ONCE = 10;

/** Thrown if records belong to systems without partitions. */
export class MissingPartitions extends Error {
  readonly systems: readonly string[];

  constructor(systems: readonly string[]) {
    super('Some systems have no partitions yet');
    this.systems = systems;
  }
}

/** The number of the partition for records without a system. */
const NO_SYSTEM = 0;

/** Partitions are named by number (`plat_partitions`), since names of systems are arbitrary. */
function partitionOf(table: string, number: number): string {
  const end = `_p${number}`;
  return `${table.slice(0, 63 - end.length)}${end}`;
}

/**
 * A partition is created separately from its table and then attached: that locks the table only against other schema changes, not
 * against reads or writes (SHARE UPDATE EXCLUSIVE). There is no default partition, which would also be locked and scanned.
 */
function createPartitionStatement(table: string, number: number, system: string | null): string {
  const partition = partitionOf(table, number);
  const value = system === null ? 'NULL' : escapeLiteral(system);
  return `CREATE TABLE "${partition}" (LIKE "${table}" INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING COMPRESSION);
    ALTER TABLE "${table}" ATTACH PARTITION "${partition}" FOR VALUES IN (${value})`;
}

/** The systems that have partitions, with their numbers; undefined in a store without partitions. */
export async function readSystems(session: Session): Promise<ReadonlyMap<string, number> | undefined> {
  if ((await readMeta(session, 'partitions')).partitions === undefined) return undefined;
  const rows = await session.rows(sql`SELECT system, number FROM plat_partitions ORDER BY number`);
  return new Map(rows.map((row) => [String(row.system), Number(row.number)]));
}

type Systems = ReadonlyMap<string, number> | undefined;
type Table = { readonly name: string; readonly isPartitioned: boolean };

/** Creates the partitions of a new table, if it is partitioned. */
export async function partitionTable(session: ServerSession, table: Table, systems: Systems): Promise<void> {
  if (!table.isPartitioned || systems === undefined) return;
  const numbers: Iterable<[string | null, number]> = [[null, NO_SYSTEM], ...systems];
  for (const [system, number] of numbers)
    await session.run(createPartitionStatement(table.name, number, system));
}

/** The names of the partitions of a table. */
export const partitionsOf = ({ name, isPartitioned }: Table, systems: Systems): string[] =>
  isPartitioned && systems !== undefined
    ? [NO_SYSTEM, ...systems.values()].map((number) => partitionOf(name, number))
    : [];

async function findNewSystems(session: ServerSession, systems: readonly string[]): Promise<string[]> {
  if (systems.length === 0) return [];
  const text = 'SELECT system FROM plat_partitions WHERE system = ANY($1::text[])';
  const known = new Set((await session.rows(text, [systems])).map(({ system }) => system));
  return systems.filter((system) => !known.has(system));
}

/**
 * Creates the partitions of new systems in all tables.
 * @param runSeparately runs work in a transaction of its own: a single transaction would take long, and too many locks
 */
export async function makePartitions(
  systems: Iterable<string>,
  runSeparately: (work: (session: ServerSession) => Promise<void>) => Promise<void>,
): Promise<void> {
  for (const some of chunked([...new Set(systems)], MOST_AT_ONCE))
    await runSeparately((session) => makeBatch(session, some));
}

async function makeBatch(session: ServerSession, systems: readonly string[]): Promise<void> {
  const fresh = await findNewSystems(session, systems);
  if (fresh.length === 0) return;
  const tables = await session.rows(
    `SELECT relname AS name FROM pg_class
     WHERE relkind = 'p' AND relnamespace = current_schema()::regnamespace ORDER BY relname`,
    [],
  );
  for (const system of fresh) {
    const [row] = await session.rows(
      `INSERT INTO plat_partitions SELECT $1, coalesce(max(number), ${NO_SYSTEM}) + 1 FROM plat_partitions RETURNING number`,
      [system],
    );
    for (const { name } of tables) {
      await session.run(createPartitionStatement(String(name), Number(row?.number), system));
    }
  }
}

/** Checks that the systems of rows that are being written to a partitioned store have partitions; throws `MissingPartitions`. */
export function partitionCheck(session: ServerSession): NonNullable<WriteSession['beforePut']> {
  const known = new Set<string>();
  return async (rows) => {
    const unknown = rows.flatMap(({ system }) => (system === null || known.has(system) ? [] : system));
    const systems = [...new Set(unknown)];
    const fresh = await findNewSystems(session, systems);
    if (fresh.length > 0) throw new MissingPartitions(fresh);
    for (const system of systems) known.add(system);
  };
}
