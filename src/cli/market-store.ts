import type { MarketRecord, MarketStore } from 'plat-demo';
import type { StoreModel } from '../compile/model.ts';
import type { FieldValues } from '../dictionary/index.ts';
import { parseRecord } from '../records/parse-record.ts';
import type { ParsedRecord } from '../records/parsed-record.ts';
import type { Store } from '../store/store.ts';

/** A record of a market as a store takes it. @throws when the market made a wrong one */
export function parseMarketRecord(model: StoreModel, { resource, record }: MarketRecord): ParsedRecord {
  const result = parseRecord(model.resource(resource), record, model);
  if (!result.ok)
    throw new Error(`The market made a wrong ${resource}: ${result.invalid.reasons.join('; ')}`);
  return result.record;
}

/** A store as a market that goes on changing reads and writes it. */
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
