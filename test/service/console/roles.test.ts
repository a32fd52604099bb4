/** The roles in force on the admin port: built-in ones and an operator's own, with the fields of each class. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { BUILT_IN_ACCESS } from '../../../src/access/index.ts';
import { listing } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';

const service = await startTestService(
  { after },
  {
    settings: {
      declarations: {
        customFields: [
          {
            resource: 'Property',
            name: 'Lake_Dock',
            group: 'Lake',
            label: 'Dock',
            type: 'string',
            class: 'lake',
          },
        ],
      },
      access: {
        roles: [
          ...BUILT_IN_ACCESS.roles.map((role) =>
            role.name === 'vow' ? { ...role, classes: ['idx'] } : role,
          ),
          {
            name: 'appraiser',
            classes: ['facts', 'lake'],
            resources: { Property: 'CloseDate ge {today - 1 month}', Teams: '', Lookup: '' },
          },
        ],
        withheld: BUILT_IN_ACCESS.withheld,
      },
    },
    fill: async ({ write }) => {
      await write(
        'Property',
        listing('1', { City: 'Calder', PrivateRemarks: 'Key at the office', ListPrice: 1 }),
      );
    },
  },
);
const token = await service.key('admin');

const EVERY_ROW = { filter: '' };
/** Resources of which every role sees all rows. */
const REST = Object.fromEntries(
  ['PropertyRooms', 'PropertyUnitTypes', 'OpenHouse', 'Lookup', 'Field'].map((name) => [name, EVERY_ROW]),
);
const ACTIVE = {
  Member: { filter: "MemberStatus eq null or MemberStatus eq 'Active'" },
  Office: { filter: "OfficeStatus eq null or OfficeStatus eq 'Active'" },
};
const media = (names: string) => ({ filter: `not Permission/any() or Permission/any(p: p in (${names}))` });

const SHOWN = 'InternetEntireListingDisplayYN ne false';
const lately = (since: string) =>
  "(StandardStatus in ('Active','Active Under Contract','Pending','Coming Soon') or " +
  `(StandardStatus eq 'Closed' and CloseDate ge ${since})) and ${SHOWN}`;
const LATELY = { filter: lately('{today - 3 years}'), today: lately('2023-06-01') };
const ON_MARKET_ONCE =
  "StandardStatus in ('Active','Active Under Contract','Pending','Coming Soon','Closed','Hold')";

test('each role is listed with its classes, and with the row filter of each published resource', async () => {
  const { status, json } = await service.get('admin', '/roles', { token });
  assert.equal(status, 200);
  assert.equal(json.day, '2026-06-01');
  const standard = ['open', 'idx', 'address', 'facts', 'address-facts', 'history'];
  assert.deepEqual(json.roles, [
    {
      name: 'private',
      isOwn: false,
      classes: [...standard, 'private', 'lake'],
      seesWithheld: true,
      rows: {
        Property: EVERY_ROW,
        Member: EVERY_ROW,
        Office: EVERY_ROW,
        Media: EVERY_ROW,
        ...REST,
      },
    },
    {
      name: 'idx',
      isOwn: false,
      classes: ['open', 'idx', 'address'],
      seesWithheld: false,
      rows: { Property: LATELY, ...ACTIVE, Media: media("'Public','IDX'"), ...REST },
    },
    {
      name: 'vow',
      isOwn: true,
      classes: ['open', 'idx'],
      seesWithheld: false,
      rows: {
        Property: { filter: `not (StandardStatus in ('Incomplete','Delete')) and ${SHOWN}` },
        Member: EVERY_ROW,
        Office: EVERY_ROW,
        Media: media("'Public','VOW'"),
        ...REST,
      },
    },
    {
      name: 'public',
      isOwn: false,
      classes: ['open', 'idx', 'address', 'facts', 'address-facts'],
      seesWithheld: false,
      rows: { Property: LATELY, ...ACTIVE, Media: media("'Public'"), ...REST },
    },
    {
      name: 'portal',
      isOwn: false,
      classes: standard,
      seesWithheld: false,
      rows: {
        Property: { filter: `${ON_MARKET_ONCE} and ${SHOWN}` },
        ...ACTIVE,
        Media: media("'Public','Portal'"),
        ...REST,
      },
    },
    {
      name: 'appraiser',
      isOwn: true,
      classes: ['open', 'facts', 'lake'],
      seesWithheld: false,
      rows: {
        Property: { filter: 'CloseDate ge {today - 1 month}', today: 'CloseDate ge 2026-05-01' },
        Lookup: EVERY_ROW,
      },
    },
  ]);
});

test('the fields in use are listed by the class that decides who sees them', async () => {
  const json = JSON.parse((await service.get('admin', '/roles', { token })).text);
  assert.deepEqual(json.classes, [
    'open',
    'idx',
    'address',
    'facts',
    'address-facts',
    'history',
    'private',
    'lake',
  ]);
  assert.deepEqual(json.withheld, [
    {
      resource: 'Property',
      classes: ['address', 'address-facts'],
      shownWhen: 'InternetAddressDisplayYN ne false',
    },
  ]);
  const [property, , office, ...others] = json.resources;
  assert.deepEqual(property, {
    name: 'Property',
    key: 'ListingKey',
    fields: {
      open: [
        'ListingKey',
        'BuyerAgentKey',
        'BuyerOfficeKey',
        'CoBuyerAgentKey',
        'CoBuyerOfficeKey',
        'CoListAgentKey',
        'CoListOfficeKey',
        'DocumentsChangeTimestamp',
        'ListAgentKey',
        'ListOfficeKey',
        'MajorChangeTimestamp',
        'ModificationTimestamp',
        'OpenHousesChangeTimestamp',
        'OriginatingSystemID',
        'PhotosChangeTimestamp',
        'PriceChangeTimestamp',
        'StatusChangeTimestamp',
        'VideosChangeTimestamp',
      ],
      idx: [
        'BuyerAgentPreferredPhone',
        'CoBuyerAgentPreferredPhone',
        'CoListAgentPreferredPhone',
        'ListAgentPreferredPhone',
        'ListPrice',
        'PhotosCount',
        'StandardStatus',
      ],
      address: ['City'],
      facts: ['DocumentsCount', 'VideosCount'],
      private: ['PrivateRemarks'],
      lake: ['Lake_Dock'],
    },
  });
  assert.deepEqual(office, {
    name: 'Office',
    key: 'OfficeKey',
    fields: { open: ['OfficeKey', 'ModificationTimestamp', 'OriginatingSystemID'], idx: ['OfficeStatus'] },
  });
  assert.deepEqual(
    others.map(({ name }: { readonly name: string }) => name),
    ['Media', 'PropertyRooms', 'PropertyUnitTypes', 'OpenHouse', 'Lookup', 'Field'],
  );
});

test('only an admin key can read the roles', async () => {
  assert.equal((await service.get('admin', '/roles')).status, 401);
  assert.equal((await service.get('admin', '/roles', { token: await service.key('api') })).status, 403);
});
