import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { csdlDocument } from '../../../src/dictionary/csdl/document.ts';
import type { Annotation, CsdlDocument, EntityType } from '../../../src/dictionary/csdl/model.ts';
import { declared, excerpt, ROLES, SMALL, sourceOf, standard, viewOf, wholeDictionary } from './fixture.ts';

/** OData CSDL 17.2; the dictionary uses a narrower form than this allows, and never a wider one. */
const SIMPLE_IDENTIFIER = /^[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Pc}\p{Cf}]{0,127}$/u;

function typeNamed(document: CsdlDocument, name: string): EntityType {
  const type = document.entityTypes.find((entry) => entry.name === name);
  assert.ok(type, `no entity type ${name}`);
  return type;
}

/** Rules in the text of CSDL that its schemas do not check. */
function checkRules(document: CsdlDocument): void {
  const { entityTypes, container, vocabularies, references } = document;
  const names = [...entityTypes.map(({ name }) => name), container.name];
  assert.equal(new Set(names).size, names.length);
  for (const name of names) assert.match(name, SIMPLE_IDENTIFIER);

  const qualifiers = new Set([
    ...references.map(({ alias }) => alias),
    ...vocabularies.map(({ namespace }) => namespace),
  ]);
  const checkTerms = (annotations: readonly Annotation[]): void => {
    const terms = annotations.map(({ term }) => term);
    assert.equal(new Set(terms).size, terms.length);
    for (const term of terms) assert.ok(qualifiers.has(term.slice(0, term.lastIndexOf('.'))), term);
  };

  for (const type of entityTypes) {
    const { name, key, properties, navigationProperties } = type;
    const members = [...properties, ...navigationProperties].map((member) => member.name);
    assert.equal(new Set(members).size, members.length, name);
    for (const member of members) assert.match(member, SIMPLE_IDENTIFIER);
    const byName = new Map(properties.map((property) => [property.name, property]));
    assert.equal(byName.get(key)?.nullable, false, name);
    assert.equal(byName.get(key)?.collection, false, name);
    for (const property of properties) checkTerms(property.annotations);
    for (const { target, collection, constraint } of navigationProperties) {
      const targetType = typeNamed(document, target);
      if (constraint === undefined) continue;
      assert.equal(collection, false);
      const dependent = byName.get(constraint.property);
      const principal = targetType.properties.find(({ name }) => name === constraint.referencedProperty);
      assert.ok(dependent && principal, `${name}.${constraint.property}`);
      assert.equal(dependent.type, principal.type);
      // The other record may be missing, so that the property that names it may be null (CSDL 8.5).
      assert.equal(dependent.nullable, true);
    }
  }

  const sets = container.entitySets.map((set) => set.name);
  assert.equal(new Set(sets).size, sets.length);
  checkTerms(container.annotations);
  for (const { name, type, bindings, annotations } of container.entitySets) {
    assert.match(name, SIMPLE_IDENTIFIER);
    checkTerms(annotations);
    assert.deepEqual(
      bindings,
      typeNamed(document, type)
        .navigationProperties.filter(({ contained }) => contained === undefined)
        .map((way) => ({ path: way.name, target: way.target })),
    );
    for (const { target } of bindings) assert.ok(sets.includes(target));
  }
}

describe('a document follows the rules of CSDL', () => {
  it('of the whole dictionary', () => checkRules(csdlDocument(wholeDictionary())));
  it('of custom fields', () => checkRules(csdlDocument(wholeDictionary(declared))));
  it('of some fields of some resources', () => checkRules(csdlDocument(SMALL)));
  for (const role of ROLES) {
    it(`of what the role ${role} sees`, () => checkRules(csdlDocument(sourceOf(viewOf(role)))));
  }
});

