/**
 * A market that continues: what happens next is drawn from what its store holds, and stored as an import would store
 * it. The number of listings stays about what the market was made with: as many come as go, and what has been over for
 * the longest time leaves. Knows neither what the store is nor when it is called.
 */

import { drawPhone } from '../contacts.ts';
import type { Market } from '../market.ts';
import type { Random } from '../random.ts';
import { childrenOf, type ImportRecord, textOf } from '../records.ts';
import type { FieldValues } from '../values.ts';
import { Census } from './census.ts';
import { type EventKind, nextEvent } from './listing-events.ts';

type LiveResource = 'Property' | 'Member' | 'Office';

/** The store of a market. Records are whole, as an import takes them. */
export interface MarketStore {
  /** All records of a resource in key order, without what is under them. */
  all(resource: 'Property' | 'Member'): AsyncIterable<FieldValues>;
  read(resource: LiveResource, key: string): Promise<FieldValues | undefined>;
  /** What is under a listing. */
  children(resource: 'Media' | 'OpenHouse', listing: string): Promise<readonly FieldValues[]>;
  /** @throws when a record is not stored */
  write(resource: LiveResource, records: readonly ImportRecord[]): Promise<void>;
  remove(resource: LiveResource, keys: readonly string[]): Promise<void>;
}

type ChangeKind =
  | EventKind
  | 'new listing'
  | 'listing removed'
  | 'agent joined'
  | 'agent left'
  | 'agent removed'
  | 'office phone changed';

/** One change, with the record that is stored because of it; without one the record is removed. */
export interface Change {
  readonly kind: ChangeKind;
  readonly resource: LiveResource;
  readonly key: string;
  readonly record?: ImportRecord;
  /** For a reader: what became of what. */
  readonly text: string;
}

/** How many of a market's listings are open; the others are over. */
const OPEN_SHARE = 0.68;
/** How often what happens, per hundred changes, when the market is as large as it was made. */
const WEIGHTS = { listing: 80, come: 8, go: 8, agents: 4 } as const;
/** A draw that meets a record of the same batch, or one that has gone, is repeated so often. */
const TRIES = 20;

/** More than 1 where there is less than there should be, and much more the further it is off. */
const pull = (wanted: number, there: number): number => Math.min(20, (wanted / Math.max(1, there)) ** 8);

/** What is under a listing, and where it stands in the record. */
const SUB_RESOURCES = { Media: 'Media', OpenHouses: 'OpenHouse' } as const;

export class LiveMarket {
  readonly #market: Market;
  readonly #store: MarketStore;
  readonly #random: Random;
  #census: Census;

  constructor(market: Market, store: MarketStore, random: Random) {
    this.#market = market;
    this.#store = store;
    this.#random = random;
    this.#census = this.#newCensus();
  }

  get open(): number {
    return this.#census.open;
  }

  get over(): number {
    return this.#census.over;
  }

