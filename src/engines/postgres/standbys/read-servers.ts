import { setTimeout } from 'node:timers/promises';
import { PlatError, usageError } from '../../../errors/index.ts';
import type { Lane } from '../../../store/read/lanes.ts';
import type { ReadStoreState } from '../../../store/store.ts';
import type { PostgresAddress } from '../connection/address.ts';
import { connectLanes, type Lanes, TIMEOUTS, type Timeouts } from '../connection/connect.ts';
import { mayRetryElsewhere } from '../connection/errors.ts';
import { withSession } from '../connection/session.ts';

/** The minimum state that a read must see: the one that the primary showed when the request arrived. */
interface RequiredState {
  readonly changes: number;
  readonly generation: number;
}

/** A snapshot of a server, with the state of the store in it. */
interface StandbySnapshot {
  readonly seen: { readonly state: RequiredState; readonly follows: boolean };
}

/** A streaming standby of the primary server. */
interface ReadServer {
  readonly name: string;
  readonly lanes: Lanes;
  /** The number of changes that the server has shown, which only increases. */
  changes: number;
  /** When the server was taken out of use, on a monotonic clock; undefined while it is in use. */
  leftOut: number | undefined;
  /** The running query of the server's position, which all waiting reads share. */
  looking: Promise<void> | undefined;
  reads: number;
}

/** How often a standby's position is queried while a read waits for it, and while it is out of use, in milliseconds. */
const POLL_INTERVAL = 5;
const RECHECK_INTERVAL = 1000;

const SELECT_POSITION = `SELECT (SELECT value FROM plat_meta WHERE name = 'changes') AS changes,
  (SELECT value FROM plat_meta WHERE name = 'secret') AS secret, pg_is_in_recovery() AS follows`;

/**
 * The standbys that serve reads instead of the primary. Each request first learns the number of changes from the primary, and reads
 * from a standby only once the standby's snapshot shows as many. No response is therefore older than one from the primary would
 * have been, whichever server and process provides it.
 */
export class ReadServers {
  readonly #servers: readonly ReadServer[];
  readonly #lag: number;
  readonly #secret: string;

  /**
   * @param lag how long a read waits for a lagging standby, in milliseconds
   * @param secret the secret of the store, which identifies its copies
   */
  constructor(
    addresses: readonly PostgresAddress[],
    lag: number,
    secret: string,
    patience: Timeouts = TIMEOUTS,
  ) {
    this.#lag = lag;
    this.#secret = secret;
    this.#servers = addresses.map((address) => ({
      name: address.name,
      lanes: connectLanes(address, patience),
      changes: -1,
      leftOut: undefined,
      looking: undefined,
      reads: 0,
    }));
  }

  /** Queries each server once. @throws PlatError `usage` if one has another store */
  async open(): Promise<void> {
    const opened = async (server: ReadServer): Promise<void> => {
      try {
        await this.#look(server);
      } catch (error) {
        const reason = `readStores names ${server.name}, which is not a copy of this store.`;
        if (error instanceof NoCopy) throw usageError(reason);
        server.leftOut = performance.now();
      }
    };
    await Promise.all(this.#servers.map(opened));
  }

  get any(): boolean {
    return this.#servers.length > 0;
  }

  state(): readonly ReadStoreState[] {
    return this.#servers.map(({ name, leftOut, reads }) => ({ name, used: leftOut === undefined, reads }));
  }

  /** Reads from a standby that has caught up; undefined if there is none, so that the primary must be read. */
  async read<S extends StandbySnapshot>(
    lane: Lane,
    needed: RequiredState,
    attempt: (lanes: Lanes) => Promise<S>,
  ): Promise<S | undefined> {
    for (const server of this.#inTurn(lane, needed)) {
      if (!(await this.#reaches(server, needed))) continue;
      try {
        const snapshot = await attempt(server.lanes);
        const { follows } = snapshot.seen;
        const { changes, generation } = snapshot.seen.state;
        if (follows && changes >= needed.changes && generation >= needed.generation) {
          server.reads++;
          return snapshot;
        }
        // The address leads to another server, or the standby was promoted: its number of changes is then meaningless.
        server.changes = changes;
        if (!follows) server.leftOut = performance.now();
      } catch (error) {
        if (isOverloaded(error)) continue;
        if (!mayRetryElsewhere(error)) throw error;
        server.leftOut = performance.now();
      }
    }
    return undefined;
  }

  async end(): Promise<void> {
    await Promise.all(this.#servers.map(({ lanes }) => lanes.end()));
  }

  /** Standbys that are known to have caught up come first; in both groups, the least busy first. */
  #inTurn(lane: Lane, needed: RequiredState): readonly ReadServer[] {
    const load = ({ lanes: { [lane]: pool } }: ReadServer): number =>
      pool.waiting + pool.totalCount - pool.idleCount;
    const isBehind = ({ changes }: ReadServer): number => (changes < needed.changes ? 1 : 0);
    return this.#servers.toSorted(
      (left, right) => isBehind(left) - isBehind(right) || load(left) - load(right),
    );
  }

  /** Whether a standby has caught up; waits for one that soon will have. */
  async #reaches(server: ReadServer, { changes }: RequiredState): Promise<boolean> {
    if (server.leftOut !== undefined) {
      this.#lookForReturn(server, changes);
      return false;
    }
    if (await this.#catchesUp(server, changes)) return true;
    server.leftOut = performance.now();
    return false;
  }

  async #catchesUp(server: ReadServer, changes: number): Promise<boolean> {
    const deadline = performance.now() + this.#lag;
    while (server.changes < changes) {
      const left = deadline - performance.now();
      if (left <= 0) return false;
      try {
        await Promise.race([this.#look(server), setTimeout(left, undefined, { ref: false })]);
      } catch {
        return false;
      }
      if (server.changes < changes) await setTimeout(Math.min(POLL_INTERVAL, left));
    }
    return true;
  }

  /** Checks whether a standby that is out of use has caught up. */
  #lookForReturn(server: ReadServer, changes: number): void {
    if (server.leftOut === undefined || performance.now() - server.leftOut < RECHECK_INTERVAL) return;
    server.leftOut = performance.now();
    server.changes = -1;
    void this.#catchesUp(server, changes).then((caughtUp) => {
      if (caughtUp) server.leftOut = undefined;
    });
  }

  #look(server: ReadServer): Promise<void> {
    server.looking ??= this.#lookNow(server).finally(() => {
      server.looking = undefined;
    });
    return server.looking;
  }

  async #lookNow(server: ReadServer): Promise<void> {
    const [row] = await withSession(server.lanes.small, ({ rows }) => rows(SELECT_POSITION, []));
    if (row?.secret !== this.#secret) throw new NoCopy();
    server.changes = row.follows === true ? Number(row.changes ?? 0) : -1;
  }
}

/** Whether all connections to the server are in use; others may have idle ones. */
const isOverloaded = (error: unknown): boolean => error instanceof PlatError && error.code === 'overloaded';

/** Thrown if a server responds but has another store. */
class NoCopy extends Error {}
