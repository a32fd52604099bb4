/** Options of a test service with a demo market, its custom fields and its files. */

import { CUSTOM_FIELDS, CUSTOM_LOOKUPS, makeMarket, marketRecords } from 'plat-demo';
import { marketFiles, Rasterizer } from '../../../src/cli/photos/market-files.ts';
import type { TestServiceOptions } from '../../support/service.ts';
import type { Json } from '../../support/world.ts';

const SEED = 7;

export function demoMarket(listings: number): TestServiceOptions {
  return {
    settings: {
      declarations: { customFields: CUSTOM_FIELDS, lookups: CUSTOM_LOOKUPS },
      market: { seed: SEED, listings },
    },
    service: (store) => ({ files: [marketFiles(store, new Rasterizer())] }),
    fill: async ({ write, clock }) => {
      for (const [resource, records] of Map.groupBy(
        marketRecords({ seed: SEED, listings }),
        (each) => each.resource,
      )) {
        clock.advance(60_000);
        await write(resource, ...records.map(({ record }): Json => record));
      }
      clock.advance(60_000);
    },
  };
}

/** The originating systems of the market. */
export const demoSystems = (listings: number): string[] =>
  makeMarket({ seed: SEED, listings })
    .organizations()
    .map(({ OrganizationUniqueId }) => String(OrganizationUniqueId));
