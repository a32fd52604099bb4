/**
 * How many connections a service has, and whose. A connection is a stranger's until a key has asked on it. Where there
 * are too many, a stranger's is closed that asks nothing, so that strangers never shut keys out, nor one key the others.
 * It must not know what a connection is.
 */
export interface ConnectionLimits {
  /** Connections of all public surfaces. */
  readonly total: number;
  /** Of those, connections of one address on which no key has asked. */
  readonly perAddress: number;
  /** For a request to arrive whole, from its first byte or the beginning of the connection. */
  readonly requestSeconds: number;
  /** For which a connection may be silent between two requests. */
  readonly idleSeconds: number;
}

/** Which bound was met. */
export type Bound = 'total' | 'address';

/** One connection, until it ends. */
export interface Connection {
  /** A request came. @returns ends it, and says whose it was: a key's, if it had a known one */
  begin(): (key: string | undefined) => void;
  ended(): void;
}

interface Entry {
  /** `key …`, or the name of a stranger's network. */
  owner: string;
  isStranger: boolean;
  requests: number;
  isOpen: boolean;
  readonly close: () => void;
}

/** Networks of strangers: an address of IPv4, or the half of one of IPv6 that a network has to itself. */
export function networkOf(address: string): string {
  const mapped = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (!mapped.includes(':')) return mapped;
  const [left = '', right] = mapped.replace(/%.*/, '').split('::');
  const groups = (text: string | undefined): string[] => (text ? text.split(':') : []);
  const known = [...groups(left), ...groups(right)].length;
  const middle = right === undefined ? [] : Array<string>(Math.max(0, 8 - known)).fill('0');
  return [...groups(left), ...middle, ...groups(right)].slice(0, 4).join(':');
}

export class Connections {
  readonly #limits: Pick<ConnectionLimits, 'total' | 'perAddress'>;
  readonly #closed: (why: Bound) => void;
  /** By owner; of each, the one first that has asked nothing for the longest time. */
  readonly #strangers = new Map<string, Set<Entry>>();
  readonly #keys = new Map<string, Set<Entry>>();
  #size = 0;

  /** @param closed told of each connection that was closed, or not taken */
  constructor(limits: Pick<ConnectionLimits, 'total' | 'perAddress'>, closed: (why: Bound) => void) {
    this.#limits = limits;
    this.#closed = closed;
  }

  get size(): number {
    return this.#size;
  }

  /** Connections on which no key has asked. */
  get strangers(): number {
    return this.#strangers.values().reduce((sum, { size }) => sum + size, 0);
  }

  /**
   * Takes a connection in, and closes another where there are too many.
   * @param close ends it, now
   * @returns undefined when it cannot be taken, since all others are at work
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
      begin: () => {
        entry.requests++;
        let runs = true;
        return (key) => {
          if (!runs) return;
          runs = false;
          entry.requests--;
          if (!entry.isOpen) return;
          this.#remove(entry);
          if (key !== undefined) Object.assign(entry, { owner: key, isStranger: false });
          this.#add(entry);
        };
      },
      ended: () => this.#end(entry),
    };
  }

  /** Closes all that have no request under way, as a service does that ends. */
  closeIdle(): void {
    for (const owners of [this.#strangers, this.#keys]) {
      for (const entries of owners.values()) while (this.#closeIdle(entries));
    }
  }

  #of({ isStranger }: Entry): Map<string, Set<Entry>> {
    return isStranger ? this.#strangers : this.#keys;
  }

  #add(entry: Entry): void {
    const owners = this.#of(entry);
    const entries = owners.get(entry.owner) ?? new Set();
    owners.set(entry.owner, entries.add(entry));
    this.#size++;
  }

  #remove(entry: Entry): void {
    const owners = this.#of(entry);
    const entries = owners.get(entry.owner);
    entries?.delete(entry);
    this.#size--;
    if (entries?.size === 0) owners.delete(entry.owner);
  }

  #end(entry: Entry): void {
    if (entry.isOpen) this.#remove(entry);
    entry.isOpen = false;
  }

  /** Closes the connection of an owner that has asked nothing for the longest time. @returns whether there was one */
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
