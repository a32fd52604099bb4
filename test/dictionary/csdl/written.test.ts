import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { XMLParser } from 'fast-xml-parser';
import { type CsdlSource, csdlDocument } from '../../../src/dictionary/csdl/document.ts';
import { csdlJson } from '../../../src/dictionary/csdl/json.ts';
import { csdlXml } from '../../../src/dictionary/csdl/xml.ts';
import { AWKWARD, declared, excerpt, ROLES, SMALL, sourceOf, viewOf, wholeDictionary } from './fixture.ts';
import { convert, jsonFaults, xmlFaults } from './validators.ts';

const beside = (file: string): string => readFileSync(new URL(file, import.meta.url), 'utf8');
const xmlOf = (source: CsdlSource): string => csdlXml(csdlDocument(source));
const jsonOf = (source: CsdlSource): string => csdlJson(csdlDocument(source));

const SOURCES: Record<string, CsdlSource> = {
  'the whole dictionary': wholeDictionary(),
  'the whole dictionary in version 4.0': wholeDictionary(undefined, '4.0'),
  'custom fields of every type': wholeDictionary(declared),
  'a small document': SMALL,
  'the floor plan interface': sourceOf(viewOf('idx', true)),
  ...Object.fromEntries(ROLES.map((role) => [`the role ${role}`, sourceOf(viewOf(role))])),
};

describe('a metadata document', () => {
  for (const [name, source] of Object.entries(SOURCES)) {
    it(`is valid XML and JSON by the OASIS schemas, with the same content in both: ${name}`, async () => {
      const xml = xmlOf(source);
      const json = jsonOf(source);
      assert.deepEqual(await xmlFaults(xml), []);
      assert.deepEqual(jsonFaults(json), []);
      const converted = convert(xml);
      assert.deepEqual(JSON.parse(json), converted.json);
      assert.deepEqual(converted.messages, []);
    });
  }

  it('equals the file next to this test', () => {
    assert.equal(xmlOf(SMALL), beside('small.xml'));
    assert.deepEqual(JSON.parse(jsonOf(SMALL)), JSON.parse(beside('small.json')));
  });

  it('states its version', () => {
    assert.match(xmlOf({ ...SMALL, version: '4.0' }), /<edmx:Edmx [^>]*Version="4\.0">/);
    assert.equal(JSON.parse(jsonOf({ ...SMALL, version: '4.0' })).$Version, '4.0');
  });

  it('is the same text each time', () => {
    assert.equal(xmlOf(wholeDictionary()), xmlOf(wholeDictionary()));
    assert.equal(jsonOf(wholeDictionary()), jsonOf(wholeDictionary()));
  });

  it('keeps every character of a local name for an ordinary parser', () => {
    const source = excerpt({ Property: ['ListingKey', 'Awkward'] });
    const options = { ignoreAttributes: false, attributeNamePrefix: '', ignoreDeclaration: true };
    const parsed = new XMLParser(options).parse(xmlOf(source));
    const [schema] = parsed['edmx:Edmx']['edmx:DataServices'].Schema;
    const localName = `${AWKWARD.group}: ${AWKWARD.label}`;
    const listing = schema.EntityType;
    assert.deepEqual(listing, {
      Name: 'Property',
      Key: { PropertyRef: { Name: 'ListingKey' } },
      NavigationProperty: {
        Name: 'CustomFields',
        Type: 'Collection(org.reso.metadata.Property)',
        ContainsTarget: 'true',
      },
      Property: [
        { Name: 'ListingKey', Type: 'Edm.String', Nullable: 'false', MaxLength: '255' },
        {
          Name: 'Awkward',
          Type: 'Edm.String',
          Annotation: { Term: 'MLS.OData.Metadata.LocalName', String: localName },
        },
      ],
    });
    const member = JSON.parse(jsonOf(source))['org.reso.metadata'].Property.Awkward;
    assert.deepEqual(member, { $Nullable: true, '@MLS.OData.Metadata.LocalName': localName });
  });
});

describe('the validators', () => {
  const xml = xmlOf(SMALL);
  const json = jsonOf(SMALL);
  const spoilXml: Record<string, [string, string]> = {
    'a type without a name': ['<EntityType Name="Member">', '<EntityType>'],
    'a name that is no identifier': ['Name="ListPrice"', 'Name="List Price"'],
    'an attribute that there is not': ['Nullable="false"', 'Null="false"'],
    'an element out of place': ['<Key>', '<Key/><Key>'],
    'a size that is no number': ['MaxLength="255"', 'MaxLength="255.5"'],
    'a text that is not closed': ['&quot;', '"'],
  };
  for (const [name, [right, wrong]] of Object.entries(spoilXml)) {
    it(`find ${name} in XML`, async () => {
      assert.ok(xml.includes(right));
      assert.notDeepEqual(await xmlFaults(xml.replace(right, wrong)), []);
    });
  }

  const spoilJson: Record<string, [string, string]> = {
    'a size that is no number': ['"$MaxLength":255', '"$MaxLength":"255"'],
    'a member that there is not': ['"$Nullable":true', '"$Null":true'],
    'a version that there is not': ['"$Version":"4.01"', '"$Version":"5"'],
  };
  for (const [name, [right, wrong]] of Object.entries(spoilJson)) {
    it(`find ${name} in JSON`, () => {
      assert.ok(json.includes(right));
      assert.notDeepEqual(jsonFaults(json.replace(right, wrong)), []);
    });
  }
});
