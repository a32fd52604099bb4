/** Writes `$metadata` in OData CSDL XML 4.01. */
import type {
  Annotation,
  CsdlDocument,
  EntityContainer,
  EntitySet,
  EntityType,
  EnumType,
  NavigationProperty,
  Property,
  Vocabulary,
  VocabularyReference,
} from './model.ts';

const EDMX = 'http://docs.oasis-open.org/odata/ns/edmx';
const EDM = 'http://docs.oasis-open.org/odata/ns/edm';

/** The document in OData CSDL XML 4.01; the media type is `application/xml`. */
export function csdlXml(document: CsdlDocument): string {
  const { namespace, entityTypes, container } = document;
  const schemas = [
    schema(namespace, [
      ...entityTypes.map((type) => entityType(type, namespace)),
      entityContainer(container, namespace),
    ]),
    ...(document.enumerations.types.length === 0
      ? []
      : [schema(document.enumerations.namespace, document.enumerations.types.map(enumType))]),
    ...document.vocabularies.map(vocabulary),
  ];
  return writeXml({
    name: 'edmx:Edmx',
    attributes: { 'xmlns:edmx': EDMX, Version: document.version },
    children: [
      ...document.references.map(reference),
      { name: 'edmx:DataServices', attributes: {}, children: schemas },
    ],
  });
}

function reference({ uri, namespace, alias }: VocabularyReference): XmlElement {
  const include: XmlElement = { name: 'edmx:Include', attributes: { Namespace: namespace, Alias: alias } };
  return { name: 'edmx:Reference', attributes: { Uri: `${uri}.xml` }, children: [include] };
}

function schema(namespace: string, children: readonly XmlElement[]): XmlElement {
  return { name: 'Schema', attributes: { xmlns: EDM, Namespace: namespace }, children };
}

function entityType(
  { name, key, properties, navigationProperties }: EntityType,
  namespace: string,
): XmlElement {
  const keyElement: XmlElement = {
    name: 'Key',
    attributes: {},
    children: [{ name: 'PropertyRef', attributes: { Name: key } }],
  };
  return {
    name: 'EntityType',
    attributes: { Name: name },
    children: [
      keyElement,
      ...properties.map(property),
      ...navigationProperties.map((navigation) => navigationProperty(navigation, namespace)),
    ],
  };
}

/** In XML a single value is nullable by default (CSDL XML 7.2.1); a collection has no default. */
function property(item: Property): XmlElement {
  const type = typeof item.type === 'string' ? item.type : item.type.enumeration;
  return {
    name: 'Property',
    attributes: {
      Name: item.name,
      Type: item.collection ? `Collection(${type})` : type,
      Nullable: item.nullable && !item.collection ? undefined : item.nullable,
      MaxLength: item.maxLength,
      Precision: item.precision,
      Scale: item.scale,
    },
    children: item.annotations.map(annotation),
  };
}

function enumType({ name, members }: EnumType): XmlElement {
  return {
    name: 'EnumType',
    attributes: { Name: name },
    children: members.map((member) => ({
      name: 'Member',
      attributes: { Name: member.name },
      children: member.annotations.map(annotation),
    })),
  };
}

function navigationProperty(item: NavigationProperty, namespace: string): XmlElement {
  const target = `${namespace}.${item.target}`;
  const { constraint } = item;
  return {
    name: 'NavigationProperty',
    attributes: {
      Name: item.name,
      Type: item.collection ? `Collection(${target})` : target,
      ContainsTarget: item.contained,
    },
    children:
      constraint === undefined
        ? []
        : [
            {
              name: 'ReferentialConstraint',
              attributes: {
                Property: constraint.property,
                ReferencedProperty: constraint.referencedProperty,
              },
            },
          ],
  };
}

function entityContainer({ name, entitySets, annotations }: EntityContainer, namespace: string): XmlElement {
  return {
    name: 'EntityContainer',
    attributes: { Name: name },
    children: [...entitySets.map((set) => entitySet(set, namespace)), ...annotations.map(annotation)],
  };
}

function entitySet({ name, type, bindings, annotations }: EntitySet, namespace: string): XmlElement {
  return {
    name: 'EntitySet',
    attributes: { Name: name, EntityType: `${namespace}.${type}` },
    children: [
      ...bindings.map(({ path, target }) => ({
        name: 'NavigationPropertyBinding',
        attributes: { Path: path, Target: target },
      })),
      ...annotations.map(annotation),
    ],
  };
}

function annotation({ term, value }: Annotation): XmlElement {
  if (typeof value === 'string') return { name: 'Annotation', attributes: { Term: term, String: value } };
  if (typeof value === 'boolean') return { name: 'Annotation', attributes: { Term: term, Bool: value } };
  const values = Object.entries(value).map(([name, flag]) => ({
    name: 'PropertyValue',
    attributes: { Property: name, Bool: flag },
  }));
  return {
    name: 'Annotation',
    attributes: { Term: term },
    children: [{ name: 'Record', attributes: {}, children: values }],
  };
}

function vocabulary({ namespace, terms }: Vocabulary): XmlElement {
  return schema(
    namespace,
    terms.map(({ name, appliesTo, description }) => ({
      name: 'Term',
      attributes: { Name: name, Type: 'Edm.String', Nullable: false, AppliesTo: appliesTo },
      children: [annotation({ term: 'Core.Description', value: description })],
    })),
  );
}

// XML

/** An XML element with attributes and child elements; CSDL knows no other content. */
interface XmlElement {
  readonly name: string;
  /** Undefined ones are omitted. */
  readonly attributes: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly children?: readonly XmlElement[];
}

/** An XML document in UTF-8 without a byte order mark. Texts contain no character that XML 1.0 excludes. */
function writeXml(root: XmlElement): string {
  const lines = ['<?xml version="1.0" encoding="UTF-8"?>'];
  writeElement(root, '', lines);
  return `${lines.join('\n')}\n`;
}

function writeElement(
  { name, attributes, children = [] }: XmlElement,
  indent: string,
  lines: string[],
): void {
  let start = `${indent}<${name}`;
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value !== undefined) start += ` ${attribute}="${escapeAttribute(String(value))}"`;
  }
  if (children.length === 0) {
    lines.push(`${start}/>`);
    return;
  }
  lines.push(`${start}>`);
  for (const child of children) writeElement(child, `${indent}  `, lines);
  lines.push(`${indent}</${name}>`);
}

function escapeAttribute(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
