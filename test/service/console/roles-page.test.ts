/** The Roles page in a real browser: the matrix, and one record as each role sees it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { BUILT_IN_ACCESS } from '../../../src/access/index.ts';
import { listing } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import { axe, logIn, overhang, startBrowser, watchedPage, withoutChromium } from './browser.ts';

const HOSTILE = '<script>alert(1)</script>';

test(
  'the Roles page shows the fields and record counts of each role, and one record side by side for all roles',
  {
    skip: withoutChromium,
  },
  async () => {
    const service = await startTestService(
      { after },
      {
        settings: {
          access: {
            roles: [
              ...BUILT_IN_ACCESS.roles.filter(({ name }) => name === 'private' || name === 'vow'),
              { name: 'a b', classes: ['facts'], resources: { Property: "StandardStatus eq 'Closed'" } },
            ],
            withheld: BUILT_IN_ACCESS.withheld,
          },
        },
        fill: async ({ write }) => {
          await write(
            'Property',
            listing('L1'),
            listing("L'2", {
              City: 'Calder',
              InternetAddressDisplayYN: false,
              ListPrice: 250_000,
              PrivateRemarks: HOSTILE,
            }),
            listing('L3', { StandardStatus: 'Closed', CloseDate: '2026-05-01' }),
          );
        },
      },
    );
    const { admin } = service.addresses;
    const browser = await startBrowser();
    try {
      const { page, faults } = await watchedPage(await browser.newContext(), admin);
      await logIn(page, admin, await service.key('admin'), '/console/roles');
      await page.getByRole('link', { name: '1 records of Property for a b' }).waitFor();
      await page.locator('td', { hasText: '…' }).first().waitFor({ state: 'detached' });
      assert.equal(await page.title(), 'Roles · plat');
      const table = (name: string) => page.getByRole('region', { name }).getByRole('row');
      const rowOf = async (region: string, name: string): Promise<string[]> => {
        const row = table(region).filter({ has: page.getByRole('rowheader', { name, exact: false }) });
        const cells = await row.first().getByRole('cell').allInnerTexts();
        return cells.map((text) => text.replaceAll(/\s+/g, ' '));
      };
      assert.deepEqual(
        (await rowOf('Records that each role sees', 'Property')).map((text) => text.split(' ')[0]),
        ['3', '3', '1'],
      );
      assert.deepEqual(await rowOf('Records that each role sees', 'OpenHouse'), [
        '0 records of OpenHouse for private',
        '0 records of OpenHouse for vow',
        'none',
      ]);
      const cells = (kind: string) => rowOf('Fields of Property by class', kind);
      assert.deepEqual(await cells('address'), ['sees 1', 'sees 1 at times withheld', 'hidden']);
      assert.deepEqual(await cells('private'), ['sees 1', 'hidden', 'hidden']);
      const rules = page.getByRole('definition');
      assert.deepEqual(await rules.allInnerTexts(), [
        'Every record.',
        "not (StandardStatus in ('Incomplete','Delete')) and InternetEntireListingDisplayYN ne false",
        "StandardStatus eq 'Closed'",
      ]);

      await page.getByRole('button', { name: 'One with withheld values' }).click();
      await page.waitForURL(/record=L%272$/);
      await page.getByText('withheld', { exact: true }).waitFor();
      const side = page.getByRole('region', { name: 'The record of Property as each role sees it' });
      assert.deepEqual(await side.locator('tbody tr').allInnerTexts(), [
        'Class address',
        'City\tCalder\twithheld',
        'Class private',
        `PrivateRemarks\t${HOSTILE}\thidden`,
      ]);
      assert.equal(await page.getByText('Not seen by a b').count(), 1);
      assert.deepEqual(await axe(page), []);

      await page.getByRole('checkbox').check();
      assert.equal(await side.getByRole('row', { name: 'ListPrice $250,000 $250,000' }).count(), 1);
      await page.setViewportSize({ width: 320, height: 640 });
      assert.equal(await overhang(page), 0);
      assert.deepEqual(faults, []);
    } finally {
      await browser.close();
    }
  },
);