describe('a document of the dictionary', () => {
  const document = csdlDocument(wholeDictionary(declared));
  const records = document.entityTypes.filter(({ name }) => declared.resources.has(name));
  const fieldNames = (): string[] =>
    [...declared.resources.values()].flatMap(({ name, fields }) =>
      [...fields.keys()].map((field) => `${name}.${field}`),
    );

  /** The fields with a term in their annotations, and its value. */
  const annotated = (term: string): [string, unknown][] =>
    records.flatMap((type) =>
      type.properties.flatMap(({ name, annotations }) =>
        annotations
          .filter((entry) => entry.term === term)
          .map(({ value }) => [`${type.name}.${name}`, value] as [string, unknown]),
      ),
    );

  it('has every field and every navigation, in their order', () => {
    const properties = records.flatMap(({ name, properties }) =>
      properties.map((property) => `${name}.${property.name}`),
    );
    assert.deepEqual(properties, fieldNames());
    const ways = document.entityTypes.flatMap((type) => type.navigationProperties);
    assert.equal(ways.filter(({ contained }) => contained === undefined).length, 143);
  });

  it('has the custom fields of a resource a second time, as a part of its records with a type of its own', () => {
    const parts = document.entityTypes.flatMap(({ name, navigationProperties }) =>
      navigationProperties.filter(({ contained }) => contained === true).map((own) => [name, own]),
    );
    const part = (target: string) => ({ name: 'CustomFields', target, collection: true, contained: true });
    assert.deepEqual(parts, [
      ['Property', part('Property')],
      ['Member', part('Member')],
    ]);
    assert.deepEqual(
      document.entityTypes.map(({ name }) => name),
      document.container.entitySets.map(({ name }) => name),
    );
  });

  it('has one entity set for each type, with the same name', () => {
    const { entityTypes, container } = document;
    const own = entityTypes.filter(({ name }) => !name.endsWith('CustomFields'));
    assert.deepEqual(
      container.entitySets.map(({ name, type }) => [name, type]),
      own.map(({ name }) => [name, name]),
    );
  });

  it('names the lookup of every field that has one, even if the field is not a list', () => {
    const expected = [...declared.resources.values()].flatMap(({ name, fields }) =>
      [...fields.values()].flatMap((field) =>
        field.lookup !== undefined ? [[`${name}.${field.name}`, field.lookup]] : [],
      ),
    );
    const actual = annotated('RESO.OData.Metadata.LookupName');
    assert.deepEqual(actual, expected);
    const byField = new Map(actual);
    assert.equal(byField.get('Property.StandardStatus'), 'StandardStatus');
    assert.equal(byField.get('Member.Listed'), 'Bed & <Breakfast>');
    assert.equal(byField.get('Property.City'), 'City');
    assert.equal(byField.get('Property.MLSAreaMajor'), 'MLSAreaMajor');
    assert.equal(byField.has('Property.PublicRemarks'), false);
  });

  it('has the local name of each custom field, and of no other', () => {
    assert.deepEqual(annotated('MLS.OData.Metadata.LocalName'), [
      ['Property.Awkward', `Bed & "Breakfast": <Rooms>: it's 100% ü 名 🏠 \\ \u00a0.`],
      ['Member.Custom_0', 'Types: string(50)'],
      ['Member.Custom_1', 'Types: string(50)[]'],
      ['Member.Custom_2', 'Types: integer'],
      ['Member.Custom_3', 'Types: integer(5)'],
      ['Member.Custom_4', 'Types: decimal(10,2)'],
      ['Member.Custom_5', 'Types: boolean'],
      ['Member.Custom_6', 'Types: date'],
      ['Member.Custom_7', 'Types: timestamp'],
      ['Member.Listed', 'A: B'],
    ]);
  });

  it('marks the fields that come from agents and offices, and no others', () => {
    const computed = annotated('Core.Computed');
    assert.equal(computed.length, 128);
    for (const [name, value] of computed) {
      assert.match(name, /^Property\.(Co)?(List|Buyer)(Agent|Office)/);
      assert.equal(value, true);
    }
  });

  it('has the facets of each custom type', () => {
    const custom = typeNamed(document, 'Member').properties.slice(-9, -1);
    const facets = custom.map(({ annotations: _, name: __, ...rest }) => rest);
    assert.deepEqual(facets, [
      { collection: false, nullable: true, type: 'Edm.String', maxLength: 50 },
      { collection: true, nullable: false, type: 'Edm.String', maxLength: 50 },
      { collection: false, nullable: true, type: 'Edm.Int64' },
      { collection: false, nullable: true, type: 'Edm.Int64' },
      { collection: false, nullable: true, type: 'Edm.Decimal', precision: 10, scale: 2 },
      { collection: false, nullable: true, type: 'Edm.Boolean' },
      { collection: false, nullable: true, type: 'Edm.Date' },
      { collection: false, nullable: true, type: 'Edm.DateTimeOffset', precision: 6 },
    ]);
  });
});

