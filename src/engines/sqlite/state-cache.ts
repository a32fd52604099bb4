/**
 * The state of a store that every request needs, read once after each commit. `PRAGMA data_version` changes with every commit of
 * another connection, in any process, and takes a tenth of the time of the reads that it replaces. This module must not know how
 * the state is used.
 */
import type { KeyRecord } from '../../access/index.ts';
import { keyIn, selectKey } from '../../store/keys/key-store.ts';
import { Meta, metaRows, TIMES } from '../../store/state/meta.ts';
import type { Connection } from './connection.ts';
import { queryRows } from './session.ts';

const STATE = metaRows('generation', ...TIMES);

/** The state between two commits. A value read later may be newer than the others; the next check reads it again. */
interface CachedState {
  readonly commit: number;
  readonly meta: Pick<Meta, 'generation' | 'newest' | 'settled' | 'epoch' | 'clockReading'>;
  readonly key: (tokenHash: string) => KeyRecord | undefined;
}

/** @param connection a connection that never writes, because `data_version` does not show its own commits */
export function makeStateReader(connection: Connection): () => CachedState {
  const version = connection.database.prepare('PRAGMA data_version');
  version.setReturnArrays(true);
  let seen: unknown;
  let kept: CachedState | undefined;
  return () => {
    const now = version.get()?.[0];
    if (kept === undefined || now !== seen) kept = readState(connection, (kept?.commit ?? 0) + 1);
    seen = now;
    return kept;
  };
}

function readState(connection: Connection, commit: number): CachedState {
  const keys = new Map<string, KeyRecord>();
  return {
    commit,
    meta: new Meta(queryRows(connection, STATE)),
    key: (tokenHash) => {
      const known = keys.get(tokenHash);
      if (known !== undefined) return known;
      const found = keyIn(queryRows(connection, selectKey(tokenHash)));
      if (found !== undefined) keys.set(tokenHash, found);
      return found;
    },
  };
}
