/**
 * What a market that continues changing knows of its store: which listings are open, which are over and since when, and
 * which agents work for whom. It holds keys and counts; the records are read from the store when they change.
 */
import { serialOf } from '../keys.ts';
import type { Random } from '../random.ts';
import { type ImportRecord, textOf } from '../records.ts';
import { isOver, statusOf } from './listing-events.ts';
import { Pool } from './pool.ts';

/** The links of a listing to people. */
const AGENT_LINKS = ['ListAgentKey', 'CoListAgentKey', 'BuyerAgentKey', 'CoBuyerAgentKey'] as const;

interface KnownListing {
  readonly isOver: boolean;
  readonly seller: string | undefined;
  readonly agents: readonly string[];
}

interface KnownAgent {
  readonly isWorking: boolean;
  readonly isBroker: boolean;
  readonly system: string;
}

/** A listing that is over, and the day since which it is. */
interface Ended {
  readonly key: string;
  readonly since: string;
}

export class Census {
  readonly #listings = new Map<string, KnownListing>();
  readonly #open = new Pool();
  /** The longest over first; some of them have left meanwhile. */
  #ended: Ended[] = [];
  #over = 0;
  readonly #agents = new Map<string, KnownAgent>();
  readonly #working = new Map<string, Pool>();
  readonly #idle = new Pool();
  /** How many listings name an agent, and how many open ones an agent sells. */
  readonly #named = new Map<string, number>();
  readonly #selling = new Map<string, number>();
  #nextListing: number;
  #nextMember: number;

  /** @param next serials beyond those of the market as it was made */
  constructor(next: { readonly listing: number; readonly member: number }) {
    this.#nextListing = next.listing;
    this.#nextMember = next.member;
  }

  get open(): number {
    return this.#open.size;
  }

  get over(): number {
    return this.#over;
  }

  get agents(): number {
    return this.#agents.size;
  }

  takeListingSerial(): number {
    return this.#nextListing++;
  }

  takeMemberSerial(): number {
    return this.#nextMember++;
  }

  /** To be called once all records are noted: what is over is put in the order in which it leaves. */
  sortEnded(): void {
    this.#ended.sort((a, b) => (a.since === b.since ? (a.key < b.key ? -1 : 1) : a.since < b.since ? -1 : 1));
  }

  noteListing(record: ImportRecord): void {
    const key = textOf(record, 'ListingKey') ?? '';
    const before = this.#listings.get(key);
    this.#count(before, -1);
    const status = statusOf(record);
    const over = status !== undefined && isOver(status);
    const agents = AGENT_LINKS.flatMap((link) => textOf(record, link) ?? []);
    const known: KnownListing = { isOver: over, seller: textOf(record, 'ListAgentKey'), agents };
    this.#listings.set(key, known);
    this.#count(known, 1);
    if (over) {
      this.#open.delete(key);
      if (before?.isOver !== true) {
        this.#ended.push({ key, since: textOf(record, 'ContractStatusChangeDate') ?? '' });
      }
    } else this.#open.add(key);
    const serial = serialOf('listing', key);
    if (serial !== undefined) this.#nextListing = Math.max(this.#nextListing, serial + 1);
  }

  forgetListing(key: string): void {
    this.#count(this.#listings.get(key), -1);
    this.#listings.delete(key);
    this.#open.delete(key);
  }

  #count(listing: KnownListing | undefined, by: 1 | -1): void {
    if (listing === undefined) return;
    if (listing.isOver) this.#over += by;
    for (const agent of listing.agents) add(this.#named, agent, by);
    if (!listing.isOver && listing.seller !== undefined) add(this.#selling, listing.seller, by);
  }

  noteAgent(record: ImportRecord): void {
    const key = textOf(record, 'MemberKey') ?? '';
    const system = textOf(record, 'OriginatingSystemID') ?? '';
    const known: KnownAgent = {
      isWorking: record.MemberStatus === 'Active',
      isBroker: record.JobTitle === 'Broker',
      system,
    };
    this.forgetAgent(key);
    this.#agents.set(key, known);
    if (known.isWorking) {
      const pool = this.#working.get(system) ?? new Pool();
      this.#working.set(system, pool);
      pool.add(key);
    } else this.#idle.add(key);
    const serial = serialOf('member', key);
    if (serial !== undefined) this.#nextMember = Math.max(this.#nextMember, serial + 1);
  }

  forgetAgent(key: string): void {
    const known = this.#agents.get(key);
    if (known === undefined) return;
    this.#agents.delete(key);
    this.#working.get(known.system)?.delete(key);
    this.#idle.delete(key);
  }

  /** An open listing. */
  drawOpen(random: Random): string | undefined {
    return this.#open.draw(random);
  }

  /** The listing that has been over for the longest time, and may leave; it is not given again. */
  takeOldest(stays: (key: string) => boolean): string | undefined {
    // What was taken, or has left by itself, is dropped from the front.
    const first = this.#ended.findIndex(({ key }) => this.#listings.get(key)?.isOver === true);
    this.#ended.splice(0, first < 0 ? this.#ended.length : first);
    const place = this.#ended.findIndex(({ key }) => this.#listings.get(key)?.isOver === true && !stays(key));
    return this.#ended.splice(place, place < 0 ? 0 : 1)[0]?.key;
  }

  /** An agent of a system who works. */
  drawWorking(random: Random, system: string): string | undefined {
    return this.#working.get(system)?.draw(random);
  }

  /** An agent of any system who works. */
  drawAnyWorking(random: Random): string | undefined {
    return random.pick([...this.#working.values()]).draw(random);
  }

  /** Whether an agent could leave: no broker, and with nothing to sell. */
  mayLeave(key: string): boolean {
    return this.#agents.get(key)?.isBroker === false && !this.#selling.has(key);
  }

  /** An agent who has left, and whom no listing names any more. */
  drawForgotten(random: Random): string | undefined {
    const key = this.#idle.draw(random);
    return key !== undefined && !this.#named.has(key) ? key : undefined;
  }

  isWorking(key: string): boolean {
    return this.#agents.get(key)?.isWorking === true;
  }
}

function add(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
