import type { Pool } from 'pg';
import type { Lane } from '../../read-caller.ts';
import type { PostgresAddress } from './address.ts';
import { connectPool, type Patience } from './connect.ts';

/** The connections by which a process reads from a server. */
export interface Lanes extends Readonly<Record<Lane, Pool>> {
  /** For what every request asks beside: a page that is being sent holds its connection, and must not wait for another. */
  readonly small: Pool;
  /** Opens one connection of each, which stays: none is then without, when the server has no more to give. */
  warm(): Promise<void>;
  end(): Promise<void>;
}

/** Small statements take no longer than the way to the server and back, so a few connections do for thousands a second. */
const SMALL = 4;

export function connectLanes(address: PostgresAddress, { small, large, connect }: Patience): Lanes {
  const most = Math.max(1, Math.floor(address.connections / 3));
  const lane = (connections: number, statement: number): Pool =>
    connectPool(address, { least: 1, most: connections, pipeline: true, statement, connect });
  const pools = {
    pages: lane(address.connections - most, large),
    searches: lane(most, large),
    small: lane(SMALL, small),
  };
  const end = async (): Promise<void> => {
    await Promise.all(Object.values(pools).map((pool) => pool.end()));
  };
  const warm = async (): Promise<void> => {
    // What cannot be opened now is opened when it is needed.
    await Promise.allSettled(Object.values(pools).map(async (pool) => (await pool.connect()).release()));
  };
  return { ...pools, warm, end };
}
