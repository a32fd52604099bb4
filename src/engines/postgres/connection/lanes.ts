import type { Pool } from 'pg';
import { platError } from '../../../errors/index.ts';
import { FairQueue } from '../../../shared/fair-queue.ts';
import type { Lane } from '../../../store/lanes.ts';
import type { PostgresAddress } from './address.ts';
import { connectPool, endPool, type Patience } from './connect.ts';

/** The connections by which a process reads from a server. */
export interface Lanes extends Readonly<Record<Lane, Pool>> {
  /** Who may keep the server at work: absent for what is soon done. */
  readonly work: Readonly<Partial<Record<Lane, FairQueue>>>;
  /** For the reads of every request: a page that is being read holds its connection, and must not wait for another. */
  readonly small: Pool;
  /** Opens one connection of each, which stays: none is then without, when the server has no more to give. */
  warm(): Promise<void>;
  end(): Promise<void>;
}

/** Small statements take no longer than the way to the server and back, so a few connections do for thousands a second. */
const SMALL = 4;
const RECORDS = 4;

/** The number of requests that may wait for the server; more are rejected, so that clients retry later. */
const LONGEST_QUEUE = 500;

/**
 * Turns at the processors of a server: as many as it has, and half of them for one name, so that what is soon done never
 * waits for a processor that one name keeps busy.
 */
function turnsAt(processors: number, patience: number): FairQueue {
  const alone = Math.max(1, Math.floor(processors / 2));
  return new FairQueue({
    turns: Math.max(2, processors),
    long: true,
    alone,
    waiting: LONGEST_QUEUE,
    patience,
  });
}

export function connectLanes(address: PostgresAddress, { small, large, connect }: Patience): Lanes {
  const most = Math.max(1, Math.floor(address.connections / 3));
  const lane = (connections: number, statement: number): Pool =>
    connectPool(address, { least: 1, most: connections, pipeline: true, statement, connect });
  const pools = {
    records: lane(RECORDS, large),
    pages: lane(address.connections - most, large),
    searches: lane(most, large),
    small: lane(SMALL, small),
  };
  const turns = turnsAt(address.processors, connect);
  const end = async (): Promise<void> => {
    turns.close(() => platError('storeUnavailable', {}));
    await Promise.all(Object.values(pools).map(endPool));
  };
  const warm = async (): Promise<void> => {
    // What cannot be opened now is opened when it is needed.
    await Promise.allSettled(Object.values(pools).map(async (pool) => (await pool.connect()).release()));
  };
  return { ...pools, work: { pages: turns, searches: turns }, warm, end };
}
