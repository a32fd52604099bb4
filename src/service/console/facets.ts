/**
 * Counts the values of fields as another role or key sees them: `/as/<viewer>/<surface>/facets/<Resource>` and
 * `/as/<viewer>/<surface>/facets/v1/<collection>` on the admin port. It must not know the syntax of either interface.
 */
import type { Facets, FieldFacet, Histogram, HistogramRanges, RecordQuery } from '../../compile/read.ts';
import type { Field } from '../../dictionary/index.ts';
import { typeMismatch } from '../../query/odata/option-text.ts';
import { type AuthenticatedExchange, jsonReply, queryContext, type Reply } from '../exchange.ts';
import { type FacetPart, type FacetRequest, facetRequest } from './facet-request.ts';
import { ROUGH_EDGES, rangeEdges } from './range-edges.ts';

export const FACETS_ROOT = '/facets/';

/** The maximum number of values of a field that are listed. */
const MOST_VALUES = 50;
/** The maximum number of values of a field that are added up when several resources are counted together. */
const MOST_ADDED = 10_000;

/** @param facetPath the path below `FACETS_ROOT`, percent-encoded */
export async function answerFacets(request: AuthenticatedExchange, facetPath: string): Promise<Reply> {
  const { context, exchange, session } = request;
  exchange.timings.start('parse');
  const asked = facetRequest(request, facetPath);
  const { collection, names, parts, measured, written } = asked;
  exchange.timings.start('store');
  const count = (
    { query: wanted }: FacetPart,
    of: readonly Field[],
    spread?: HistogramRanges,
  ): Promise<Facets> => {
    const query: RecordQuery = { ...queryContext(session), ...wanted };
    const most = parts.length > 1 ? MOST_ADDED : MOST_VALUES;
    return session.model.stores(query.resource.name) || query.resource.fromChanges
      ? context.store.facets({ query, fields: of, most, histogram: spread }, context.read)
      : Promise.resolve(emptyFacets(of, spread));
  };
  const histogram = await resolveHistogram(asked, (rough) => {
    const [part] = parts;
    return part === undefined ? Promise.resolve(emptyFacets([], rough)) : count(part, [], rough);
  });
  const found = await Promise.all(
    parts.map(async (part) => {
      const fields = part.counted.flatMap((each) => (each.kind === 'field' ? [each.field] : []));
      return partOf(part, await count(part, fields, histogram), written);
    }),
  );
  exchange.timings.start('encode');
  return jsonReply(
    {
      resource: collection,
      records: found.reduce((sum, { records }) => sum + records, 0),
      fields: names.map((name, at) => {
        const of = found.flatMap(({ fields }) => fields[at] ?? []);
        return { field: name, ...(of.length === 1 ? of[0] : sumFacets(name, of)) };
      }),
      histogram: histogram && { field: measured?.name, edges: histogram.edges, ...found[0]?.histogram },
    },
    { 'cache-control': 'no-store' },
  );
}

/** The counts of a field, with its values as the interface writes them. */
interface Shown extends Omit<FieldFacet, 'values'> {
  readonly values: readonly { readonly value: unknown; readonly records: number }[];
}

/** The counts of a part, by the names that were requested. */
function partOf(
  { counted }: FacetPart,
  { records, fields, histogram }: Facets,
  written: FacetRequest['written'],
) {
  const rest = [...fields];
  const shown = counted.map((each): Shown => {
    if (each.kind === 'constant') {
      const { text: value } = each;
      return value === '' || records === 0
        ? { values: [], more: 0, none: value === '' ? records : 0 }
        : { values: [{ value, records }], more: 0, none: 0 };
    }
    const { values = [], more = 0, none = 0 } = rest.shift() ?? {};
    const named = values.map(({ value, records: of }) => ({
      value: written(each.field, value),
      records: of,
    }));
    return { values: named, more, none };
  });
  return { records, histogram, fields: shown };
}

/** The counts of several parts together. @throws PlatError `typeMismatch` if one has more values than can be added up */
function sumFacets(name: string, parts: readonly Shown[]): Shown {
  if (parts.some(({ more }) => more > 0)) {
    throw typeMismatch({ option: 'fields', text: name }, 0, `${name} has too many values to be counted`);
  }
  const sums = new Map<unknown, number>();
  for (const { value, records } of parts.flatMap(({ values }) => values)) {
    sums.set(value, (sums.get(value) ?? 0) + records);
  }
  const values = [...sums]
    .map(([value, records]) => ({ value, records }))
    .toSorted((a, b) => b.records - a.records || (String(a.value) < String(b.value) ? -1 : 1));
  return {
    values: values.slice(0, MOST_VALUES),
    more: Math.max(0, values.length - MOST_VALUES),
    none: parts.reduce((sum, { none }) => sum + none, 0),
  };
}

/** The field that is grouped into ranges, and the ranges: the given ones, or else suitable ones. */
async function resolveHistogram(
  { measured, edges }: FacetRequest,
  count: (rough: HistogramRanges) => Promise<Facets>,
): Promise<HistogramRanges | undefined> {
  if (measured === undefined) return undefined;
  const { field } = measured;
  if (edges !== undefined) return { field, edges };
  // A first query determines the distribution of the values.
  const { histogram } = await count({ field, edges: ROUGH_EDGES });
  return {
    field,
    edges: histogram === undefined ? [] : rangeEdges(histogram, field.type.kind === 'integer'),
  };
}

function emptyFacets(fields: readonly Field[], ranges: HistogramRanges | undefined): Facets {
  const none: Histogram | undefined = ranges && {
    records: Array.from({ length: ranges.edges.length + 1 }, () => 0),
    none: 0,
    least: null,
    greatest: null,
  };
  return { records: 0, fields: fields.map(() => ({ values: [], more: 0, none: 0 })), histogram: none };
}
