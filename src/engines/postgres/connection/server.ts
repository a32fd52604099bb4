import { platError } from '../../../errors/index.ts';
import type { ServerSession } from './session.ts';

/** What a store uses of a server. */
export interface Server {
  /** A collation whose rules for capitals and small letters are Unicode's. */
  readonly unicode: string;
}

/** Before this version, texts cannot be compressed by column, nor functions be expressions. */
const OLDEST = 150_000;

/** Collations that know all of Unicode: of ICU, or of the server itself (PostgreSQL 18). */
const COLLATIONS = ['und-x-icu', 'pg_unicode_fast'];

/** @throws PlatError `storeNotOurs` when a store cannot live there */
export async function readServer(session: ServerSession, store: string): Promise<Server> {
  const [row] = await session.rows(
    `SELECT current_setting('server_version_num')::integer AS version, current_setting('server_encoding') AS encoding,
     (SELECT collname FROM pg_collation WHERE collname = ANY($1::text[]) AND collencoding IN (-1, 6)
      ORDER BY array_position($1::text[], collname::text) LIMIT 1) AS unicode`,
    [COLLATIONS],
  );
  const refuse = (reason: string) => platError('storeNotOurs', { store, reason });
  const version = Number(row?.version);
  if (version < OLDEST) throw refuse('its server is older than PostgreSQL 15');
  if (row?.encoding !== 'UTF8') throw refuse(`its database has the encoding ${row?.encoding}, not UTF8`);
  if (typeof row.unicode !== 'string') throw refuse('its server has no collation of Unicode (ICU)');
  return { unicode: row.unicode };
}
