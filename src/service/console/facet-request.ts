/**
 * Determines what to count from a URL of either interface: `Property?$filter=…` with the names of the RESO interface,
 * `v1/listings?_filter=…` with those of the native one. Fields that are hidden from the chosen role are unknown names here, too.
 */
import type { RecordQuery } from '../../compile/read.ts';
import type { Field } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import type { NativeNames } from '../../query/native/names.ts';
import { type Item, readList } from '../../query/native/parameters.ts';
import { bindField } from '../../query/native/request.ts';
import { fieldUnknown } from '../../query/odata/expression.ts';
import { type OptionText, shown, typeMismatch } from '../../query/odata/option-text.ts';
import { bindOptions, parseQueryOptions } from '../../query/odata/query.ts';
import { parseResourcePath } from '../../query/odata/resource-path.ts';
import type { ResourceSchema } from '../../query/schema.ts';
import type { AuthenticatedExchange } from '../exchange.ts';
import { bindAccounts } from '../native/accounts.ts';
import { bindListings, listingNames, listingResource } from '../native/listings.ts';
import { bindRequest, nativeExchange, type RoutedExchange } from '../native/native-request.ts';
import { openHouseNames, openHouseResource } from '../native/sub-resources.ts';
import { valueAsConfigured } from '../reso/value-forms.ts';

/** The maximum number of fields that are counted, and of edges. */
const MOST_FIELDS = 20;
const MOST_EDGES = 100;
/** A longer text is unlikely to occur twice, and few of its values would fill a page. */
const LONGEST_TEXT = 255;

/** Descriptions of the options of both interfaces, except the filter. */
export const FACET_OPTIONS = {
  fields: `The names of the fields whose values are counted, at most ${MOST_FIELDS}, separated by commas.`,
  histogram: 'The name of a numeric field whose values are counted by range.',
  edges: `The boundaries of the ranges: at most ${MOST_EDGES} ascending numbers, separated by commas.`,
} as const;

/** What a counted name refers to: a field, or a text that all records of a part share (an empty text means no value). */
type Counted =
  | { readonly kind: 'field'; readonly field: Field }
  | { readonly kind: 'constant'; readonly text: string };

/** Records of one resource, and the meanings of the counted names, in order. */
export interface FacetPart {
  readonly query: Pick<RecordQuery, 'resource' | 'filter' | 'search'>;
  readonly counted: readonly Counted[];
}

/** A field, and the name by which it was requested. */
interface AskedField {
  readonly name: string;
  readonly field: Field;
}

export interface FacetRequest {
  /** The name of the counted collection in its interface. */
  readonly collection: string;
  /** The parts that are counted together: agents and offices are the accounts of the native interface. */
  readonly parts: readonly FacetPart[];
  readonly names: readonly string[];
  /** The field that is grouped into ranges, if there is one part. */
  readonly measured?: AskedField;
  /** Undefined: suitable edges are chosen. */
  readonly edges?: readonly number[];
  /** A value as the interface writes it for this role. */
  readonly written: (field: Field, value: unknown) => unknown;
}

/** The records of a request, and the meanings of its names. */
interface AskedPart extends Pick<FacetPart, 'query'> {
  /** @throws PlatError for a name that is not a field of the records */
  readonly fieldOf: (source: OptionText, item: Item) => Counted;
}

interface RequestedCounts extends Pick<FacetRequest, 'collection' | 'written'> {
  readonly parts: readonly AskedPart[];
}

const ofField = (field: Field): Counted => ({ kind: 'field', field });

/**
 * @param facetPath the path below the root of the counts, percent-encoded
 * @throws PlatError `pathNotFound`, `resourceUnknown`, `fieldUnknown`, `typeMismatch`, `optionInvalid`, and the errors
 * of the filter
 */
export function facetRequest(request: AuthenticatedExchange, facetPath: string): FacetRequest {
  const { exchange } = request;
  const { nativeRoot } = exchange.surface;
  const isNative = nativeRoot !== undefined && `/${facetPath}`.startsWith(nativeRoot);
  const asked = isNative
    ? parseNativeCounts({ ...nativeExchange(request), takes: ['_filter'] }, facetPath)
    : parseResoCounts(request, facetPath);
  const { collection, written } = asked;
  const parameters = new URLSearchParams(exchange.query);
  const measured = measuredField(asked, parameters.get('histogram') ?? '');
  const edges = edgesIn(parameters.get('edges'));
  return { collection, written, ...countedFields(asked, parameters.get('fields') ?? ''), measured, edges };
}

