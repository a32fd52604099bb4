import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AFTERWARDS, datedBatches } from '../../packages/demo/src/dated.ts';
import { DAY } from '../../packages/demo/src/dates.ts';
import { marketRecords, REFERENCE_DATE } from '../../packages/demo/src/market.ts';
import { textOf } from '../../packages/demo/src/records.ts';

const OPTIONS = { seed: 11, listings: 700 } as const;
const NOW = REFERENCE_DATE.getTime();
const batches = [...datedBatches(OPTIONS)];

describe('a market in chronological order', () => {
  it('has the same records as in the order of their keys', () => {
    const texts = (records: Iterable<object>): string[] =>
      [...records].map((each) => JSON.stringify(each)).sort();
    const dated = batches.flatMap(({ resource, records }) => records.map((record) => ({ resource, record })));
    assert.deepEqual(texts(dated), texts(marketRecords(OPTIONS)));
  });

  it('covers the two years before its date, each batch after the one before', () => {
    for (const list of Map.groupBy(batches, ({ resource }) => resource).values()) {
      let last = NOW - 730 * DAY;
      for (const { over, records } of list) {
        assert.ok(
          Number.isInteger(over.from) &&
            over.from >= last &&
            over.to >= over.from &&
            over.to <= NOW + AFTERWARDS,
          JSON.stringify(over),
        );
        assert.ok(records.length > 0 && records.length <= 1000);
        last = over.from;
      }
    }
    const listings = batches.filter(({ resource }) => resource === 'Property');
    assert.ok((listings[0]?.over.from ?? NOW) < NOW - 700 * DAY);
    assert.ok((listings.at(-1)?.over.to ?? 0) > NOW - 2 * DAY);
  });

  it('gives no listing a time before its events, nor one much later', () => {
    let most = 0;
    for (const { resource, records, over } of batches) {
      if (resource !== 'Property') continue;
      for (const [index, record] of records.entries()) {
        const stamp = over.from + ((over.to - over.from) * (index + 0.5)) / records.length;
        const happened = [
          'CloseDate',
          'PurchaseContractDate',
          'OffMarketDate',
          'BackOnMarketDate',
          'OriginalEntryTimestamp',
        ]
          .flatMap((field) => textOf(record, field) ?? [])
          .map((text) => Date.parse(text))
          .toSorted((a, b) => a - b)
          .at(-1);
        assert.ok(happened !== undefined);
        assert.ok(stamp >= happened, `${textOf(record, 'ListingKey')}`);
        if (happened > NOW - 690 * DAY) most = Math.max(most, stamp - happened);
      }
    }
    assert.ok(most < 51 * DAY, `${most / DAY} days`);
  });
});
