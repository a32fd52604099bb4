import type { Row } from '../../store/session.ts';
import type { SharedList, SharedState } from '../../store/shared.ts';
import type { Bindable } from './connection/session.ts';
import { SERVER_CLOCK } from './writing/server-clock.ts';

/** The keys of the tables in `sql/shared.sql`. */
export const SHARED_KEYS = [
  { name: 'plat_request_windows', key: ['key'] },
  { name: 'plat_filter_lists', key: ['name'] },
  { name: 'plat_sweeps', key: ['key'] },
];

/** Milliseconds between two checks of a process for lists that have expired or exceed the limit. */
const TIDY_EVERY = 1000;

/** Whether a list can be used. */
const IS_VALID = `expires > ${SERVER_CLOCK} AND made <= ${SERVER_CLOCK}`;
const FIND = `SELECT id, of_order, open_window, ids, ${SERVER_CLOCK} - made AS age FROM plat_filter_lists
  WHERE name = $1 AND ${IS_VALID}`;
const IS_CURRENT = `SELECT 1 FROM plat_filter_lists WHERE name = $1 AND id = $2 AND ${IS_VALID}`;

/** The size of a row without its ids, in bytes. */
const ROW_BYTES = 250;

const KEEP = `INSERT INTO plat_filter_lists AS kept
    (name, id, made, expires, open_window, bytes, ids, of_order)
  SELECT $1, $2, now - $3::bigint, now - $3::bigint + $4::bigint, $5, length($6::bytea) + length($7::text) + ${ROW_BYTES}, $6::bytea, $7::text
  FROM (SELECT ${SERVER_CLOCK}::bigint AS now) clock
  ON CONFLICT (name) DO UPDATE SET id = excluded.id, made = excluded.made, expires = excluded.expires,
    open_window = excluded.open_window, bytes = excluded.bytes, ids = excluded.ids, of_order = excluded.of_order
  WHERE kept.expires <= ${SERVER_CLOCK} OR kept.made > ${SERVER_CLOCK}
  RETURNING 1`;

/**
 * Adds up the sizes of the lists of each key, beginning with the newest, and then those of all keys in the order of these sums. The
 * lists beyond the limit are therefore the older ones of the keys with the most lists, and a key with few lists loses none.
 */
const DROP_EXCESS = `DELETE FROM plat_filter_lists l USING (
    SELECT name, id, expires, made, sum(bytes) OVER (ORDER BY own, made DESC, name) AS total FROM (
      SELECT name, id, expires, made, bytes,
        sum(bytes) OVER (PARTITION BY split_part(name, '.', 1) ORDER BY made DESC, name) AS own
      FROM plat_filter_lists WHERE ${IS_VALID}
    ) of_keys
  ) listed
  WHERE l.name = listed.name AND l.id = listed.id AND listed.total > $1::bigint`;
const EXPIRE = `DELETE FROM plat_filter_lists WHERE NOT (${IS_VALID})`;
const END_WINDOWS = `DELETE FROM plat_request_windows WHERE ends <= ${SERVER_CLOCK}`;

const BEGIN_SWEEP = `INSERT INTO plat_sweeps VALUES ($1, $2)
  ON CONFLICT (key) DO UPDATE SET reached = excluded.reached RETURNING 1`;
const CONTINUE_SWEEP =
  'UPDATE plat_sweeps SET reached = $2 WHERE key = $1 AND $3 = ANY (reached) RETURNING 1';
const END_SWEEP = 'DELETE FROM plat_sweeps WHERE key = $1 AND $2 = ANY (reached) RETURNING 1';

const RETURN_REQUESTS = `UPDATE plat_request_windows w SET used = greatest(0, w.used - r.requests)
  FROM json_to_recordset($1) AS r(key text, window_ends bigint, requests bigint)
  WHERE w.key = r.key AND w.ends = r.window_ends`;

/** The state that the processes of one store share, in tables of the server and by the server's clock. */
export function postgresShared(
  rows: (text: string, values: readonly Bindable[]) => Promise<readonly Row[]>,
): SharedState {
  let tidied = Number.NEGATIVE_INFINITY;

  const tidy = async (bytes: number): Promise<void> => {
    tidied = performance.now();
    await rows(EXPIRE, []);
    await rows(DROP_EXCESS, [bytes]);
  };

  const find = async (name: string): Promise<SharedList | undefined> => {
    const [row] = await rows(FIND, [name]);
    if (row === undefined) return undefined;
    const { id, of_order: order, open_window: openWindow, ids, age } = row;
    return {
      id: String(id),
      order: String(order),
      openWindow: openWindow === true,
      ids: idsOf(String(ids)),
      age: Number(age),
    };
  };

  return {
    async lendRequests({ key, limit, left }) {
      const [row] = await rows('SELECT * FROM plat_lend_requests($1, $2, $3, $4, $5)', [
        ...[key, limit.requests, Math.round(limit.seconds * 1000), left.requests, left.window],
      ]);
      return {
        window: Number(row?.ends),
        requests: Number(row?.lent),
        remaining: Number(row?.remaining),
        milliseconds: Number(row?.milliseconds),
      };
    },
    async returnRequests(loans) {
      const returned = loans.map(({ key, window, requests }) => ({ key, window_ends: window, requests }));
      await rows(RETURN_REQUESTS, [JSON.stringify(returned)]);
    },
    findList: find,
    async isListCurrent(name, id) {
      return (await rows(IS_CURRENT, [name, id])).length > 0;
    },
    async noteSweep(key, { from, reached, ended }) {
      if (ended && from === '') return 'complete';
      if (ended) return (await rows(END_SWEEP, [key, from])).length > 0 ? 'complete' : 'unknown';
      const noted =
        from === ''
          ? await rows(BEGIN_SWEEP, [key, reached])
          : await rows(CONTINUE_SWEEP, [key, reached, from]);
      return noted.length > 0 ? 'noted' : 'unknown';
    },
    async sweepLists(bytes) {
      await tidy(bytes);
      await rows(END_WINDOWS, []);
    },
    async keepList(name, list, { age, milliseconds, bytes }) {
      const values = [name, list.id, age, milliseconds, list.openWindow, bytesOf(list.ids), list.order];
      for (;;) {
        if ((await rows(KEEP, values)).length > 0) break;
        const other = await find(name);
        if (other !== undefined) return other;
      }
      if (performance.now() - tidied >= TIDY_EVERY) await tidy(bytes);
      return { ...list, age };
    },
  };
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Uint32Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/** Parses bytes in PostgreSQL's text form: `\x` and two digits each. */
function idsOf(text: string): Uint32Array {
  const ids = new Uint32Array((text.length - 2) / 8);
  bytesOf(ids).write(text.slice(2), 'hex');
  return ids;
}
