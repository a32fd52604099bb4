import type { Field, Navigation, Resource, ScalarType } from '../types.ts';
import type {
  Annotation,
  CsdlDocument,
  CsdlVersion,
  EntitySet,
  EntityType,
  NavigationProperty,
  Property,
} from './model.ts';
import {
  COMPUTED,
  CONTAINER_CAPABILITIES,
  ENTITY_SET_CAPABILITIES,
  localName,
  lookupName,
  OWN_VOCABULARIES,
  REFERENCES,
} from './vocabularies.ts';

/** The namespace of all types that RESO's dictionary names. */
/** The namespace of the entity types. */
export const EDM_NAMESPACE = 'org.reso.metadata';
const CONTAINER = 'RESO';

/** A resource as one reader sees it. */
export interface CsdlResource {
  readonly resource: Resource;
  /** The key is among them. */
  readonly fields: readonly Field[];
  /** Those whose target is no resource of the source are left out of the document. */
  readonly navigations: readonly Navigation[];
}

/** What a document is made from: nothing of it names what the reader may not know. */
export interface CsdlSource {
  readonly version: CsdlVersion;
  /** At least one: a container is not empty (CSDL 13). */
  readonly resources: readonly CsdlResource[];
}

/** What the `$metadata` document of a source says (OData CSDL 4.01; RESO Web API Core 2.0, 2.5.1). */
export function csdlDocument({ version, resources }: CsdlSource): CsdlDocument {
  const keys = new Map(resources.map(({ resource }) => [resource.name, resource.key]));
  const entityTypes = resources.map((entry) => entityType(entry, keys));
  return {
    version,
    references: REFERENCES,
    namespace: EDM_NAMESPACE,
    entityTypes,
    container: {
      name: CONTAINER,
      entitySets: entityTypes.map(entitySet),
      annotations: CONTAINER_CAPABILITIES,
    },
    vocabularies: OWN_VOCABULARIES,
  };
}

/** @param keys the key of each resource in the document */
function entityType(
  { resource, fields, navigations }: CsdlResource,
  keys: ReadonlyMap<string, string>,
): EntityType {
  const shown = new Set(fields.map((field) => field.name));
  return {
    name: resource.name,
    key: resource.key,
    properties: fields.map((field) => property(field, field.name === resource.key)),
    navigationProperties: navigations
      .filter(({ target }) => keys.has(target))
      .map((navigation) => navigationProperty(navigation, keys.get(navigation.target), shown)),
  };
}

function property(field: Field, isKey: boolean): Property {
  const { name, type, collection } = field;
  return {
    name,
    collection,
    nullable: !isKey && !collection,
    ...edmType(type),
    annotations: [...annotations(field)],
  };
}

/** The type of a field's values as payloads name it (OData JSON format 4.01, 4.6.3). */
export function edmName({ type, collection }: Pick<Field, 'type' | 'collection'>): string {
  const name = edmType(type).type.replace('Edm.', '');
  return collection ? `Collection(${name})` : name;
}

function edmType(type: ScalarType): Pick<Property, 'type' | 'maxLength' | 'precision' | 'scale'> {
  switch (type.kind) {
    case 'string':
      return {
        type: 'Edm.String',
        ...(type.maxLength === undefined ? {} : { maxLength: type.maxLength }),
      };
    case 'integer':
      return { type: 'Edm.Int64' };
    case 'decimal':
      return { type: 'Edm.Decimal', precision: type.precision, scale: type.scale };
    case 'boolean':
      return { type: 'Edm.Boolean' };
    case 'date':
      return { type: 'Edm.Date' };
    case 'timestamp':
      return { type: 'Edm.DateTimeOffset', precision: 6 };
  }
}

function* annotations({ lookup, custom, joined }: Field): Generator<Annotation> {
  if (lookup !== undefined) yield lookupName(lookup);
  if (custom !== undefined) yield localName(custom.group, custom.label);
  if (joined !== undefined) yield COMPUTED;
}

/** A constraint is stated only where the reader can follow it: from a shown field to the other record's key. */
function navigationProperty(
  { name, target, collection, local, remote }: Navigation,
  targetKey: string | undefined,
  shown: ReadonlySet<string>,
): NavigationProperty {
  const byKey = !collection && remote === targetKey && shown.has(local);
  return {
    name,
    target,
    collection,
    ...(byKey ? { constraint: { property: local, referencedProperty: remote } } : {}),
  };
}

/** One set of each type: clients take the set of a navigation's target from its type. */
function entitySet({ name, navigationProperties }: EntityType): EntitySet {
  const bindings = navigationProperties.map((each) => ({ path: each.name, target: each.target }));
  return { name, type: name, bindings, annotations: ENTITY_SET_CAPABILITIES };
}
