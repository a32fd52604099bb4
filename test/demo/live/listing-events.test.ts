import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeRandom } from 'plat-demo';
import {
  type EventKind,
  type MarketEvent,
  nextEvent,
} from '../../../packages/demo/src/live/listing-events.ts';
import { makeMarket } from '../../../packages/demo/src/market.ts';
import { childrenOf, type ImportRecord, numberOf, textOf } from '../../../packages/demo/src/records.ts';
import { faultsOf } from '../check-record.ts';

const market = makeMarket({ seed: 21, listings: 400 });
const NOW = Date.parse('2026-06-02T15:00:00Z');
const DAY = 86_400_000;

const agentOf = (listing: ImportRecord) => market.memberOf(textOf(listing, 'ListAgentKey') ?? '');

interface Step {
  readonly before: ImportRecord;
  readonly event: MarketEvent;
  readonly day: string;
}

/** The events of one listing over some days, one event a day. */
function live(serial: number, days: number): Step[] {
  const random = makeRandom(77, 'event', serial);
  let listing = market.listing(serial);
  const steps: Step[] = [];
  for (let day = 0; day < days; day++) {
    const now = new Date(NOW + day * DAY);
    const event = nextEvent(random, listing, { agent: agentOf(listing), now });
    if (event === undefined) break;
    steps.push({ before: listing, event, day: now.toISOString().slice(0, 10) });
    if (event.resource === 'Property') listing = event.record;
  }
  return steps;
}

const steps = Array.from({ length: 250 }, (_, serial) => live(serial, 14)).flat();
const of = (kind: EventKind): Step[] => steps.filter(({ event }) => event.kind === kind);

