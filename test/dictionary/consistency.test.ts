import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Field, type Resource, standardDictionary } from '../../src/dictionary/index.ts';
import { nativeName } from '../../src/dictionary/names.ts';

const { resources, lookups } = standardDictionary();

function fieldOf(resource: string, name: string): Field {
  const field = resources.get(resource)?.fields.get(name);
  assert.ok(field, `there is no field ${resource}.${name}`);
  return field;
}

function resourceOf(name: string): Resource {
  const found = resources.get(name);
  assert.ok(found, `there is no resource ${name}`);
  return found;
}

describe('the standard dictionary', () => {
  it('is read once', () => assert.equal(standardDictionary(), standardDictionary()));

  it('has a key for each resource, which every role sees', () => {
    for (const { name, key } of resources.values()) {
      const field = fieldOf(name, key);
      assert.equal(field.class, 'open', name);
      assert.equal(field.type.kind, name === 'EntityEvent' ? 'integer' : 'string', name);
      assert.equal(field.collection, false, name);
    }
  });

  it('has indexes only on fields of the resource, with different initials, since these name the index', () => {
    const covering = [...resources.values()].flatMap(({ name, searchedBy }) =>
      searchedBy.filter(({ covers }) => covers.length > 0).map((index) => ({ name, ...index })),
    );
    assert.deepEqual(
      covering.map(({ name, fields }) => `${name}: ${fields.join()}`),
      ['Property: City,ListPrice', 'Property: ListPrice'],
    );
    for (const { name, fields, covers } of covering) {
      for (const field of [...fields, ...covers]) fieldOf(name, field);
      const initials = new Set(covers.map((field) => field.replace(/[^A-Z]/g, '')));
      assert.equal(initials.size, covers.length, fields.join());
    }
  });

  it('always publishes the fields that clients request first', () => {
    const always = [...resources.values()].filter((resource) => resource.always).map(({ name }) => name);
    assert.deepEqual(always, [
      'Property',
      'Member',
      'Office',
      'Media',
      'PropertyRooms',
      'PropertyUnitTypes',
      'OpenHouse',
      'Lookup',
      'Field',
      'EntityEvent',
    ]);
  });

  it("has the specification's names of rooms and units", () => {
    const others = [...resources.values()].flatMap(({ name, otherNames }) =>
      otherNames.map((other) => `${other} = ${name}`),
    );
    assert.deepEqual(others, ['Room = PropertyRooms', 'Unit = PropertyUnitTypes']);
  });

  it('has names that are simple identifiers, and columns that differ in more than case', () => {
    for (const { name, otherNames, fields, navigations } of resources.values()) {
      const members = [...fields.keys(), ...navigations.keys()];
      for (const text of [name, ...otherNames, ...members]) assert.match(text, /^[A-Z][A-Za-z0-9]{0,127}$/);
      assert.equal(new Set(members.map((member) => member.toLowerCase())).size, members.length, name);
    }
  });

  it('has navigations only between fields of the same kind', () => {
    for (const { name, key, navigations } of resources.values()) {
      for (const way of navigations.values()) {
        const local = fieldOf(name, way.local);
        const remote = fieldOf(way.target, way.remote);
        assert.equal(local.type.kind, remote.type.kind, `${name}.${way.name}`);
        assert.equal(local.collection || remote.collection, false, `${name}.${way.name}`);
        // To many: from this record's key. To one: from a field that may be null, so never from the key.
        assert.equal(way.local === key, way.collection, `${name}.${way.name}`);
      }
    }
  });

  it('has children that name their parent', () => {
    const parents = [...resources.values()].flatMap(({ name, parent }) => (parent ? [{ name, parent }] : []));
    assert.deepEqual(parents.map(({ name }) => name).sort(), [
      'HistoryTransactional',
      'Media',
      'OpenHouse',
      'OtherPhone',
      'PropertyGreenVerification',
      'PropertyPowerProduction',
      'PropertyRooms',
      'PropertyUnitTypes',
      'SocialMedia',
    ]);
    for (const { name, parent } of parents) {
      fieldOf(name, parent.keyField);
      if (parent.kind === 'named') fieldOf(name, parent.resourceField);
      else resourceOf(parent.resource);
    }
  });

  it('has lists of strings only', () => {
    const lists = [...resources.values()].flatMap(({ fields }) =>
      [...fields.values()].filter((field) => field.collection),
    );
    assert.ok(lists.length > 100);
    for (const field of lists) assert.equal(field.type.kind, 'string', field.name);
  });

  it('maps every spelling of a value, and none to two values', () => {
    for (const { name, values, spellings } of lookups.values()) {
      for (const { value, legacy } of values.values()) {
        assert.equal(spellings.get(value), value, `${name}: ${value}`);
        if (legacy !== undefined && !values.has(legacy)) {
          assert.equal(spellings.get(legacy), value, `${name}: ${legacy}`);
        }
      }
    }
  });
});

