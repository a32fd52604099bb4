/** The dictionary page in a real browser: search while typing, the values of a field, and the view of a role. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { listing } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import { axe, logIn, overhang, startBrowser, watchedPage, withoutChromium } from './browser.ts';

const HOSTILE = '<img src=x onerror=alert(1)>';

test(
  'the dictionary page finds a custom field, counts its values, and shows only what the chosen role sees',
  {
    skip: withoutChromium,
  },
  async () => {
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
                type: 'string(50)[]',
                lookup: 'Docks',
                class: 'idx',
              },
              { resource: 'Property', name: 'Lake_Note', group: 'Lake', label: 'Note', type: 'string(50)' },
            ],
            lookups: [{ lookup: 'Docks', values: ['Floating'] }],
          },
        },
        fill: async ({ write }) => {
          await write(
            'Property',
            listing('L1', { Lake_Dock: [HOSTILE], Lake_Note: 'kept' }),
            listing('L2', { Lake_Dock: [HOSTILE] }),
          );
        },
      },
    );
    const { admin } = service.addresses;
    const browser = await startBrowser();
    try {
      const { page, faults } = await watchedPage(await browser.newContext(), admin);
      await logIn(page, admin, await service.key('admin'), '/console/dictionary');
      await page.getByRole('link', { name: 'PropertyRooms', exact: true }).waitFor();
      assert.equal(await page.title(), 'Dictionary · plat');

      await page.getByRole('searchbox', { name: 'Search the fields' }).fill('lake');
      const table = page.getByRole('region', { name: 'Fields of Property' }).getByRole('row');
      await table.nth(2).waitFor();
      const cells = async (row: number) =>
        (await table.nth(row).innerText()).split(/\s*[\n\t]+\s*/).slice(0, 6);
      const dock = ['Lake_Dock', 'Lake: Dock', 'Custom', 'List of texts, up to 50 characters each', 'Docks'];
      assert.deepEqual((await cells(1)).slice(0, 4), dock.slice(0, 4));
      assert.deepEqual(await cells(2), [
        'Lake_Note',
        'Lake: Note',
        'Custom',
        'Text, up to 50 characters',
        'Any',
        'private',
      ]);
      // $metadata declares the navigation CustomFields with the resource's own type, which is no other resource to link to.
      const leads = await page.getByText(/Related resources:/).innerText();
      assert.match(leads, /Related resources: .*PropertyRooms/);
      assert.doesNotMatch(leads, /\bProperty\b/);
      await page.waitForURL(/[?&]q=lake/);

      await page.getByRole('button', { name: 'Docks values of Lake_Dock' }).press('Enter');
      await page.getByRole('button', { name: 'Count the records' }).click();
      const values = page.locator('.dictionary-values li');
      await values.getByText('not in use').waitFor();
      await values.getByText('2', { exact: true }).waitFor();
      assert.deepEqual(
        (await values.allInnerTexts()).map((text) => text.split(/\s*\n+\s*/)),
        [
          [HOSTILE, '2', 'Own'],
          ['Floating', 'not in use', 'Own'],
        ],
      );

      assert.deepEqual(await axe(page), []);

      await page.getByLabel('See as').selectOption('role/idx');
      await page.getByText('1 field of 1 resource', { exact: true }).waitFor();
      assert.match(page.url(), /q=lake&field=Property\.Lake_Dock&as=role%2Fidx$/);

      await page.setViewportSize({ width: 320, height: 640 });
      assert.equal(await overhang(page), 0);
      await page.getByRole('link', { name: 'Explore records with Lake_Dock' }).click();
      await page.getByRole('heading', { name: 'Explore' }).waitFor();
      const state = new URL(page.url()).searchParams;
      assert.deepEqual(
        ['as', 'resource', 'filter'].map((name) => state.get(name)),
        ['role/idx', 'Property', 'Lake_Dock/any()'],
      );
      assert.deepEqual(faults, []);
    } finally {
      await browser.close();
    }
  },
);
