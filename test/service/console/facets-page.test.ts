/** Value counts and map of Explore in a real browser: exact numbers, clicks that narrow the filter, and the view of a role. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { listing, member, office } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import { axe, logIn, overhang, shows, startBrowser, watchedPage, withoutChromium } from './browser.ts';

const HOSTILE = '<img src=x onerror="document.title=1">';

/** Forty listings in three cities, one with a hostile name; prices from 100,000 in steps of 10,000; four without a location. */
const LISTINGS = Array.from({ length: 40 }, (_, at) =>
  listing(`L${String(at).padStart(2, '0')}`, {
    City: at < 20 ? 'Ely' : at < 32 ? 'Zug' : HOSTILE,
    UnparsedAddress: at === 39 ? HOSTILE : `${at} Main St`,
    StandardStatus: at % 4 === 0 ? 'Closed' : 'Active',
    PropertyType: 'Residential',
    BedroomsTotal: at % 3,
    ListPrice: 100_000 + at * 10_000,
    ...(at === 0 ? { Appliances: ['Oven'] } : {}),
    ...(at % 10 === 0 ? {} : { Latitude: 45 + (at % 7) / 50, Longitude: -85 + at / 100 }),
  }),
);

/** A place of one polygon, and one of two polygons without a listing. */
const OUTLINES = [
  { name: 'Ely', geometry: { type: 'Polygon', coordinates: [squareAt(-85)] } },
  { name: HOSTILE, geometry: { type: 'MultiPolygon', coordinates: [[squareAt(-84)], [squareAt(-83)]] } },
].map(({ name, geometry }) => ({ type: 'Feature', properties: { name }, geometry }));

function squareAt(west: number): number[][] {
  const corners = [
    [west, 45],
    [west + 0.1, 45],
    [west + 0.1, 45.1],
    [west, 45.1],
  ];
  return [...corners, ...corners.slice(0, 1)];
}

