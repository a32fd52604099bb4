/** Single records, update windows, searches, orders and counts. */

import { IDX } from '../test/support/views.ts';
import { operations, TIME } from '../test/support/world.ts';
import { CONCATENATED, STRINGIFIED } from './floors.ts';
import { megabytes } from './support/measure.ts';
import { reads } from './support/reads.ts';
import type { Subject } from './support/subject.ts';

export const storeSearches: Subject = {
  title: 'records and searches',
  floors: [CONCATENATED, STRINGIFIED],
  async run(context) {
    const { store, clock, lately } = context;
    const { request, measure, page, found, counted } = reads(context);
    const keys = await operations(store, clock).keys('Property', '$select=ListingKey', {
      viewer: IDX,
      limit: 5000,
    });
    const one = await request('Property', '', { viewer: IDX });
    const withMedia = await request('Property', '$expand=Media', { viewer: IDX });
    let next = 0;
    const byKey = (name: string, { query, shape, files }: typeof one) =>
      measure(name, async () => {
        next = (next + 617) % keys.length;
        const body = await store.record({ query, key: keys[next] ?? '', shape, files }, TIME);
        return megabytes(body?.byteLength ?? 0);
      });
    const until = clock.text();
    const window = `$filter=ModificationTimestamp ge ${lately} and ModificationTimestamp lt ${until}`;
    const since = `$filter=ModificationTimestamp gt ${lately}`;
    const start = { viewer: IDX, position: { kind: 'start' } } as const;
    const unindexed = '$filter=BedroomsTotal ge 4 and PoolPrivateYN eq true';
    const town = "$filter=City eq 'Duluth' and ListPrice le 300000";
    const [city] = await operations(store, clock).rows('Property', '$select=City&$filter=City ne null', {
      limit: 1,
    });
    const inTown = town.replace('Duluth', String(city?.City));
    return [
      await byKey('one record by key', one),
      await byKey('one record by key, with Media', withMedia),
      await page('update window of the last 1000, full records', 'Property', window, start),
      await found('update window of the last 1000, ids', 'Property', window, { viewer: IDX }),
      await found('all since then, ids', 'Property', since, { viewer: IDX }),
      await page('all since then, full records', 'Property', since, start),
      await page('media since then, full records', 'Media', since, start),
      await found('filter without an index, ids', 'Property', unindexed, { viewer: IDX }),
      await page('filter without an index, first 10', 'Property', unindexed, { ...start, limit: 10 }),
      await found('filter with an index (town and price), ids', 'Property', inTown, { viewer: IDX }),
      await found(
        'any medium of a kind, ids',
        'Property',
        "$filter=Media/any(m:m/MediaCategory eq 'Video')",
        {
          viewer: IDX,
        },
      ),
      await found('part of the remarks, ids', 'Property', "$filter=contains(tolower(PublicRemarks),'lake')", {
        viewer: IDX,
      }),
      await found('within 5 km, ids', 'Property', await near(context), { viewer: IDX }),
      await page('by price, first 100', 'Property', '$orderby=ListPrice desc', { ...start, limit: 100 }),
      await page('by a field without an index, first 100', 'Property', '$orderby=LivingArea desc', {
        ...start,
        limit: 100,
      }),
      await counted('count of all', 'Property', '', { viewer: IDX }),
      await counted('count of media', 'Media', '', { viewer: IDX }),
      await counted('count with an index', 'Property', '$filter=ListPrice ge 1000000', { viewer: IDX }),
      await counted('count without an index', 'Property', unindexed, { viewer: IDX }),
    ];
  },
};

/** A filter around the location of one of the listings. */
async function near({ store, clock }: Parameters<Subject['run']>[0]): Promise<string> {
  const options = '$select=Latitude,Longitude&$filter=Latitude ne null';
  const [place] = await operations(store, clock).rows('Property', options, { limit: 1 });
  const point = `geography'POINT(${place?.Longitude} ${place?.Latitude})'`;
  return `$filter=geo.distance(Coordinates,${point}) lt 5000`;
}
