/** The console in a real browser: log-in, the frame, and what its policy forbids. Each page has a file of its own. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { listing } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import { logIn, startBrowser, watchedPage, withoutChromium } from './browser.ts';

test('a person logs in, sees listings, and logs out', { skip: withoutChromium }, async () => {
  const service = await startTestService(
    { after },
    {
      fill: async ({ write }) => {
        await write('Property', listing('L1'), listing('L2'));
      },
    },
  );
  const { admin } = service.addresses;
  const browser = await startBrowser();
  try {
    const context = await browser.newContext();
    const { page, faults } = await watchedPage(context, admin);
    await page.goto(`${admin}/console/`);
    await page.getByLabel('Token of an admin key').fill('plat_nobody');
    await page.getByRole('button', { name: 'Log in' }).click();
    assert.equal(await page.getByRole('alert').textContent(), 'The token is not known to this service.');
    await logIn(page, admin, await service.key('admin'));
    await page.getByText('L2').first().waitFor();
    assert.equal(await page.title(), 'Explore · plat');
    assert.deepEqual(await page.evaluate('[document.cookie, localStorage.length, sessionStorage.length]'), [
      '',
      0,
      0,
    ]);
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByLabel('Token of an admin key').waitFor();
    await page.reload();
    await page.getByLabel('Token of an admin key').waitFor();
    assert.deepEqual(faults, []);
  } finally {
    await browser.close();
  }
});
