/** Sends every example of the documents on the two query languages to a live service. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { CUSTOM_FIELDS, CUSTOM_LOOKUPS } from 'plat-demo';
import { listing, member, office, openHouse, photo, room, unit } from '../support/builders.ts';
import { startTestService } from '../support/service.ts';

/** The record that the examples name. */
const NAMED = '20240531-1';

const service = await startTestService(
  { after },
  {
    settings: { declarations: { customFields: CUSTOM_FIELDS, lookups: CUSTOM_LOOKUPS } },
    fill: async ({ write }) => {
      await write('Office', office('O1', { MainOfficeKey: 'O2' }), office('O2'));
      await write('Member', member('A1', { OfficeKey: 'O1' }));
      const parts = {
        Media: [photo('7', { Order: 1 })],
        Rooms: [room('R1', { RoomLevel: 'Main' })],
        UnitTypes: [unit('U1')],
        OpenHouses: [openHouse('H1', { OpenHouseDate: '2026-06-06' })],
      };
      const fields = {
        City: 'Rome',
        ListPrice: 480_000,
        BedroomsTotal: 3,
        LivingArea: 100,
        Appliances: ['Dishwasher', 'Cooktop'],
        Latitude: 37.7,
        Longitude: -122.4,
        ListAgentKey: 'A1',
        ListOfficeKey: 'O1',
      };
      await write(
        'Property',
        listing(NAMED, { ...fields, ...parts }),
        listing('20240531-2', { City: 'Fargo' }),
      );
    },
  },
);
const token = await service.key('api');

function examples(page: string, kind: string): string[] {
  const text = readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8');
  const blocks = text.matchAll(new RegExp(`^\`\`\`${kind}\n([^]*?)^\`\`\`$`, 'gm'));
  return [...blocks].flatMap(([, block = '']) => block.trimEnd().split('\n'));
}

/** The documents show requests without percent-encoding. */
const written = (text: string): string => text.replaceAll('%', '%25').replaceAll('+', '%2B');

test('the requests of docs/odata.md are answered', async () => {
  const requests = examples('odata.md', 'odata');
  assert.ok(requests.length >= 45, `${requests.length} examples`);
  for (const request of requests) {
    const { status, text } = await service.get('api', `/Reso/OData/${written(request)}`, { token });
    assert.equal(status, 200, `${request}: ${text}`);
  }
});

test('the filters of docs/native-filter.md are answered', async () => {
  const filters = examples('native-filter.md', 'filter');
  assert.equal(filters.length, 41);
  for (const filter of filters) {
    const { status, text } = await service.get('api', `/v1/listings?_filter=${written(filter)}`, { token });
    assert.equal(status, 200, `${filter}: ${text}`);
  }
});