test('value counts and map of Explore', { skip: withoutChromium }, async (t) => {
  const service = await startTestService(
    { after },
    {
      fill: async ({ write, store }) => {
        await store.configure((settings) => ({
          ...settings,
          access: {
            ...settings.access,
            roles: [
              ...settings.access.roles,
              { name: 'nowhere', classes: ['idx'], seesWithheld: false, resources: 'all' },
            ],
          },
        }));
        await write('Property', ...LISTINGS);
        await write('Member', member('1'), member('2', { MemberStatus: 'Inactive' }));
        await write('Office', office('1'));
      },
    },
  );
  const { admin } = service.addresses;
  const browser = await startBrowser();
  after(() => browser.close());
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const { page, faults } = await watchedPage(context, admin);
  await logIn(page, admin, await service.key('admin'), '/console/explore?as=role/private');
  const values = (field: string) => page.getByRole('region', { name: field, exact: true }).locator('.value');
  const texts = async (field: string) =>
    (await values(field).allTextContents()).map((text) => text.replaceAll(/\s+/g, ' '));
  const places = async () => (await page.locator('.leaflet-tooltip.place').allTextContents()).toSorted();
  const counted = (text: string) =>
    page.locator('output.count', { hasText: new RegExp(`^${text}$`) }).waitFor();

  await t.test(
    'each value has its number of listings, and a click adds it to the filter or removes it',
    async () => {
      await values('City').first().waitFor();
      await shows(page, () => texts('City'), ['Ely 20', 'Zug 12', `${HOSTILE} 8`]);
      await shows(page, () => texts('Standard Status'), ['Active 30', 'Closed 10']);
      await shows(page, () => texts('Bedrooms Total'), ['0 14', '1 13', '2 13']);
      await values('City').filter({ hasText: 'Zug' }).click();
      await counted('12 listings');
      assert.equal(new URL(page.url()).searchParams.get('filter'), "City eq 'Zug'");
      await values('Standard Status').filter({ hasText: 'Active 9' }).click();
      await counted('9 listings');
      await page.getByRole('button', { name: 'Zug 9', pressed: true }).click();
      await counted('30 listings');
      await values('City').filter({ hasText: HOSTILE }).click();
      await counted('6 listings');
    },
  );

  await t.test('a click on a price range adds it to the filter', async () => {
    await page.goto(`${admin}/console/explore?as=role/private`);
    const bar = page.getByRole('button', { name: 'List Price 180K to 210K: 3' });
    await bar.click();
    await counted('3 listings');
    assert.equal(
      new URL(page.url()).searchParams.get('filter'),
      'ListPrice ge 180000 and ListPrice lt 210000',
    );
  });

  await t.test('the counted fields can be changed, and are part of the URL', async () => {
    await page.goto(`${admin}/console/explore?as=role/private`);
    await page.getByRole('button', { name: 'Do not count City' }).click();
    await page.getByRole('region', { name: 'City', exact: true }).waitFor({ state: 'detached' });
    assert.equal(new URL(page.url()).searchParams.get('facets'), 'StandardStatus,PropertyType,BedroomsTotal');
    await page.getByLabel('Count another field').selectOption('City');
    await values('City').first().waitFor();
    assert.deepEqual(await axe(page), []);
  });

  await t.test(
    'the map shows the listings that have a location, and lists them as text and as a table',
    async () => {
      await page.getByRole('button', { name: 'Map', exact: true }).click();
      await page.getByRole('application', { name: 'Map of 36 listings' }).waitFor();
      await page.getByText('4 listings have no location').waitFor();
      await shows(page, () => page.locator('.point-map canvas').count(), 1);
      await shows(page, places, [HOSTILE, 'Ely', 'Zug']);
      await shows(page, () => page.locator('.in-view li').count(), 36);
      await shows(
        page,
        () => page.locator('.in-view li').last().textContent(),
        `${HOSTILE} · 490,000 · Active`,
      );
      await page.getByText('The places of the map as a table').click();
      await shows(page, async () => (await page.locator('.map-part tbody tr').allTextContents()).toSorted(), [
        `${HOSTILE}8455,000`,
        'Ely18200,000',
        'Zug10355,000',
      ]);
      for (let step = 0; step < 4; step++) await page.getByRole('button', { name: 'Zoom in' }).click();
      await page.locator('.in-view li').nth(35).waitFor({ state: 'detached' });
      assert.deepEqual(await axe(page), []);
      await page.setViewportSize({ width: 320, height: 700 });
      assert.equal(await overhang(page), 0);
      await page.setViewportSize({ width: 1280, height: 900 });
    },
  );

  await t.test(
    'values of the native interface are counted, and a click adds a condition in its own language',
    async () => {
      await page.goto(
        `${admin}/console/explore?as=role/private&interface=native&facets=City,StandardStatus,Appliances`,
      );
      await values('City').filter({ hasText: 'Zug' }).click();
      await counted('12 listings');
      await values('Appliances').filter({ hasText: 'No value' }).click();
      await counted('12 listings');
      assert.equal(new URL(page.url()).searchParams.get('filter'), "City Eq 'Zug' And Appliances Eq NULL");
      await values('City').filter({ hasText: 'Zug' }).click();
      await page.getByRole('button', { name: 'No values 39', pressed: true }).click();
      await values('City').filter({ hasText: HOSTILE }).click();
      await counted('8 listings');
    },
  );

  await t.test('agents and offices, the accounts of the native interface, are counted together', async () => {
    await page.goto(`${admin}/console/explore?as=role/private&interface=native&resource=accounts`);
    await values('Status').first().waitFor();
    assert.deepEqual(
      [await texts('User Type'), await texts('Status')],
      [
        ['Member 2', 'Office 1'],
        ['Active 2', 'Inactive 1'],
      ],
    );
    await values('User Type').filter({ hasText: 'Member' }).click();
    await page.getByRole('button', { name: 'Member 2', pressed: true }).waitFor();
    assert.equal(new URL(page.url()).searchParams.get('filter'), "UserType Eq 'Member'");
    await page.getByRole('button', { name: 'Active 1', exact: true }).click();
    await page.getByRole('button', { name: 'Active 1', exact: true, pressed: true }).waitFor();
    assert.equal(
      new URL(page.url()).searchParams.get('filter'),
      "UserType Eq 'Member' And Status Eq 'Active'",
    );
  });

  await t.test('the map of the native interface loads all pages', async () => {
    await page.goto(`${admin}/console/explore?as=role/private&interface=native&view=map`);
    await page.getByRole('application', { name: 'Map of 36 listings' }).waitFor();
  });

  await t.test('the map draws all outlines of the service, even those without a listing', async () => {
    await page.route('**/outlines', (route) =>
      route.fulfill({ json: { type: 'FeatureCollection', features: OUTLINES } }),
    );
    await page.goto(`${admin}/console/explore?as=role/private&view=map`);
    await page.getByText('The lines are the outlines of places.').waitFor();
    await shows(page, places, [HOSTILE, 'Ely']);
    await page.unroute('**/outlines');
  });

  await t.test('for a role that sees no locations, the map says so and City is not counted', async () => {
    await page.goto(`${admin}/console/explore?as=role/nowhere&view=map`);
    await page.getByText('Locations are hidden from this role or key').waitFor();
    await values('Standard Status').first().waitFor();
    await shows(page, () => page.getByRole('region', { name: 'City', exact: true }).count(), 0);
    await page.goto(`${admin}/console/explore?as=role/private&view=map&filter=ListPrice gt 1 or`);
    await page.getByText('The filter has an error, which is marked above.').waitFor();
  });

  assert.deepEqual(faults, []);
});
