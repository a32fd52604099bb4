/** Writes `$metadata` in OData CSDL JSON 4.01. */
import type {
  Annotation,
  AnnotationValue,
  CsdlDocument,
  EdmType,
  EntityContainer,
  EntitySet,
  EntityType,
  EnumType,
  NavigationProperty,
  Property,
  Vocabulary,
} from './model.ts';

/** A value that JSON.stringify accepts. Undefined members are omitted, which in CSDL JSON means the default. */
type Json = string | number | boolean | undefined | readonly Json[] | { readonly [member: string]: Json };

/** The document in OData CSDL JSON 4.01; the media type is `application/json`. */
export function csdlJson(document: CsdlDocument): string {
  const { namespace, container, entityTypes } = document;
  const content: Json = {
    $Version: document.version,
    $EntityContainer: `${namespace}.${container.name}`,
    $Reference: Object.fromEntries(
      document.references.map(({ uri, namespace: included, alias }) => [
        `${uri}.json`,
        { $Include: [{ $Namespace: included, $Alias: alias }] },
      ]),
    ),
    [namespace]: {
      ...Object.fromEntries(entityTypes.map((type) => [type.name, entityType(type, namespace)])),
      [container.name]: entityContainer(container, namespace),
    },
    ...(document.enumerations.types.length === 0
      ? {}
      : {
          [document.enumerations.namespace]: Object.fromEntries(
            document.enumerations.types.map((type) => [type.name, enumType(type)]),
          ),
        }),
    ...Object.fromEntries(document.vocabularies.map((entry) => [entry.namespace, vocabulary(entry)])),
  };
  return JSON.stringify(content);
}

function entityType({ key, properties, navigationProperties }: EntityType, namespace: string): Json {
  return {
    $Kind: 'EntityType',
    $Key: [key],
    ...Object.fromEntries(properties.map((item) => [item.name, property(item)])),
    ...Object.fromEntries(
      navigationProperties.map((item) => [item.name, navigationProperty(item, namespace)]),
    ),
  };
}

/** A string is the default, and so is a value that is never null (CSDL JSON 7.1, 7.2.1). */
function property(item: Property): Json {
  return {
    $Collection: item.collection || undefined,
    $Type: typeof item.type === 'string' ? primitive(item.type) : item.type.enumeration,
    $Nullable: item.nullable || undefined,
    $MaxLength: item.maxLength,
    $Precision: item.precision,
    $Scale: item.scale,
    ...annotations(item.annotations),
  };
}

const primitive = (type: EdmType): string | undefined => (type === 'Edm.String' ? undefined : type);

/** Annotations of an enumeration member are next to it (CSDL JSON 10.3). */
function enumType({ members }: EnumType): Json {
  return {
    $Kind: 'EnumType',
    ...Object.fromEntries(
      members.flatMap(({ name, annotations: given }, value): [string, Json][] => [
        [name, value],
        ...Object.entries(annotations(given)).map(([term, text]): [string, Json] => [`${name}${term}`, text]),
      ]),
    ),
  };
}

/** A single-valued navigation may be null, which cannot be stated for a collection (CSDL JSON 8.2). */
function navigationProperty(item: NavigationProperty, namespace: string): Json {
  const { constraint } = item;
  return {
    $Kind: 'NavigationProperty',
    $Collection: item.collection || undefined,
    $Nullable: !item.collection || undefined,
    $Type: `${namespace}.${item.target}`,
    $ContainsTarget: item.contained,
    $ReferentialConstraint:
      constraint === undefined ? undefined : { [constraint.property]: constraint.referencedProperty },
  };
}

function entityContainer(container: EntityContainer, namespace: string): Json {
  return {
    $Kind: 'EntityContainer',
    ...Object.fromEntries(container.entitySets.map((set) => [set.name, entitySet(set, namespace)])),
    ...annotations(container.annotations),
  };
}

function entitySet(set: EntitySet, namespace: string): Json {
  return {
    $Collection: true,
    $Type: `${namespace}.${set.type}`,
    $NavigationPropertyBinding:
      set.bindings.length === 0
        ? undefined
        : Object.fromEntries(set.bindings.map(({ path, target }) => [path, target])),
    ...annotations(set.annotations),
  };
}

function vocabulary({ terms }: Vocabulary): Json {
  return Object.fromEntries(
    terms.map(({ name, appliesTo, description }) => [
      name,
      { $Kind: 'Term', $AppliesTo: [appliesTo], '@Core.Description': description },
    ]),
  );
}

function annotations(items: readonly Annotation[]): Record<string, AnnotationValue> {
  return Object.fromEntries(items.map(({ term, value }) => [`@${term}`, value]));
}
