import { XMLParser } from 'fast-xml-parser';
import { isObject } from '../../json.ts';

/** What a source's `$metadata` says, as far as replication needs it. */
export interface SourceMetadata {
  /** Properties by entity type, with their Edm types. */
  readonly types: ReadonlyMap<string, EntityShape>;
  /** From entity sets to the names of their types, without namespace. */
  readonly entitySets: ReadonlyMap<string, string>;
}

export interface EntityShape {
  readonly key: string | undefined;
  readonly properties: ReadonlyMap<string, PropertyShape>;
  /** Collections that the type leads to, by name, with the names of their types. */
  readonly collections: ReadonlyMap<string, string>;
}

export interface PropertyShape {
  /** `Edm.String`, `Collection(Edm.String)`, or the name of an enumeration. */
  readonly type: string;
  readonly maxLength: string | undefined;
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

type Element = Readonly<Record<string, unknown>>;

const children = (element: Element | undefined, name: string): Element[] => {
  const found = element?.[name];
  return Array.isArray(found) ? found.filter(isObject) : [];
};

const text = (element: Element, attribute: string): string | undefined => {
  const value = element[attribute];
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' ? first : undefined;
};

const withoutNamespace = (name: string): string => name.replace(/^.*\./, '');

/**
 * Reads CSDL in XML (OData CSDL 4.0 and 4.01).
 * @returns undefined for a text that is none
 */
export function parseMetadata(xml: string): SourceMetadata | undefined {
  let root: unknown;
  try {
    root = parser.parse(xml);
  } catch {
    return undefined;
  }
  if (!isObject(root)) return undefined;
  const schemas = children(root, 'Edmx')
    .flatMap((edmx) => children(edmx, 'DataServices'))
    .flatMap((services) => children(services, 'Schema'));
  if (schemas.length === 0) return undefined;
  const types = new Map(
    schemas
      .flatMap((schema) => children(schema, 'EntityType'))
      .map((type) => [text(type, 'Name') ?? '', entityShape(type)]),
  );
  const entitySets = new Map(
    schemas
      .flatMap((schema) => children(schema, 'EntityContainer'))
      .flatMap((container) => children(container, 'EntitySet'))
      .map((set) => [text(set, 'Name') ?? '', withoutNamespace(text(set, 'EntityType') ?? '')]),
  );
  return { types, entitySets };
}

function entityShape(type: Element): EntityShape {
  const [key] = children(type, 'Key').flatMap((each) => children(each, 'PropertyRef'));
  const properties = children(type, 'Property').map(
    (property) => [text(property, 'Name') ?? '', propertyShape(property)] as const,
  );
  const collections = children(type, 'NavigationProperty').flatMap((navigation) => {
    const target = /^Collection\((.+)\)$/.exec(text(navigation, 'Type') ?? '')?.[1];
    return target === undefined ? [] : [[text(navigation, 'Name') ?? '', withoutNamespace(target)] as const];
  });
  return {
    key: key === undefined ? undefined : text(key, 'Name'),
    properties: new Map(properties),
    collections: new Map(collections),
  };
}

function propertyShape(property: Element): PropertyShape {
  const annotation = children(property, 'Annotation').find((each) => text(each, 'Term') === LOCAL_NAME);
  return {
    type: text(property, 'Type') ?? 'Edm.String',
    maxLength: text(property, 'MaxLength'),
    precision: text(property, 'Precision'),
    scale: text(property, 'Scale'),
    localName: annotation === undefined ? undefined : text(annotation, 'String'),
  };
}