const SIDES = ['ListAgent', 'CoListAgent', 'BuyerAgent', 'CoBuyerAgent'];
const OFFICE_SIDES = ['ListOffice', 'CoListOffice', 'BuyerOffice', 'CoBuyerOffice'];

describe('agent and office fields of a listing', () => {
  const joined = [...resources.values()].flatMap(({ fields }) =>
    [...fields.values()].flatMap((field) => (field.joined ? [{ ...field, joined: field.joined }] : [])),
  );

  it('come from a field of the same kind, over the link of a navigation', () => {
    for (const field of joined) {
      const { link, resource, field: name } = field.joined;
      const source = fieldOf(resource, name);
      assert.equal(source.type.kind, field.type.kind, field.name);
      assert.equal(source.collection, field.collection, field.name);
      assert.equal(source.joined, undefined, field.name);
      const ways = [...resourceOf(field.resource).navigations.values()];
      const way = ways.find((navigation) => navigation.local === link && !navigation.collection);
      assert.equal(way?.target, resource, field.name);
      assert.equal(way?.remote, resourceOf(resource).key, field.name);
    }
  });

  it('include every field that has a counterpart', () => {
    const expected = [...resourceOf('Property').fields.keys()].flatMap((name) => {
      const side = [...SIDES, ...OFFICE_SIDES].find((prefix) => name.startsWith(prefix));
      if (side === undefined || name === `${side}Key`) return [];
      const own = side.endsWith('Agent') ? 'Member' : 'Office';
      const counterpart = `${own}${name.slice(side.length)}`;
      return resourceOf(own).fields.has(counterpart)
        ? [`${name} <- ${own}.${counterpart} via ${side}Key`]
        : [];
    });
    const actual = joined.map(
      ({ name, joined: { link, resource, field } }) => `${name} <- ${resource}.${field} via ${link}`,
    );
    assert.deepEqual(actual.sort(), expected.sort());
    assert.equal(actual.length, 128);
  });
});

describe('native names', () => {
  it('are Ids of agents and offices where RESO has keys', () => {
    const renamed = [...resourceOf('Property').fields.values()].filter(
      (field) => field.nativeName !== field.name,
    );
    assert.deepEqual(renamed.map((field) => `${field.name} ${field.nativeName}`).sort(), [
      'BuyerAgentKey BuyerAgentId',
      'BuyerOfficeKey BuyerOfficeId',
      'CoBuyerAgentKey CoBuyerAgentId',
      'CoBuyerOfficeKey CoBuyerOfficeId',
      'CoListAgentKey CoListAgentId',
      'CoListOfficeKey CoListOfficeId',
      'ListAgentKey ListAgentId',
      'ListOfficeKey ListOfficeId',
    ]);
  });

  it('do not equal the name of another field', () => {
    const { fields } = resourceOf('Property');
    for (const field of fields.values()) {
      if (field.nativeName !== field.name) assert.equal(fields.has(field.nativeName), false, field.name);
    }
  });

  it('equal the RESO names in every other resource', () => {
    for (const { name, fields } of resources.values()) {
      if (name === 'Property') continue;
      for (const field of fields.values()) assert.equal(field.nativeName, field.name);
    }
    assert.equal(nativeName('Showing', 'ShowingAgentKey'), 'ShowingAgentKey');
    assert.equal(nativeName('Property', 'ListTeamKey'), 'ListTeamKey');
  });
});
