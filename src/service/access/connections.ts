/**
 * Limits the number of connections of a service by their owners. A connection belongs to a stranger until a key has been used on
 * it. If there are too many connections, an idle one of a stranger is closed, so that strangers never shut out keys, and no key
 * shuts out the others. This module must not know what a connection is.
 */
import { networkOf } from '../../shared/ip-address.ts';

export interface ConnectionLimits {
  /** The maximum number of connections of all public surfaces. */
  readonly total: number;
  /** The maximum number of these from one address on which no key has been used. */
  readonly perAddress: number;
  /** The time limit for receiving a complete request, from its first byte or the start of the connection. */
  readonly requestSeconds: number;
  /** How long a connection may be idle between two requests. */
  readonly idleSeconds: number;
}

/** The limit that was reached. */
export type Bound = 'total' | 'address';

export interface Connection {
  /** Begins a request. @returns a function that ends it, which takes the key of the request, if it is known */
  beginRequest(): (key: string | undefined) => void;
  /** Attributes the connection to a key, because it carries an endless response to it. */
  attributeTo(key: string): void;
  handleClose(): void;
}

interface Entry {
  /** `key …`, or the network of a stranger. */
  owner: string;
  isStranger: boolean;
  requests: number;
  isOpen: boolean;
  readonly close: () => void;
}

export class Connections {
  readonly #limits: Pick<ConnectionLimits, 'total' | 'perAddress'>;
  readonly #closed: (why: Bound) => void;
  /** The connections of each owner, the one that has been idle longest first. */
  readonly #strangers = new Map<string, Set<Entry>>();
  readonly #keys = new Map<string, Set<Entry>>();
  #size = 0;

  /** @param closed called for each connection that was closed or not accepted */
  constructor(limits: Pick<ConnectionLimits, 'total' | 'perAddress'>, closed: (why: Bound) => void) {
    this.#limits = limits;
    this.#closed = closed;
  }

  get size(): number {
    return this.#size;
  }

  /** Connections on which no key has been used. */
  get strangers(): number {
    return this.#strangers.values().reduce((sum, { size }) => sum + size, 0);
  }

  /**
   * Accepts a connection, and closes another one if there are too many.
   * @param close closes the accepted connection at once
   * @returns undefined if the connection cannot be accepted, because all others have requests in progress
   */
  open(address: string, close: () => void): Connection | undefined {
    const owner = networkOf(address);
    if ((this.#strangers.get(owner)?.size ?? 0) >= this.#limits.perAddress) {
      this.#closed('address');
      if (!this.#closeIdle(this.#strangers.get(owner))) return undefined;
    }
    if (this.#size >= this.#limits.total) {
      this.#closed('total');
      const closed = this.#closeIdle(largest(this.#strangers)) || this.#closeIdle(largest(this.#keys));
      if (!closed) return undefined;
    }
    const entry: Entry = { owner, isStranger: true, requests: 0, isOpen: true, close };
    this.#add(entry);
    return {
      beginRequest: () => {
        entry.requests++;
        let runs = true;
        return (key) => {
          if (!runs) return;
          runs = false;
          entry.requests--;
          this.#move(entry, key);
        };
      },
      attributeTo: (key) => this.#move(entry, key),
      handleClose: () => this.#end(entry),
    };
  }

  /** Closes all idle connections, when a service shuts down. */
  closeIdle(): void {
    for (const owners of [this.#strangers, this.#keys]) {
      for (const entries of owners.values()) while (this.#closeIdle(entries));
    }
  }

  #of({ isStranger }: Entry): Map<string, Set<Entry>> {
    return isStranger ? this.#strangers : this.#keys;
  }

  #add(entry: Entry): void {
    this.#of(entry)
      .getOrInsertComputed(entry.owner, () => new Set())
      .add(entry);
    this.#size++;
  }

  #remove(entry: Entry): void {
    const owners = this.#of(entry);
    const entries = owners.get(entry.owner);
    entries?.delete(entry);
    this.#size--;
    if (entries?.size === 0) owners.delete(entry.owner);
  }

  /** Moves a connection to the end of its owner's connections. */
  #move(entry: Entry, key: string | undefined): void {
    if (!entry.isOpen) return;
    const siblings = key === undefined || key === entry.owner ? this.#of(entry).get(entry.owner) : undefined;
    if (siblings !== undefined) {
      siblings.delete(entry);
      siblings.add(entry);
      return;
    }
    this.#remove(entry);
    if (key !== undefined) Object.assign(entry, { owner: key, isStranger: false });
    this.#add(entry);
  }

  #end(entry: Entry): void {
    if (entry.isOpen) this.#remove(entry);
    entry.isOpen = false;
  }

  /** Closes the connection of an owner that has been idle longest. @returns whether an idle one was found */
  #closeIdle(entries: Set<Entry> | undefined): boolean {
    for (const entry of entries ?? []) {
      if (entry.requests > 0) continue;
      this.#end(entry);
      entry.close();
      return true;
    }
    return false;
  }
}

/** The connections of the owner that has the most. */
function largest(owners: Map<string, Set<Entry>>): Set<Entry> | undefined {
  let most: Set<Entry> | undefined;
  for (const entries of owners.values()) if (entries.size > (most?.size ?? 0)) most = entries;
  return most;
}
