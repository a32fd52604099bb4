/** Parses the `$metadata` of a source, as far as replication needs it. It sends no requests. */
import { XMLParser } from 'fast-xml-parser';
import type { Dictionary } from '../../../dictionary/index.ts';
import { filledError } from '../../../records/parse-record.ts';
import { isObject, type JsonObject, objectsIn } from '../../../shared/json.ts';
import { type ForeignField, isForeign } from '../source.ts';

export interface SourceMetadata {
  readonly types: ReadonlyMap<string, EntityType>;
  /** Maps entity sets to the names of their types, without namespace. */
  readonly entitySets: ReadonlyMap<string, string>;
}

interface EntityType {
  readonly properties: ReadonlyMap<string, EntityProperty>;
  /** The names of the navigation properties that are collections. */
  readonly collections: ReadonlySet<string>;
}

interface EntityProperty {
  /** `Edm.String`, `Collection(Edm.String)`, or the name of an enumeration. */
  readonly type: string;
  readonly precision: string | undefined;
  readonly scale: string | undefined;
  /** `GROUP: FIELD` of a custom field. */
  readonly localName: string | undefined;
}

const LOCAL_NAME = 'MLS.OData.Metadata.LocalName';

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '',
  removeNSPrefix: true,
  parseAttributeValue: false,
  processEntities: true,
  isArray: () => true,
});

/** The elements at a path below the given elements. */
const elementsAt = (elements: readonly JsonObject[], ...path: readonly string[]): JsonObject[] =>
  path.reduce<JsonObject[]>(
    (found, name) => found.flatMap(({ [name]: inner }) => objectsIn(inner)),
    [...elements],
  );

const attribute = (element: JsonObject, name: string): string | undefined => {
  const value = element[name];
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' ? first : undefined;
};

const nameOf = (element: JsonObject): string => attribute(element, 'Name') ?? '';

const withoutNamespace = (name: string): string => name.replace(/^.*\./, '');

const memberOf = (type: string): string | undefined => /^Collection\((.+)\)$/.exec(type)?.[1];

/** Caches the last parsed text: the metadata of a source is requested repeatedly, and is usually unchanged. */
let last: { readonly xml: string; readonly metadata: SourceMetadata | undefined } | undefined;

/** Reads CSDL in XML (OData CSDL 4.0 and 4.01). @returns undefined for any other text */
export function parseMetadata(xml: string): SourceMetadata | undefined {
  if (last?.xml !== xml) last = { xml, metadata: parseCsdl(xml) };
  return last.metadata;
}

function parseCsdl(xml: string): SourceMetadata | undefined {
  let root: unknown;
  try {
    root = parser.parse(xml);
  } catch {
    return undefined;
  }
  if (!isObject(root)) return undefined;
  const schemas = elementsAt([root], 'Edmx', 'DataServices', 'Schema');
  if (schemas.length === 0) return undefined;
  return {
    types: new Map(elementsAt(schemas, 'EntityType').map((type) => [nameOf(type), entityType(type)])),
    entitySets: new Map(
      elementsAt(schemas, 'EntityContainer', 'EntitySet').map((set) => [
        nameOf(set),
        withoutNamespace(attribute(set, 'EntityType') ?? ''),
      ]),
    ),
  };
}

const entityType = (type: JsonObject): EntityType => ({
  properties: new Map(elementsAt([type], 'Property').map((each) => [nameOf(each), entityProperty(each)])),
  collections: new Set(
    elementsAt([type], 'NavigationProperty')
      .filter((navigation) => memberOf(attribute(navigation, 'Type') ?? '') !== undefined)
      .map(nameOf),
  ),
});

function entityProperty(property: JsonObject): EntityProperty {
  const annotation = elementsAt([property], 'Annotation').find(
    (each) => attribute(each, 'Term') === LOCAL_NAME,
  );
  return {
    type: attribute(property, 'Type') ?? 'Edm.String',
    precision: attribute(property, 'Precision'),
    scale: attribute(property, 'Scale'),
    localName: annotation === undefined ? undefined : attribute(annotation, 'String'),
  };
}

/** The type of an entity set's records. */
export const typeOf = (metadata: SourceMetadata | undefined, resource: string): EntityType | undefined =>
  metadata?.types.get(metadata.entitySets.get(resource) ?? resource);

/** The group of fields that a source declares without a LocalName. */
const GROUP = 'Source';

/** The fields in the metadata that the standard dictionary does not have. */
export function foreignFields(metadata: SourceMetadata, dictionary: Dictionary): ForeignField[] {
  const copied = [...dictionary.resources.values()].filter((each) => filledError(each) === undefined);
  return copied.flatMap((resource) =>
    [...(typeOf(metadata, resource.name)?.properties ?? [])]
      .filter(([name]) => isForeign(resource, name))
      .map(([name, property]) => {
        const [, group = GROUP, label = name] = /^([^:]+): (.+)$/.exec(property.localName ?? '') ?? [];
        return { resource: resource.name, name, type: fieldType(property), group, label };
      }),
  );
}

/** The type of a field in the notation of the field tables. Enumerations become strings. */
function fieldType({ type, precision, scale }: EntityProperty): string {
  if (memberOf(type) !== undefined) return 'string[]';
  switch (type) {
    case 'Edm.Boolean':
      return 'boolean';
    case 'Edm.Date':
      return 'date';
    case 'Edm.DateTimeOffset':
      return 'timestamp';
    case 'Edm.Byte':
    case 'Edm.Int16':
    case 'Edm.Int32':
    case 'Edm.Int64':
      return 'integer';
    case 'Edm.Decimal':
    case 'Edm.Double':
    case 'Edm.Single': {
      const digits = Math.min(15, Math.max(1, Number(precision ?? 15) || 15));
      return `decimal(${digits},${Math.min(digits, Number(scale ?? 4) || 4)})`;
    }
    default:
      return 'string';
  }
}
