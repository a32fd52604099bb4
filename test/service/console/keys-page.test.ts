/** The Keys page in a real browser: making a key, showing its token once, its use, revoking it, and a list of many keys. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { hashToken } from '../../../src/access/index.ts';
import { listing } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import { axe, logIn, overhang, shows, startBrowser, watchedPage, withoutChromium } from './browser.ts';

test(
  'the Keys page makes a key, shows its token once, shows its use, and revokes it',
  { skip: withoutChromium },
  async () => {
    const service = await startTestService(
      { after },
      {
        fill: async ({ write }) => {
          await write('Property', listing('L1', { OriginatingSystemID: 'S1' }), listing('L2'));
          await write('OUID', {
            OrganizationUniqueIdKey: 'O1',
            OrganizationUniqueId: 'S1',
            OrganizationName: 'Calder <b>MLS</b>',
          });
        },
        service: {
          limits: {
            ...{ api: { requests: 3, seconds: 300 }, replication: { requests: 4000, seconds: 300 } },
            ...{ floorplans: { requests: 9, seconds: 60 }, admin: { requests: 1500, seconds: 300 } },
          },
        },
      },
    );
    const { admin } = service.addresses;
    const browser = await startBrowser();
    try {
      const context = await browser.newContext({ reducedMotion: 'reduce' });
      const { page, faults } = await watchedPage(context, admin);
      await logIn(page, admin, await service.key('admin'), '/console/keys');

      await page.getByRole('button', { name: 'New key' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('<img src=x onerror=alert(1)>');
      await dialog.getByLabel('Kind').selectOption('floorplans');
      await dialog.getByRole('button', { name: 'Make the key' }).click();
      assert.equal(
        await dialog.getByRole('alert').textContent(),
        'A floor plan key needs at least one system.',
      );
      await dialog.getByLabel('Kind').selectOption('api');
      await dialog.getByLabel('S1 Calder <b>MLS</b>').check();
      await dialog.getByLabel('Expires').fill('2100-01-01');
      assert.deepEqual(await axe(page), []);
      await dialog.getByRole('button', { name: 'Make the key' }).click();
      const token = (await dialog.locator('code').textContent()) ?? '';
      await dialog.getByRole('button', { name: 'Done' }).click();
      assert.equal((await page.content()).includes(token), false, 'the token is shown once');

      const { key } = await service.store.look(hashToken(token));
      assert.deepEqual(
        [key?.kind, key?.role, key?.systems, key?.expiresAt],
        ['api', 'idx', ['S1'], '2100-01-01T00:00:00Z'],
      );
      const ask = async () =>
        (await service.get('api', '/Reso/OData/Property?$select=ListingKey', { token })).status;
      assert.deepEqual([await ask(), await ask(), await ask(), await ask()], [200, 200, 200, 429]);

      await page.reload();
      const row = page.getByRole('row', { name: 'onerror' });
      await row.getByText('3 of 3').waitFor();
      await row.getByText('1 refused').waitFor();
      assert.equal(await overhang(page), 0);
      await row.getByRole('link').click();
      await page.getByText('3 requests; at most 3 in 5 minutes').waitFor();
      await page.getByText(/: 100% of the limit$/).waitFor();
      await page.getByText('Hours as a table').first().click();
      const hours = page.getByRole('region', {
        name: 'Requests in 5 minutes, against the limit, hour by hour',
      });
      await shows(page, () => hours.getByRole('columnheader').allTextContents(), [
        'Hour',
        'Requests in 5 minutes',
      ]);
      assert.equal(await hours.getByRole('cell').textContent(), '3');
      assert.deepEqual(await axe(page), []);

      await page.getByRole('button', { name: 'Revoke' }).click();
      await page.getByRole('button', { name: 'Revoke the key' }).click();
      await page.getByText('Revoked').first().waitFor();
      assert.notEqual((await service.store.look(hashToken(token))).key?.revokedAt, null);
      await page.getByRole('link', { name: 'All keys' }).click();
      await page.getByLabel('Also revoked and expired ones (1)').check();
      await row.getByText('Revoked').waitFor();
      assert.match(page.url(), /\?show=all$/);

      // Many keys: two have names that were stored before names were validated, and two have the same name.
      const odd = [`bell \u0007 ${'x'.repeat(10_000)}`, '\u202egnp.exe'];
      const names = [...Array.from({ length: 300 }, (_, at) => `Vendor ${at}`), ...odd, 'twin', 'twin'];
      for (const [at, name] of names.entries()) {
        const key = { id: `k_${at}`, name, kind: 'replication', role: 'idx', systems: [`S${at}`] } as const;
        const moments = { createdAt: '2026-01-01T00:00:00Z', expiresAt: null, revokedAt: null };
        await service.store.keys.add({ ...key, ...moments }, hashToken(key.id));
      }
      await page.goto(`${admin}/console/keys`);
      const rows = page.locator('table.keys tbody tr');
      await page.getByText('1 to 50 of 305').waitFor();
      await shows(page, () => rows.count(), 50);
      for (const width of [1280, 800]) {
        await page.setViewportSize({ width, height: 800 });
        const button = (await rows.first().getByRole('button').boundingBox()) ?? assert.fail();
        assert.ok(button.x + button.width <= width, `at ${width} pixels the buttons are in sight`);
      }
      await page.setViewportSize({ width: 1280, height: 720 });
      await page.getByRole('button', { name: 'Next' }).click();
      await page.getByText('51 to 100 of 305').waitFor();
      assert.match(page.url(), /\?from=50$/);
      await page.getByLabel('Find a key').fill('s29 vendor');
      await page.getByText('11 keys found').waitFor();
      await shows(page, () => rows.count(), 11);
      assert.deepEqual(await axe(page), []);
      assert.equal(await overhang(page), 0);
      await page.getByLabel('Find a key').fill('bell');
      await page.getByText('1 key found').waitFor();
      assert.match((await rows.getByRole('link').textContent()) ?? '', /^bell \ufffd x{73}… k_300$/);
      await page.getByLabel('Find a key').fill('twin');
      await page.getByText('2 keys found').waitFor();
      for (const name of ['twin k_302', 'twin k_303']) {
        assert.equal(await rows.getByRole('link', { name, exact: true }).count(), 1, name);
        assert.equal(
          await rows.getByRole('button', { name: `Revoke ${name}`, exact: true }).count(),
          1,
          name,
        );
      }
      await page.getByLabel('Find a key').fill('nobody');
      await page.getByText('No key has this in its name, role or systems').waitFor();
      assert.deepEqual(faults, []);
    } finally {
      await browser.close();
    }
  },
);
