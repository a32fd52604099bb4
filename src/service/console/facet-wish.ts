/**
 * What is counted, as an address of either interface says it: `Property?$filter=…` in the words of the RESO interface,
 * `v1/listings?_filter=…` in those of the native one. Fields that are hidden from the eyes that look are unknown names here as there.
 */
import type { RecordQuery } from '../../compile/read.ts';
import type { Field } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import type { NativeNames } from '../../query/native/names.ts';
import { type Item, readList } from '../../query/native/parameters.ts';
import { fieldIn } from '../../query/native/request.ts';
import { fieldUnknown } from '../../query/odata/expression.ts';
import { type OptionText, shown, typeMismatch } from '../../query/odata/option-text.ts';
import { bindOptions, parseQueryOptions } from '../../query/odata/query.ts';
import { parseResourcePath } from '../../query/odata/resource-path.ts';
import type { ResourceSchema } from '../../query/schema.ts';
import type { Exchange, ServiceContext, Session } from '../exchange.ts';
import { bindListings, listingNames, listingResource } from '../native/listings.ts';
import { bind, nativeExchange, type RoutedExchange } from '../native/native-request.ts';
import { openHouseNames, openHouseResource } from '../native/parts.ts';
import { valueAsConfigured } from '../reso/enumerations.ts';

/** The most fields that are counted, and edges that are given at once. */
const MOST_FIELDS = 20;
const MOST_EDGES = 100;
/** A longer text is unlikely to occur twice, and few of its values would fill a page. */
const LONGEST_TEXT = 255;

/** What both interfaces take beside the filter, for people. */
export const FACET_OPTIONS = {
  fields: `The fields whose values are counted, at most ${MOST_FIELDS}, separated by commas.`,
  histogram: 'A number that is spread over ranges.',
  edges: `Where its ranges end: at most ${MOST_EDGES} ascending numbers, separated by commas.`,
} as const;

/** A field by the name that it was asked for. */
interface AskedField {
  readonly name: string;
  readonly field: Field;
}

interface FacetWish {
  /** What is counted, as its interface calls it. */
  readonly collection: string;
  readonly query: Pick<RecordQuery, 'resource' | 'filter' | 'search'>;
  readonly fields: readonly AskedField[];
  /** What is spread over ranges. */
  readonly measured?: AskedField;
  /** Undefined: those that fit. */
  readonly edges?: readonly number[];
  /** A value as the interface writes it to these eyes. */
  readonly written: (field: Field, value: unknown) => unknown;
}

/** The records of a request, and what its names stand for. */
interface Asked extends Pick<FacetWish, 'collection' | 'query' | 'written'> {
  /** @throws PlatError for a name that stands for no field of the records */
  readonly fieldOf: (source: OptionText, item: Item) => Field;
}

/**
 * @param given the path below the root of the counts, percent-encoded
 * @throws PlatError `pathNotFound`, `resourceUnknown`, `fieldUnknown`, `typeMismatch`, `optionInvalid`, and what is wrong with the
 *   filter
 */
export function facetWish(
  context: ServiceContext,
  exchange: Exchange,
  session: Session,
  given: string,
): FacetWish {
  const { nativeRoot } = exchange.surface;
  const isNative = nativeRoot !== undefined && `/${given}`.startsWith(nativeRoot);
  const asked = isNative
    ? askedOfNative({ ...nativeExchange(context, exchange, session), takes: ['_filter'] }, given)
    : askedOfReso(exchange, session, given);
  const { collection, query, written } = asked;
  const own = new URLSearchParams(exchange.query);
  const measured = measuredField(asked, own.get('histogram') ?? '');
  const edges = edgesIn(own.get('edges'));
  return {
    collection,
    query,
    written,
    fields: countedFields(asked, own.get('fields') ?? ''),
    ...(measured === undefined ? {} : { measured }),
    ...(edges === undefined ? {} : { edges }),
  };
}

function askedOfReso(exchange: Exchange, session: Session, given: string): Asked {
  const { schema } = session.view;
  const options = parseQueryOptions(exchange.query);
  const path = parseResourcePath(given, schema, options.aliases);
  if (path.kind !== 'collection' || path.steps.length > 0) {
    throw platError('pathNotFound', { path: exchange.path });
  }
  const { filter, search } = bindOptions('count', options, path.resource, schema);
  const { resource } = path.resource;
  return {
    collection: resource.name,
    query: {
      resource,
      ...(filter === undefined ? {} : { filter }),
      ...(search === undefined ? {} : { search }),
    },
    written: (field, value) => valueAsConfigured({ session }, field, value),
    fieldOf: (source, item) => resoField(path.resource, source, item),
  };
}

function resoField(schema: ResourceSchema, source: OptionText, { text, position }: Item): Field {
  const found = schema.findField(text);
  if (found.kind === 'visible') return found.field;
  throw fieldUnknown(schema, source, { name: text, start: position - 1 });
}

/** Accounts are not counted: they are the records of two resources, and few of their members are fields of either. */
function askedOfNative(request: RoutedExchange, given: string): Asked {
  const asked = (names: NativeNames, query: FacetWish['query']): Asked => ({
    collection: names.collection,
    query,
    written: (_field, value) => value,
    fieldOf: ({ option }, item) => fieldIn(option, item, names),
  });
  switch (given.slice(given.indexOf('/') + 1)) {
    case 'listings': {
      const { filter } = bindListings(request);
      const resource = listingResource(request);
      return asked(listingNames(request), { resource, ...(filter === undefined ? {} : { filter }) });
    }
    case 'openhouses': {
      const names = openHouseNames(request);
      const { filter } = bind(request, names);
      const { resource } = openHouseResource(request);
      return asked(names, { resource, ...(filter === undefined ? {} : { filter }) });
    }
    default:
      throw platError('pathNotFound', { path: request.exchange.path });
  }
}

function countedFields(asked: Asked, text: string): readonly AskedField[] {
  const source = { option: 'fields', text };
  const found = new Map<Field, AskedField>();
  for (const item of readList('fields', text)) {
    const field = asked.fieldOf(source, item);
    const { type, collection, lookup } = field;
    const isLong = type.kind === 'string' && (type.maxLength ?? Number.POSITIVE_INFINITY) > LONGEST_TEXT;
    if (isLong && !collection && lookup === undefined) {
      throw mismatch(source, item, 'is a long text, whose values are not counted');
    }
    if (!found.has(field)) found.set(field, { name: item.text, field });
  }
  if (found.size <= MOST_FIELDS) return [...found.values()];
  throw platError('optionInvalid', {
    name: 'fields',
    value: shown(text),
    expected: `at most ${MOST_FIELDS} fields`,
  });
}

function measuredField(asked: Asked, text: string): AskedField | undefined {
  if (text === '') return undefined;
  const source = { option: 'histogram', text };
  const item = { text: text.trim(), position: 1 };
  const field = asked.fieldOf(source, item);
  const isNumber = !field.collection && (field.type.kind === 'integer' || field.type.kind === 'decimal');
  if (!isNumber) throw mismatch(source, item, 'is no number');
  return { name: item.text, field };
}

const mismatch = (source: OptionText, { text: name, position }: Item, reason: string) =>
  typeMismatch(source, position - 1, `${name} ${reason}`);

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
