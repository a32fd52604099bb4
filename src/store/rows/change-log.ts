/**
 * The sequence of changes: one entry for each record that a transaction writes, deletes, restamps or shows to other
 * roles, in the transaction itself. One writer at a time has the lock of the store, and a number is taken under it, so
 * the numbers are in commit order: who has seen one never finds a smaller one later. Behind the entries of a commit stands one
 * with its name, by which a follower notices that the store was brought back without plat and has other changes under the
 * numbers that it knows. It knows no engine.
 */
import { randomBytes } from 'node:crypto';
import { bind, integer, sql } from '../../compile/fragment.ts';
import type { Session } from '../session.ts';

/** The name of the sequence in `plat_sequence`, where the name of no resource is. */
const SEQUENCE = 'changes';

/** Entries that are kept. A follower that is further behind reads everything anew. */
export const KEPT_CHANGES = 250_000;

/** In place of a key: all records of the resource; in place of a resource: of all resources. */
export const EVERYTHING = '';
/** In place of a resource: the key is the name of the commit, which no other one has. */
export const COMMIT = '.';

const nameOfCommit = (): string => randomBytes(9).toString('base64url');

/**
 * Added to the sequence by a new epoch: followers that outlived a restore know numbers of the abandoned timeline, and none
 * of them may recur. A thousand million entries further still leave nine million restores before the numbers exceed 2^53.
 */
const SEQUENCE_GOES_ON = 1_000_000_000;

const COLUMNS = new Map([
  ['seq', 'number'],
  ['resource', 'text'],
  ['key', 'text'],
] as const);

/** The changes of one transaction that are not written yet. */
export class ChangeLog {
  readonly #session: Session;
  #pending = new Map<string, Set<string>>();

  constructor(session: Session) {
    this.#session = session;
  }

  add(resource: string, keys: Iterable<string>): void {
    const noted = this.#pending.get(resource) ?? new Set<string>();
    this.#pending.set(resource, noted);
    for (const key of keys) noted.add(key);
  }

  /** A change of a part of another record is one of that record, too. */
  addParents(
    parts: Iterable<{ readonly parentResource: string | null; readonly parent: string | null }>,
  ): void {
    for (const { parentResource, parent } of parts) {
      if (parentResource !== null && parent !== null && parent !== '') this.add(parentResource, [parent]);
    }
  }

  /** Writes what was added since the last flush: each record once, in one statement. */
  async flush(): Promise<void> {
    const changed = [...this.#pending].flatMap(([resource, keys]) =>
      [...keys].map((key) => ({ resource, key })),
    );
    this.#pending = new Map();
    await append(this.#session, changed);
  }
}

/** Notes that everything may have changed, or every record of a resource, in ways that are not known by key. */
export const logEverything = (session: Session, resource: string = EVERYTHING): Promise<void> =>
  append(session, [{ resource, key: EVERYTHING }]);

/** Begins the numbers of a new epoch. */
export async function beginSequence(session: Session): Promise<void> {
  await takeNumbers(session, SEQUENCE_GOES_ON);
  await logEverything(session);
}

async function append(
  session: Session,
  changed: readonly { readonly resource: string; readonly key: string }[],
): Promise<void> {
  if (changed.length === 0) return;
  const appended = [...changed, { resource: COMMIT, key: nameOfCommit() }];
  const first = await takeNumbers(session, appended.length);
  const entries = appended.map(({ resource, key }, index) => ({ seq: first + index, resource, key }));
  const { run, dialect } = session;
  const last = entries.slice(-KEPT_CHANGES);
  await run(sql`INSERT INTO plat_changes (seq, resource, key) SELECT v.seq, v.resource, v.key
    FROM ${dialect.rowsOf(bind(JSON.stringify(last)), 'v', COLUMNS)}`);
  await run(sql`DELETE FROM plat_changes WHERE seq < ${integer(first + appended.length - KEPT_CHANGES)}`);
}

/** @returns the first of the numbers */
async function takeNumbers({ rows }: Session, count: number): Promise<number> {
  const [row] =
    await rows(sql`INSERT INTO plat_sequence (resource, next) VALUES (${bind(SEQUENCE)}, 1 + ${bind(count)})
    ON CONFLICT (resource) DO UPDATE SET next = plat_sequence.next + ${bind(count)} RETURNING next`);
  return Number(row?.next) - count;
}
