/** Sources of metadata documents: the whole dictionary, what a role sees of it, and a small one. */
import assert from 'node:assert/strict';
import { BUILT_IN_ACCESS, makeView, resolveAccess, type View } from '../../../src/access/index.ts';
import type { CsdlResource, CsdlSource } from '../../../src/dictionary/csdl/document.ts';
import type { CsdlVersion } from '../../../src/dictionary/csdl/model.ts';
import {
  type Dictionary,
  declare,
  type Field,
  type Resource,
  standardDictionary,
} from '../../../src/dictionary/index.ts';

export const standard = standardDictionary();

const whole = (resource: Resource): CsdlResource => ({
  resource,
  fields: [...resource.fields.values()],
  navigations: [...resource.navigations.values()],
});

export function wholeDictionary(
  dictionary: Dictionary = standard,
  version: CsdlVersion = '4.01',
): CsdlSource {
  return { version, resources: [...dictionary.resources.values()].map(whole) };
}

const rules = resolveAccess(BUILT_IN_ACCESS, standard, '2024-05-31');
export const ROLES = [...rules.roles.keys()];

export function viewOf(role: string, onlyFloorPlans = false): View {
  const found = rules.roles.get(role);
  assert.ok(found, `no role ${role}`);
  return makeView({
    dictionary: standard,
    role: found,
    scope: { bit: found.bit, withholds: !found.seesWithheld, onlyFloorPlans },
    inUse: () => true,
    holdsData: () => true,
  });
}

/** What a view publishes, as the service passes it. */
export function sourceOf(view: View): CsdlSource {
  const resources = [...standard.resources.values()].filter(view.publishes);
  return {
    version: '4.01',
    resources: resources.map((resource) => ({ ...whole(resource), fields: view.fieldsOf(resource) })),
  };
}

/** A local name with every character that XML and JSON encode in their own way. */
export const AWKWARD = { group: 'Bed & "Breakfast"', label: `<Rooms>: it's 100% ü 名 🏠 \\ \u00a0.` };

/** The dictionary with an operator's own fields of every type. */
export const declared = declare(standard, {
  customFields: [
    { resource: 'Property', name: 'Awkward', type: 'string', ...AWKWARD },
    ...[
      'string(50)',
      'string(50)[]',
      'integer',
      'integer(5)',
      'decimal(10,2)',
      'boolean',
      'date',
      'timestamp',
    ].map((type, index) => ({
      resource: 'Member',
      name: `Custom_${index}`,
      group: 'Types',
      label: type,
      type,
    })),
    {
      resource: 'Member',
      name: 'Listed',
      group: 'A',
      label: 'B',
      type: 'string(9)',
      lookup: 'Bed & <Breakfast>',
    },
  ],
  lookups: [{ lookup: 'Bed & <Breakfast>', values: ['Bed'] }],
});

function fieldNamed(resource: string, name: string): Field {
  const field = declared.resources.get(resource)?.fields.get(name);
  assert.ok(field, `no field ${resource}.${name}`);
  return field;
}

/** Some fields of some resources, in the given order, with the named navigations of the dictionary. */
export function excerpt(wanted: Readonly<Record<string, readonly string[]>>): CsdlSource {
  const resources = Object.entries(wanted).map(([name, members]): CsdlResource => {
    const resource = declared.resources.get(name);
    assert.ok(resource, `no resource ${name}`);
    const navigations = [...resource.navigations.values()].filter((way) => members.includes(way.name));
    const ways = new Set(navigations.map((way) => way.name));
    const fields = members.filter((member) => !ways.has(member)).map((member) => fieldNamed(name, member));
    return { resource, fields, navigations };
  });
  return { version: '4.01', resources };
}

/** One property of every type, one of every annotation, and navigations of which some are omitted. */
export const SMALL = excerpt({
  Property: [
    'ListingKey',
    'ListPrice',
    'StandardStatus',
    'BedroomsTotal',
    'Appliances',
    'WaterfrontYN',
    'CloseDate',
    'ModificationTimestamp',
    'Awkward',
    'ListAgentKey',
    'ListAgentEmail',
    'ListAgent',
    'BuyerAgent',
    'ListOffice',
    'Rooms',
  ],
  Member: ['MemberKey'],
  PropertyRooms: ['RoomKey', 'ListingKey', 'Listing'],
});
