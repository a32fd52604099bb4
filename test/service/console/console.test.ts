/**
 * The frame of the console in a real browser: login, keyboard, and an open page whose service or session ends. Each page has a
 * test file of its own.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { pino } from 'pino';
import type { Page } from 'playwright-core';
import { SERVICE_DEFAULTS } from '../../../src/service/options.ts';
import { type Service, startService } from '../../../src/service/service.ts';
import { listing } from '../../support/builders.ts';
import { makeKey } from '../../support/service.ts';
import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { makeWorld } from '../../support/world.ts';
import { axe, logIn, settled, startBrowser, watchedPage, withoutChromium } from './browser.ts';

const LOG_IN = 'Token of an admin key';

const focused = (page: Page): Promise<string> =>
  page.evaluate<string>('document.activeElement.id || document.activeElement.textContent');

test('the console in a browser', { skip: withoutChromium }, async (t) => {
  const world = await makeWorld(sqliteEngine(), { after });
  const { store, clock } = world;
  await world.write('Property', listing('L1'), listing('L2'));
  const start = (port: number): Promise<Service> =>
    startService(
      { ...SERVICE_DEFAULTS, store, clock, log: pino({ level: 'silent' }) },
      {
        host: '127.0.0.1',
        adminHost: '127.0.0.1',
        ports: { api: 0, replication: 0, floorplans: 0, admin: port },
      },
    );
  let service = await start(0);
  const { admin } = service.addresses;
  const token = await makeKey(store, 'admin');
  const browser = await startBrowser();
  const context = await browser.newContext({
    reducedMotion: 'reduce',
    viewport: { width: 1280, height: 800 },
  });
  const { page, faults } = await watchedPage(context, admin);
  try {
    await t.test('a person logs in, sees listings, and logs out', async () => {
      await page.goto(`${admin}/console/`);
      await page.getByLabel(LOG_IN).fill('plat_nobody');
      await page.getByRole('button', { name: 'Log in' }).click();
      assert.equal(await page.getByRole('alert').textContent(), 'The token is not known to this service.');
      assert.equal(await focused(page), 'token');
      assert.deepEqual(await axe(page), []);
      await logIn(page, admin, token);
      await page.getByText('L2').first().waitFor();
      assert.equal(await page.title(), 'Explore · plat');
      const kept = await page.evaluate('[document.cookie, localStorage.length, sessionStorage.length]');
      assert.deepEqual(kept, ['', 0, 0]);
      await page.getByRole('button', { name: 'Log out' }).click();
      await page.getByLabel(LOG_IN).waitFor();
      assert.equal(await page.getByText('Your session has ended').count(), 0);
      await page.reload();
      await page.getByLabel(LOG_IN).waitFor();
    });

    await t.test(
      'a keyboard user can skip the navigation, and a link moves the focus to the page that it opens',
      async () => {
        await logIn(page, admin, token, '/console/nowhere');
        await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
        assert.deepEqual(await axe(page), []);
        await page.reload();
        await settled(page);
        await page.keyboard.press('Tab');
        assert.equal(await focused(page), 'Skip to the content');
        await page.keyboard.press('Enter');
        assert.equal(await focused(page), 'main');
        await page.keyboard.press('Tab');
        assert.equal(await focused(page), 'Explore the listings');
        await page.keyboard.press('Enter');
        await page.getByText('L2').first().waitFor();
        assert.equal(await focused(page), 'main');
      },
    );

    await t.test('on a phone the navigation is a menu that Escape closes', async () => {
      await page.setViewportSize({ width: 390, height: 844 });
      const explore = page.getByRole('link', { name: 'Explore', exact: true });
      assert.equal(await explore.isVisible(), false);
      const menu = page.getByRole('button', { name: 'Explore', expanded: false });
      await menu.focus();
      await page.keyboard.press('Enter');
      await explore.waitFor();
      assert.deepEqual(await axe(page), []);
      await page.keyboard.press('Tab');
      await page.keyboard.press('Escape');
      assert.equal(await explore.isVisible(), false);
      assert.equal(await focused(page), 'Explore');
      await page.setViewportSize({ width: 1280, height: 800 });
    });

    const view = `${admin}/console/explore?as=role%2Fidx`;
    const returned = async (): Promise<void> => {
      await page.getByText('Your session has ended. Log in again to continue where you were.').waitFor();
      await page.getByLabel(LOG_IN).fill(token);
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByText('L2').first().waitFor();
      assert.equal(page.url(), view);
    };

    await t.test(
      'an open page reports that the service is unreachable, and continues after a new login',
      async () => {
        await page.goto(view);
        await page.getByText('L2').first().waitFor();
        await service.close();
        await page.getByText('The service cannot be reached. This page tries again by itself.').waitFor();
        assert.deepEqual(await axe(page), []);
        service = await start(Number(new URL(admin).port));
        // Sessions live in the memory of the service that ended.
        await returned();
        assert.equal(await page.getByText('The service cannot be reached').count(), 0);
      },
    );

    await t.test('an open page asks for a new login when its key is revoked', async () => {
      const [key] = (await store.keys.list()).filter(({ kind }) => kind === 'admin');
      const other = await makeKey(store, 'admin', { role: 'idx' });
      await page.getByRole('button', { name: 'Log out' }).click();
      await logIn(page, admin, other, '/console/explore?as=role%2Fidx');
      await page.getByText('L2').first().waitFor();
      const theirs = (await store.keys.list()).find(({ id, kind }) => kind === 'admin' && id !== key?.id);
      await store.keys.revoke(theirs?.id ?? '', new Date(clock.now()).toISOString());
      await returned();
    });
    assert.deepEqual(faults, []);
  } finally {
    await browser.close();
    await service.close();
  }
});
