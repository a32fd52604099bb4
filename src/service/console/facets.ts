/**
 * How often fields have each value, as another key sees it: `/as/<eyes>/<surface>/facets/<Resource>` and
 * `/as/<eyes>/<surface>/facets/v1/<collection>` on the admin port. It must not know how either is asked.
 */
import type { Facets, Histogram, HistogramWish, RecordQuery } from '../../compile/read.ts';
import type { Field } from '../../dictionary/index.ts';
import { asking, type Exchange, json, type Reply, type ServiceContext, type Session } from '../exchange.ts';
import { ROUGH_EDGES, rangeEdges } from './edges.ts';
import { facetWish } from './facet-wish.ts';

export const FACETS_ROOT = '/facets/';

/** The most values of a field that are listed. */
const MOST_VALUES = 50;

/** @param given the path below `FACETS_ROOT`, percent-encoded */
export async function facets(
  context: ServiceContext,
  exchange: Exchange,
  session: Session,
  given: string,
): Promise<Reply> {
  exchange.timings.start('parse');
  const {
    collection,
    query: wanted,
    fields,
    measured,
    edges,
    written,
  } = facetWish(context, exchange, session, given);
  const query: RecordQuery = { ...asking(session), ...wanted };
  exchange.timings.start('store');
  const count = (histogram: HistogramWish | undefined, of: readonly Field[]): Promise<Facets> =>
    session.model.stores(query.resource.name) || query.resource.fromChanges
      ? context.store.facets({ query, fields: of, most: MOST_VALUES, histogram }, context.read)
      : Promise.resolve(nothing(of, histogram));
  const histogram =
    measured === undefined
      ? undefined
      : {
          field: measured.field,
          edges: edges ?? (await fittingEdges(measured.field, (rough) => count(rough, []))),
        };
  const found = await count(
    histogram,
    fields.map(({ field }) => field),
  );
  exchange.timings.start('encode');
  return json(
    {
      resource: collection,
      records: found.records,
      fields: fields.map(({ name, field }, at) => {
        const { values = [], more = 0, none = 0 } = found.fields[at] ?? {};
        const named = values.map(({ value, records }) => ({ value: written(field, value), records }));
        return { field: name, values: named, more, none };
      }),
      ...(histogram === undefined
        ? {}
        : { histogram: { field: measured?.name, edges: histogram.edges, ...found.histogram } }),
    },
    { 'cache-control': 'no-store' },
  );
}

/** Edges of about a dozen ranges that hold nearly all values: where these lie is asked first. */
async function fittingEdges(
  field: Field,
  count: (rough: HistogramWish) => Promise<Facets>,
): Promise<readonly number[]> {
  const { histogram } = await count({ field, edges: ROUGH_EDGES });
  return histogram === undefined ? [] : rangeEdges(histogram, field.type.kind === 'integer');
}

function nothing(fields: readonly Field[], wish: HistogramWish | undefined): Facets {
  const none: Histogram | undefined = wish && {
    records: Array.from({ length: wish.edges.length + 1 }, () => 0),
    none: 0,
    least: null,
    greatest: null,
  };
  return {
    records: 0,
    fields: fields.map(() => ({ values: [], more: 0, none: 0 })),
    ...(none === undefined ? {} : { histogram: none }),
  };
}