describe('a document of what a reader sees', () => {
  it('has no navigation to a resource that is not in it', () => {
    const { entityTypes } = csdlDocument(
      excerpt({ Property: ['ListingKey', 'ListAgentKey', 'ListAgent', 'Rooms'] }),
    );
    assert.deepEqual(
      entityTypes.map(({ navigationProperties }) => navigationProperties),
      [[]],
    );
  });

  it('has no constraint that names a hidden key field', () => {
    const members = { Member: ['MemberKey'] };
    const shown = csdlDocument(
      excerpt({ Property: ['ListingKey', 'ListAgentKey', 'ListAgent'], ...members }),
    );
    const hidden = csdlDocument(excerpt({ Property: ['ListingKey', 'ListAgent'], ...members }));
    assert.deepEqual(typeNamed(shown, 'Property').navigationProperties, [
      {
        name: 'ListAgent',
        target: 'Member',
        collection: false,
        constraint: { property: 'ListAgentKey', referencedProperty: 'MemberKey' },
      },
    ]);
    assert.deepEqual(typeNamed(hidden, 'Property').navigationProperties, [
      { name: 'ListAgent', target: 'Member', collection: false },
    ]);
  });

  it('has no constraint for a link that is not by key', () => {
    const { entityTypes } = csdlDocument(
      excerpt({
        Media: ['MediaKey', 'OriginatingSystemID', 'OriginatingSystem'],
        OUID: ['OrganizationUniqueIdKey', 'OrganizationUniqueId'],
      }),
    );
    assert.deepEqual(entityTypes[0]?.navigationProperties, [
      { name: 'OriginatingSystem', target: 'OUID', collection: false },
    ]);
  });

  for (const role of ROLES) {
    it(`contains what the role ${role} may name, and nothing else`, () => {
      const view = viewOf(role);
      const { entityTypes, container } = csdlDocument(sourceOf(view));
      assert.deepEqual(
        container.entitySets.map(({ name }) => name),
        [...view.schema.entitySets()],
      );
      for (const { name, properties, navigationProperties } of entityTypes) {
        const members = [...properties, ...navigationProperties].map((member) => member.name);
        assert.deepEqual(members.sort(), [...view.schema.of(name).names()].sort());
      }
    });
  }

  it('does not have private remarks for the idx role', () => {
    const property = typeNamed(csdlDocument(sourceOf(viewOf('idx'))), 'Property');
    const names = new Set(property.properties.map(({ name }) => name));
    assert.equal(names.has('PublicRemarks'), true);
    assert.equal(names.has('PrivateRemarks'), false);
    assert.equal(standard.resources.get('Property')?.fields.has('PrivateRemarks'), true);
  });

  it('of the floor plan interface contains only media, without navigations', () => {
    const { entityTypes, container } = csdlDocument(sourceOf(viewOf('private', true)));
    assert.deepEqual(
      entityTypes.map(({ name, navigationProperties }) => [name, navigationProperties]),
      [['Media', []]],
    );
    assert.deepEqual(
      container.entitySets.map(({ name }) => name),
      ['Media'],
    );
  });
});