  #newCensus(): Census {
    return new Census({ listing: this.#market.listings, member: this.#market.members });
  }

  /** Learns what the store holds: at the beginning, and after a change that was not stored. */
  async learn(): Promise<void> {
    const census = this.#newCensus();
    for await (const record of this.#store.all('Member')) census.noteAgent(record);
    for await (const record of this.#store.all('Property')) census.noteListing(record);
    census.sortEnded();
    this.#census = census;
  }

  /**
   * Draws changes and stores them, no record twice.
   * @param now milliseconds since 1970
   * @returns what was changed; fewer where the market has not so many records that could change
   */
  async change(count: number, now: number): Promise<readonly Change[]> {
    const changes = new Map<string, Change>();
    for (let tries = 0; changes.size < count && tries < TRIES; tries++) {
      const change = await this.#draw(now, (key) => changes.has(key));
      if (change === undefined) continue;
      tries = -1;
      changes.set(change.key, change);
      this.#note(change);
    }
    const all = [...changes.values()];
    // Agents come before the listings that name them, and go after these.
    for (const resource of ['Office', 'Member', 'Property'] as const) {
      const records = all.flatMap((each) =>
        each.resource === resource && each.record !== undefined ? [each.record] : [],
      );
      if (records.length > 0) await this.#store.write(resource, records);
    }
    for (const resource of ['Property', 'Member'] as const) {
      const gone = all.filter((each) => each.resource === resource && each.record === undefined);
      if (gone.length > 0)
        await this.#store.remove(
          resource,
          gone.map(({ key }) => key),
        );
    }
    return all;
  }

  #note({ resource, key, record }: Change): void {
    const census = this.#census;
    if (resource === 'Property') {
      if (record === undefined) census.forgetListing(key);
      else census.noteListing(record);
    } else if (resource === 'Member') {
      if (record === undefined) census.forgetAgent(key);
      else census.noteAgent(record);
    }
  }

  async #draw(now: number, taken: (key: string) => boolean): Promise<Change | undefined> {
    const census = this.#census;
    const wanted = this.#market.listings;
    const kind = this.#random.weighted([
      ['listing', WEIGHTS.listing],
      ['come', WEIGHTS.come * pull(wanted * OPEN_SHARE, census.open)],
      ['go', census.over === 0 ? 0 : WEIGHTS.go * pull(census.over, wanted * (1 - OPEN_SHARE))],
      ['agents', WEIGHTS.agents],
    ] as const);
    switch (kind) {
      case 'listing':
        return this.#changeListing(now, taken);
      case 'come':
        return this.#newListing(now);
      case 'go':
        return this.#oldListing(taken);
      case 'agents':
        return this.#changeAgents(now, taken);
    }
  }

  async #changeListing(now: number, taken: (key: string) => boolean): Promise<Change | undefined> {
    const key = this.#census.drawOpen(this.#random);
    if (key === undefined || taken(key)) return undefined;
    const before = await this.#listing(key);
    if (before === undefined) {
      this.#census.forgetListing(key); // somebody else has removed it
      return undefined;
    }
    const agentKey = textOf(before, 'ListAgentKey');
    const agent =
      agentKey === undefined || taken(agentKey) ? undefined : await this.#store.read('Member', agentKey);
    const event = nextEvent(this.#random, before, { agent, now: new Date(now) });
    if (event === undefined) return undefined;
    const { kind, record } = event;
    if (event.resource === 'Member' && agentKey !== undefined)
      return { kind, resource: 'Member', key: agentKey, record, text: agentText(kind, record) };
    return {
      kind,
      resource: 'Property',
      key,
      record: withoutUnchanged(before, record),
      text: `${textOf(record, 'ListingId')}: ${listingText(kind, before, record)}`,
    };
  }

  /** A listing with those of its children that change. */
  async #listing(key: string): Promise<ImportRecord | undefined> {
    const fields = await this.#store.read('Property', key);
    if (fields === undefined) return undefined;
    const Media = await this.#store.children('Media', key);
    const OpenHouses = await this.#store.children('OpenHouse', key);
    const inOrder = Media.toSorted((a, b) => Number(a.Order) - Number(b.Order));
    return { ...fields, Media: inOrder, OpenHouses };
  }

  async #newListing(now: number): Promise<Change | undefined> {
    const census = this.#census;
    const drawn = this.#market.freshListing(census.takeListingSerial(), now);
    const record = await this.#withSellers(drawn);
    const key = textOf(record, 'ListingKey') ?? '';
    const where = `${textOf(record, 'PropertySubType')} in ${textOf(record, 'City')}`;
    return {
      kind: 'new listing',
      resource: 'Property',
      key,
      record,
      text: `${textOf(record, 'ListingId')}: new, ${where}, ${money(record.ListPrice)}`,
    };
  }

  /** A listing is sold by agents who are there: others stand in for those who have left meanwhile. */
  async #withSellers(listing: ImportRecord): Promise<ImportRecord> {
    const known = (link: string): boolean => this.#census.isWorking(textOf(listing, link) ?? '');
    const alone: ImportRecord = known('CoListAgentKey')
      ? listing
      : { ...listing, CoListAgentKey: null, CoListOfficeKey: null };
    if (known('ListAgentKey')) return alone;
    const key = this.#census.drawWorking(this.#random, textOf(listing, 'OriginatingSystemID') ?? '');
    const agent = key === undefined ? undefined : await this.#store.read('Member', key);
    return { ...alone, ListAgentKey: key ?? null, ListOfficeKey: agent?.OfficeKey ?? null };
  }

  async #oldListing(taken: (key: string) => boolean): Promise<Change | undefined> {
    const key = this.#census.takeOldest(taken);
    if (key === undefined) return undefined;
    const fields = await this.#store.read('Property', key);
    if (fields === undefined) {
      this.#census.forgetListing(key);
      return undefined;
    }
    const id = `${fields.ListingId}`;
    return {
      kind: 'listing removed',
      resource: 'Property',
      key,
      text: `${id}: removed, ${fields.StandardStatus} since ${fields.ContractStatusChangeDate}`,
    };
  }

  async #changeAgents(now: number, taken: (key: string) => boolean): Promise<Change | undefined> {
    const random = this.#random;
    const census = this.#census;
    const gone = census.drawForgotten(random);
    if (gone !== undefined && !taken(gone)) {
      const name = agentName(await this.#store.read('Member', gone));
      return { kind: 'agent removed', resource: 'Member', key: gone, text: `${name}: removed` };
    }
    const kind = random.weighted([
      ['joins', 3 * pull(this.#market.members, census.agents)],
      ['leaves', 3],
      ['office', 2],
    ] as const);
    switch (kind) {
      case 'joins': {
        const record = this.#market.freshMember(census.takeMemberSerial(), now);
        const key = String(record.MemberKey);
        return {
          kind: 'agent joined',
          resource: 'Member',
          key,
          record,
          text: `${agentName(record)}: joined`,
        };
      }
      case 'leaves': {
        const key = census.drawAnyWorking(random);
        if (key === undefined || taken(key) || !census.mayLeave(key)) return undefined;
        const member = await this.#store.read('Member', key);
        if (member === undefined) return undefined;
        const record = { ...member, MemberStatus: 'Inactive', MemberMlsAccessYN: false };
        return { kind: 'agent left', resource: 'Member', key, record, text: `${agentName(member)}: left` };
      }
      case 'office': {
        const serial = random.integer(0, this.#market.offices - 1);
        const key = String(this.#market.office(serial).OfficeKey);
        const office = taken(key) ? undefined : await this.#store.read('Office', key);
        if (office === undefined) return undefined;
        const record = { ...office, OfficePhone: drawPhone(random) };
        const text = `${office.OfficeName}: phone ${record.OfficePhone}`;
        return { kind: 'office phone changed', resource: 'Office', key, record, text };
      }
    }
  }
}

/** Children that did not change are omitted, so that they are neither read nor compared again. */
function withoutUnchanged(before: ImportRecord, after: ImportRecord): ImportRecord {
  const same = Object.keys(SUB_RESOURCES).filter((name) => before[name] === after[name]);
  return Object.fromEntries(Object.entries(after).filter(([name]) => !same.includes(name)));
}

const agentName = (member: FieldValues | undefined): string => `agent ${member?.MemberFullName ?? ''}`.trim();

function agentText(kind: EventKind, record: ImportRecord): string {
  const phone = kind === 'agent phone changed' ? `phone ${textOf(record, 'MemberMobilePhone')}` : kind;
  return `agent ${textOf(record, 'MemberFullName')}: ${phone}`;
}

const money = (value: ImportRecord[string] | undefined): string =>
  typeof value === 'number' ? `$${value.toLocaleString('en-US')}` : 'no price';

function listingText(kind: EventKind, before: ImportRecord, after: ImportRecord): string {
  switch (kind) {
    case 'price change':
      return `price ${money(before.ListPrice)} → ${money(after.ListPrice)}`;
    case 'status move':
      return `${textOf(before, 'StandardStatus')} → ${textOf(after, 'StandardStatus')}`;
    case 'photo added':
    case 'photo removed':
      return `${kind}, ${after.PhotosCount} now`;
    case 'open house added':
    case 'open house canceled':
      return `${kind}, ${childrenOf(after, 'OpenHouses').length} to come`;
    case 'agent phone changed':
      return kind;
  }
}
