import { setTimeout } from 'node:timers/promises';
import { PlatError, platError } from '../../../errors/index.ts';
import type { Lane } from '../../../store/lanes.ts';
import type { ReadStoreState } from '../../../store/store.ts';
import type { PostgresAddress } from '../connection/address.ts';
import { connectLanes, type Lanes, PATIENCE, type Patience } from '../connection/connect.ts';
import { isGone } from '../connection/errors.ts';
import { withSession } from '../connection/session.ts';

/** What a reading must see at least: what the primary server showed when the request came. */
interface Needed {
  readonly changes: number;
  readonly generation: number;
}

/** A snapshot of a server, which says what it sees of the store. */
interface Followed {
  readonly seen: { readonly state: Needed; readonly follows: boolean };
}

/** A streaming standby of the primary server. */
interface ReadServer {
  readonly name: string;
  readonly lanes: Lanes;
  /** The changes that it has shown; they only grow. */
  changes: number;
  /** When it was omitted, on a clock that only runs forward; undefined while it is asked. */
  leftOut: number | undefined;
  /** A look at how far it is, which all who wait for it share. */
  looking: Promise<void> | undefined;
  reads: number;
}

/** How often a server is looked at while a reading waits for it, and while it is omitted; milliseconds. */
const LOOK_EVERY = 5;
const LOOK_AGAIN = 1000;

const LOOK = `SELECT (SELECT value FROM plat_meta WHERE name = 'changes') AS changes,
  (SELECT value FROM plat_meta WHERE name = 'secret') AS secret, pg_is_in_recovery() AS follows`;

/**
 * The servers that are read from instead of the primary one. Each request first learns from the primary how many
 * changes there are, and a server is only read from once its snapshot shows as many: so no answer is older than one
 * from the primary would have been, whichever server and process gives it.
 */
export class ReadServers {
  readonly #servers: readonly ReadServer[];
  readonly #lag: number;
  readonly #secret: string;

  /**
   * @param lag how long a reading waits for a server that is behind, in milliseconds
   * @param secret of the store, by which its copies are known
   */
  constructor(
    addresses: readonly PostgresAddress[],
    lag: number,
    secret: string,
    patience: Patience = PATIENCE,
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

  /** Looks at each server once. @throws PlatError `usage` when one holds another store */
  async open(): Promise<void> {
    const looks = await Promise.allSettled(this.#servers.map((server) => this.#look(server)));
    for (const [index, look] of looks.entries()) {
      const server = this.#servers[index];
      if (server === undefined || look.status === 'fulfilled') continue;
      if (look.reason instanceof NoCopy) {
        throw platError('usage', {
          reason: `readStores names ${server.name}, which is not a copy of this store.`,
        });
      }
      server.leftOut = performance.now();
    }
  }

  get any(): boolean {
    return this.#servers.length > 0;
  }

  state(): readonly ReadStoreState[] {
    return this.#servers.map(({ name, leftOut, reads }) => ({ name, used: leftOut === undefined, reads }));
  }

  /**
   * Reads from a server that is far enough.
   * @returns undefined if there is none: then the primary is to be read
   */
  async read<S extends Followed>(
    lane: Lane,
    needed: Needed,
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
        // Another server answers at this address than the one that was looked at, or it was promoted: then its changes
        // are its own, and their number tells nothing.
        server.changes = changes;
        if (!follows) server.leftOut = performance.now();
      } catch (error) {
        if (isOverloaded(error)) continue;
        if (!isGone(error)) throw error;
        server.leftOut = performance.now();
      }
    }
    return undefined;
  }

  async end(): Promise<void> {
    await Promise.all(this.#servers.map(({ lanes }) => lanes.end()));
  }

  /** Those that are known to be far enough first, and of these the least busy. */
  #inTurn(lane: Lane, needed: Needed): readonly ReadServer[] {
    const load = ({ lanes: { [lane]: pool } }: ReadServer): number =>
      pool.waiting + pool.totalCount - pool.idleCount;
    const isBehind = ({ changes }: ReadServer): number => (changes < needed.changes ? 1 : 0);
    return this.#servers.toSorted(
      (left, right) => isBehind(left) - isBehind(right) || load(left) - load(right),
    );
  }

  /** Whether a server is as far as needed; one that soon will be is waited for. */
  async #reaches(server: ReadServer, { changes }: Needed): Promise<boolean> {
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
      if (server.changes < changes) await setTimeout(Math.min(LOOK_EVERY, left));
    }
    return true;
  }

  /** A server that was omitted is asked again once it keeps up. */
  #lookForReturn(server: ReadServer, changes: number): void {
    if (server.leftOut === undefined || performance.now() - server.leftOut < LOOK_AGAIN) return;
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
    const [row] = await withSession(server.lanes.small, ({ rows }) => rows(LOOK, []));
    if (row?.secret !== this.#secret) throw new NoCopy();
    server.changes = row.follows === true ? Number(row.changes ?? 0) : -1;
  }
}

/** All connections to the server are in use; others may have free ones. */
const isOverloaded = (error: unknown): boolean => error instanceof PlatError && error.code === 'overloaded';

/** A server that answers, but holds another store. */
class NoCopy extends Error {}
