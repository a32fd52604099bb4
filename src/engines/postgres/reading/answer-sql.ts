import { integer, type Sql, sql } from '../../../compile/fragment.ts';
import { LARGEST_ANSWER } from '../../../store/read-task.ts';

/** Bytes with the comma after each text, up to and including a row; ends the statement when they are too many. */
const SIZE = sql`CASE WHEN sum(octet_length(q.x) + 1) OVER u > ${integer(LARGEST_ANSWER * 1_000_000 + 1)} THEN plat_too_large(sum(octet_length(q.x) + 1) OVER u) ELSE sum(octet_length(q.x) + 1) OVER u END`;

/** Each is told in the first row, when all texts are made: from then on nothing is left that could be refused. */
const BYTES = sql`CASE WHEN w.i = 1 THEN w.bytes END AS bytes`;

/**
 * The texts `x` of rows, one a row, for an answer that is sent while it is read. The server keeps them until it has made
 * the last one, in its files where they are many.
 */
export const answerSql = (rows: Sql): Sql =>
  sql`SELECT w.x, ${BYTES} FROM (SELECT b.x, row_number() OVER () AS i, max(b.size) OVER () AS bytes FROM (SELECT q.x, ${SIZE} AS size FROM (${rows}) q WINDOW u AS (ROWS UNBOUNDED PRECEDING)) b) w`;

/** The same for rows with keys `k`, which also tells how many they are, the last key, and whether a row follows. */
export const pageSql = (rows: Sql, follows: (last: Sql) => Sql): Sql =>
  sql`SELECT w.x, ${BYTES}, CASE WHEN w.i = 1 THEN w.n END AS n, CASE WHEN w.i = 1 THEN w.last END AS last, CASE WHEN w.i = 1 THEN EXISTS (${follows(sql`w.last`)}) END AS more FROM (SELECT b.x, row_number() OVER () AS i, count(*) OVER () AS n, max(b.k) OVER () AS last, max(b.size) OVER () AS bytes FROM (SELECT q.k, q.x, ${SIZE} AS size FROM (${rows}) q WINDOW u AS (ROWS UNBOUNDED PRECEDING)) b) w`;
