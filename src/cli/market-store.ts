/** Adapts a store to the interface of the demo market. */
import type { MarketRecord, MarketStore } from 'plat-demo';
import type { StoreModel } from '../compile/model.ts';
import type { FieldValues } from '../dictionary/index.ts';
import { parseRecord } from '../records/parse-record.ts';
import type { ParsedRecord } from '../records/parsed-record.ts';
import type { Store } from '../store/store.ts';

/** Parses a record of a market. @throws if the market created an invalid one */
export function parseMarketRecord(model: StoreModel, { resource, record }: MarketRecord): ParsedRecord {
  const result = parseRecord(model.resource(resource), record, model);
  if (!result.ok)
    throw new Error(`The market generated an invalid ${resource}: ${result.invalid.reasons.join('; ')}`);
  return result.record;
}

/** The store of a live market. */
export function marketStore(store: Store): MarketStore {
  return {
    async *all(resource) {
      for await (const line of store.export(resource)) {
        const record: FieldValues = JSON.parse(line);
        yield record;
      }
    },
    read: async (resource, key) => (await store.contents(resource, { key }))[0],
    children: (resource, listing) =>
      store.contents(resource, { parent: listing, parentResource: 'Property' }),
    async write(resource, records) {
      const model = await store.model();
      const parsed = records.map((record) => parseMarketRecord(model, { resource, record }));
      const { rejected } = await store.write(resource, parsed);
      const [first] = rejected;
      if (first !== undefined) throw new Error(`${first.resource} ${first.key}: ${first.reason}`);
    },
    async remove(resource, keys) {
      await store.remove(resource, keys);
    },
  };
}
