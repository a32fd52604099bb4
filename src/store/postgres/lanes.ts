import type { Pool } from 'pg';
import type { PostgresAddress } from './address.ts';
import { connectPool } from './connect.ts';

/** Pages and all that is small; and searches apart from them, so that these never hold them up. */
export type Lane = 'pages' | 'searches';

/** The connections by which a process reads from a server. */
export interface Lanes extends Readonly<Record<Lane, Pool>> {
  end(): Promise<void>;
}

export function connectLanes(address: PostgresAddress): Lanes {
  const most = Math.max(1, Math.floor(address.connections / 3));
  const searches = connectPool(address, { most, pipeline: true });
  const pages = connectPool(address, { most: address.connections - most, pipeline: true });
  const end = async (): Promise<void> => {
    await Promise.all([pages.end(), searches.end()]);
  };
  return { pages, searches, end };
}