describe('the events of the market', () => {
  it('are the same for the same stream', () => assert.deepEqual(live(3, 10), live(3, 10)));

  it('are of every kind, and leave records that the dictionary allows', () => {
    const kinds = new Set(steps.map(({ event }) => event.kind));
    assert.deepEqual([...kinds].sort(), [
      'agent phone changed',
      'open house added',
      'open house canceled',
      'photo added',
      'photo removed',
      'price change',
      'status move',
    ]);
    const faults = steps.flatMap(({ event }) => faultsOf(event.resource, event.record));
    assert.deepEqual([...new Set(faults)].slice(0, 5), []);
  });

  it('change the price of active listings, and keep the previous one', () => {
    for (const { before, event } of of('price change')) {
      assert.ok(['Active', 'Coming Soon'].includes(textOf(before, 'StandardStatus') ?? ''));
      assert.equal(event.record.PreviousListPrice, before.ListPrice);
      assert.notEqual(event.record.ListPrice, before.ListPrice);
      const ratio = (numberOf(event.record, 'ListPrice') ?? 0) / (numberOf(before, 'ListPrice') ?? 1);
      assert.ok(ratio > 0.85 && ratio < 1.1, `the price became ${ratio} of what it was`);
      assert.equal(event.record.MajorChangeType, 'Price Change');
    }
  });

  it('change a status only to an allowed one, with the dates of the change', () => {
    const moves = new Set<string>();
    for (const { before, event, day } of of('status move')) {
      const { record } = event;
      moves.add(`${before.StandardStatus} > ${record.StandardStatus}`);
      assert.equal(record.ContractStatusChangeDate, day);
      assert.equal('CloseDate' in record, record.StandardStatus === 'Closed');
      if (record.StandardStatus === 'Closed') {
        assert.equal(record.CloseDate, day);
        assert.equal(record.BuyerAgentKey, record.ListAgentKey);
        assert.ok('PurchaseContractDate' in record && 'ClosePrice' in record);
      }
      if (record.StandardStatus === 'Active') {
        assert.ok(
          !('PurchaseContractDate' in record) &&
            !('OffMarketDate' in record) &&
            !('PendingTimestamp' in record),
        );
        assert.equal(
          record[before.StandardStatus === 'Coming Soon' ? 'OnMarketDate' : 'BackOnMarketDate'],
          day,
        );
      }
      assert.equal('ContingentDate' in record, record.StandardStatus === 'Active Under Contract');
    }
    const ends = [...moves].filter((move) => /^(Closed|Expired|Canceled) >/.test(move));
    assert.deepEqual(ends, []);
    for (const move of ['Active > Pending', 'Pending > Closed', 'Coming Soon > Active'])
      assert.ok(moves.has(move), move);
  });

  it('add and remove one photo, and keep the others in order', () => {
    for (const { before, event } of [...of('photo added'), ...of('photo removed')]) {
      const photos = (record: ImportRecord) =>
        childrenOf(record, 'Media').filter(({ MediaCategory }) => MediaCategory === 'Photo');
      const [old, now] = [photos(before), photos(event.record)];
      assert.equal(now.length - old.length, event.kind === 'photo added' ? 1 : -1);
      assert.equal(event.record.PhotosCount, now.length);
      assert.equal(
        new Set(childrenOf(event.record, 'Media').map(({ MediaKey }) => MediaKey)).size,
        childrenOf(event.record, 'Media').length,
      );
      assert.deepEqual(
        childrenOf(event.record, 'Media').map(({ Order }) => Order),
        childrenOf(event.record, 'Media').map((_, index) => index),
      );
      assert.equal(now.filter(({ PreferredPhotoYN }) => PreferredPhotoYN === true).length, 1);
      assert.deepEqual(event.record.Rooms, before.Rooms);
    }
  });

  it('add open houses on coming weekends, cancel one, and remove past ones', () => {
    const coming = (record: ImportRecord, day: string) =>
      childrenOf(record, 'OpenHouses').filter(({ OpenHouseDate }) => String(OpenHouseDate) >= day);
    for (const { before, event, day } of of('open house canceled')) {
      const [old, now] = [coming(before, day), childrenOf(event.record, 'OpenHouses')];
      assert.equal(now.length, old.length - 1);
      assert.ok(now.every((house) => old.includes(house)));
    }
    for (const { before, event, day } of of('open house added')) {
      const [old, now] = [coming(before, day), childrenOf(event.record, 'OpenHouses')];
      assert.deepEqual(now.slice(0, -1), old);
      assert.ok([0, 6].includes(new Date(String(now.at(-1)?.OpenHouseDate)).getUTCDay()));
      assert.ok(now.length <= 4);
      assert.ok(String(now.at(-1)?.OpenHouseDate) > day);
      assert.equal(new Set(now.map(({ OpenHouseKey }) => OpenHouseKey)).size, now.length);
    }
  });

  it('change only the phone of the listing agent', () => {
    for (const { before, event } of of('agent phone changed')) {
      assert.equal(event.resource, 'Member');
      const member = market.memberOf(textOf(before, 'ListAgentKey') ?? '');
      const { MemberMobilePhone, MemberPreferredPhone, ...rest } = event.record;
      assert.equal(MemberMobilePhone, MemberPreferredPhone);
      assert.deepEqual({ ...member, ...rest }, member);
    }
  });

  it('leave photos and open houses alone if the record does not contain them', () => {
    const random = makeRandom(5);
    const { Media, OpenHouses, ...bare } = market.listing(8);
    for (let round = 0; round < 200; round++) {
      const event = nextEvent(
        random,
        { ...bare, StandardStatus: 'Active' },
        { agent: agentOf(bare), now: new Date(NOW) },
      );
      assert.ok(
        event !== undefined && ['price change', 'status move', 'agent phone changed'].includes(event.kind),
      );
    }
  });

  it('end when no event is possible any more', () => {
    const over = { ListingKey: 'L', StandardStatus: 'Closed' };
    assert.equal(nextEvent(makeRandom(1), over, { agent: undefined, now: new Date(NOW) }), undefined);
  });
});
