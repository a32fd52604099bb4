/**
 * How often fields have each value, as another key sees it: `/as/<eyes>/<surface>/facets/<Resource>` on the admin port. The
 * filter is bound as the RESO interface binds it, and fields that are hidden from those eyes are unknown names here as there.
 */
import type { Facets, Histogram, HistogramWish, RecordQuery } from '../../compile/read.ts';
import type { Field } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import { fieldUnknown } from '../../query/odata/expression.ts';
import { type OptionText, shown, typeMismatch } from '../../query/odata/option-text.ts';
import { bindOptions, parseQueryOptions } from '../../query/odata/query.ts';
import { parseResourcePath } from '../../query/odata/resource-path.ts';
import type { ResourceSchema } from '../../query/schema.ts';
import { asking, type Exchange, json, type Reply, type ServiceContext, type Session } from '../exchange.ts';
import { valueAsConfigured } from '../reso/enumerations.ts';
import { ROUGH_EDGES, rangeEdges } from './edges.ts';

export const FACETS_ROOT = '/facets/';

/** The most values of a field that are listed, fields that are counted, and edges that are given at once. */
const MOST_VALUES = 50;
const MOST_FIELDS = 20;
const MOST_EDGES = 100;
/** A longer text is unlikely to occur twice, and few of its values would fill a page. */
const LONGEST_TEXT = 255;

/** @param given the path below `FACETS_ROOT`, percent-encoded */
export async function facets(
  context: ServiceContext,
  exchange: Exchange,
  session: Session,
  given: string,
): Promise<Reply> {
  exchange.timings.start('parse');
  const { schema } = session.view;
  const options = parseQueryOptions(exchange.query);
  const path = parseResourcePath(given, schema, options.aliases);
  if (path.kind !== 'collection' || path.steps.length > 0) {
    throw platError('pathNotFound', { path: exchange.path });
  }
  const { filter, search } = bindOptions('count', options, path.resource, schema);
  const own = new URLSearchParams(exchange.query);
  const fields = countedFields(path.resource, own.get('fields') ?? '');
  const measured = measuredField(path.resource, own.get('histogram') ?? '');
  const { resource } = path.resource;
  const query: RecordQuery = {
    ...asking(session),
    resource,
    ...(filter === undefined ? {} : { filter }),
    ...(search === undefined ? {} : { search }),
  };
  const edges = edgesIn(own.get('edges'));
  exchange.timings.start('store');
  const count = (histogram: HistogramWish | undefined, of: readonly Field[]): Promise<Facets> =>
    session.model.stores(resource.name)
      ? context.store.facets({ query, fields: of, most: MOST_VALUES, histogram }, context.read)
      : Promise.resolve(nothing(of, histogram));
  const histogram =
    measured === undefined
      ? undefined
      : { field: measured, edges: edges ?? (await fittingEdges(measured, (rough) => count(rough, []))) };
  const found = await count(histogram, fields);
  exchange.timings.start('encode');
  return json(
    {
      resource: resource.name,
      records: found.records,
      fields: found.fields.map((facet, index) => named(session, fields[index], facet)),
      ...(histogram === undefined
        ? {}
        : { histogram: { field: histogram.field.name, edges: histogram.edges, ...found.histogram } }),
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

/** The values as the service writes them to these eyes. */
function named(session: Session, field: Field | undefined, { values, ...rest }: Facets['fields'][number]) {
  if (field === undefined) throw new Error('Each count is of a field');
  const written = values.map(({ value, records }) => ({
    value: valueAsConfigured({ session }, field, value),
    records,
  }));
  return { field: field.name, values: written, ...rest };
}

/** @throws PlatError `fieldUnknown`, `typeMismatch`, `optionInvalid` */
function countedFields(schema: ResourceSchema, text: string): Field[] {
  const source = { option: 'fields', text };
  const found = new Set<Field>();
  let start = 0;
  for (const item of text === '' ? [] : text.split(',')) {
    const field = fieldNamed(schema, source, item, start);
    const { type, collection, lookup } = field;
    const isLong = type.kind === 'string' && (type.maxLength ?? Number.POSITIVE_INFINITY) > LONGEST_TEXT;
    if (isLong && !collection && lookup === undefined) {
      throw typeMismatch(source, start, `${field.name} is a long text, whose values are not counted`);
    }
    found.add(field);
    start += item.length + 1;
  }
  if (found.size <= MOST_FIELDS) return [...found];
  throw platError('optionInvalid', {
    name: 'fields',
    value: shown(text),
    expected: `at most ${MOST_FIELDS} fields`,
  });
}

/** @throws PlatError `fieldUnknown`, `typeMismatch` */
function measuredField(schema: ResourceSchema, text: string): Field | undefined {
  if (text === '') return undefined;
  const source = { option: 'histogram', text };
  const field = fieldNamed(schema, source, text, 0);
  const isNumber = !field.collection && (field.type.kind === 'integer' || field.type.kind === 'decimal');
  if (!isNumber) throw typeMismatch(source, 0, `${field.name} is no number`);
  return field;
}

function fieldNamed(schema: ResourceSchema, source: OptionText, item: string, start: number): Field {
  const name = item.trim();
  const found = schema.findField(name);
  if (found.kind !== 'visible') throw fieldUnknown(schema, source, { name, start });
  return found.field;
}

/** @throws PlatError `optionInvalid` */
function edgesIn(text: string | null): readonly number[] | undefined {
  if (text === null) return undefined;
  const edges = text.split(',').map((each) => (each.trim() === '' ? Number.NaN : Number(each)));
  const ascend = edges.every(
    (edge, index) => Number.isFinite(edge) && edge > (edges[index - 1] ?? -Infinity),
  );
  if (ascend && edges.length <= MOST_EDGES) return edges;
  const expected = `at most ${MOST_EDGES} ascending numbers with commas between them`;
  throw platError('optionInvalid', { name: 'edges', value: shown(text), expected });
}