function parseResoCounts({ exchange, session }: AuthenticatedExchange, facetPath: string): RequestedCounts {
  const { schema } = session.view;
  const options = parseQueryOptions(exchange.query);
  const path = parseResourcePath(facetPath, schema, options.aliases);
  if (path.kind !== 'collection' || path.steps.length > 0) {
    throw platError('pathNotFound', { path: exchange.path });
  }
  const { resource, filter, search } = bindOptions('count', options, path.resource, schema);
  const fieldOf = (source: OptionText, item: Item) => ofField(resoField(path.resource, source, item));
  return {
    collection: resource.name,
    parts: [{ query: { resource, filter, search }, fieldOf }],
    written: (field, value) => valueAsConfigured({ session }, field, value),
  };
}

function resoField(schema: ResourceSchema, source: OptionText, { text, position }: Item): Field {
  const found = schema.findField(text);
  if (found.kind === 'visible') return found.field;
  throw fieldUnknown(schema, source, { name: text, start: position - 1 });
}

function parseNativeCounts(request: RoutedExchange, facetPath: string): RequestedCounts {
  const asPart = (names: NativeNames, query: FacetPart['query']): AskedPart => ({
    query,
    fieldOf({ option }, item) {
      const found = names.find(item.text);
      return found.kind === 'constant' ? found : ofField(bindField(option, item, names));
    },
  });
  const asked = (collection: string, ...parts: readonly AskedPart[]): RequestedCounts => ({
    collection,
    parts,
    written: (_field, value) => value,
  });
  switch (facetPath.slice(facetPath.indexOf('/') + 1)) {
    case 'listings': {
      const { filter } = bindListings(request);
      const resource = listingResource(request);
      return asked('listings', asPart(listingNames(request), { resource, filter }));
    }
    case 'openhouses': {
      const names = openHouseNames(request);
      const { filter } = bindRequest(request, names);
      const { resource } = openHouseResource(request);
      return asked(names.collection, asPart(names, { resource, filter }));
    }
    case 'accounts': {
      const { schema } = request.session.view;
      const parts = bindAccounts(request).map(({ type, names, asked: { filter } }) =>
        asPart(names, { resource: schema.of(type).resource, filter }),
      );
      if (parts.length === 0) throw platError('resourceUnknown', { name: 'accounts' });
      return asked('accounts', ...parts);
    }
    default:
      throw platError('pathNotFound', { path: request.exchange.path });
  }
}

/** The counted fields of each part, each field once. */
function countedFields({ parts }: RequestedCounts, text: string): Pick<FacetRequest, 'names' | 'parts'> {
  const source = { option: 'fields', text };
  const found = new Map<Field | string, { readonly name: string; readonly of: readonly Counted[] }>();
  for (const item of readList('fields', text)) {
    const of = parts.map(({ fieldOf }) => fieldOf(source, item));
    for (const each of of) if (each.kind === 'field') refuseLong(source, item, each.field);
    const [first] = of;
    const identity = first?.kind === 'field' ? first.field : item.text;
    if (!found.has(identity)) found.set(identity, { name: item.text, of });
  }
  if (found.size > MOST_FIELDS) {
    throw platError('optionInvalid', {
      name: 'fields',
      value: shown(text),
      expected: `at most ${MOST_FIELDS} fields`,
    });
  }
  const fields = [...found.values()];
  return {
    names: fields.map(({ name }) => name),
    parts: parts.map(({ query }, part) => ({
      query,
      counted: fields.flatMap(({ of }) => of[part] ?? []),
    })),
  };
}

function refuseLong(source: OptionText, item: Item, { type, collection, lookup }: Field): void {
  const isLong = type.kind === 'string' && (type.maxLength ?? Number.POSITIVE_INFINITY) > LONGEST_TEXT;
  if (isLong && !collection && lookup === undefined) {
    throw mismatch(source, item, 'is a long text, whose values are not counted');
  }
}

function measuredField({ parts }: RequestedCounts, text: string): AskedField | undefined {
  if (text === '') return undefined;
  const source = { option: 'histogram', text };
  const item = { text: text.trim(), position: 1 };
  const [found, ...others] = parts.map(({ fieldOf }) => fieldOf(source, item));
  if (found?.kind !== 'field' || others.length > 0) throw mismatch(source, item, 'is not a number');
  const { field } = found;
  const isNumber = !field.collection && (field.type.kind === 'integer' || field.type.kind === 'decimal');
  if (!isNumber) throw mismatch(source, item, 'is not a number');
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
  const expected = `at most ${MOST_EDGES} ascending numbers, separated by commas`;
  throw platError('optionInvalid', { name: 'edges', value: shown(text), expected });
}
