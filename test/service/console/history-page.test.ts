/** The last day in a real browser, after a restart: it includes earlier requests and names the gap. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { pino } from 'pino';
import { hashToken } from '../../../src/access/index.ts';
import { SERVICE_DEFAULTS } from '../../../src/service/options.ts';
import { startService } from '../../../src/service/service.ts';
import { listing } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import { axe, logIn, settled, shows, startBrowser, watchedPage, withoutChromium } from './browser.ts';

const MINUTE = 60_000;

test(
  'after a restart, the console shows the requests before it and the time without a process',
  { skip: withoutChromium },
  async () => {
    const world = await startTestService(
      { after },
      { fill: async ({ write }) => void (await write('Property', listing('L1'))) },
    );
    const { store, clock } = world;
    const start = () =>
      startService(
        { ...SERVICE_DEFAULTS, store, clock, log: pino({ level: 'silent' }) },
        {
          ...{ host: '127.0.0.1', adminHost: '127.0.0.1' },
          ports: { api: 0, replication: 0, floorplans: 0, admin: 0 },
        },
      );
    const token = await world.key('api');
    const id = (await store.look(hashToken(token))).key?.id;
    const first = await start();
    const ask = async (base: string, query = '') =>
      (await world.get('api', `${base}/Reso/OData/Property${query}`, { token })).status;
    assert.deepEqual(
      [await ask(first.addresses.api), await ask(first.addresses.api, '?$none=1')],
      [200, 400],
    );
    clock.advance(10 * MINUTE);
    await first.close();
    clock.advance(20 * MINUTE);
    const second = await start();
    const browser = await startBrowser();
    try {
      assert.equal(await ask(second.addresses.api), 200);
      const { admin } = second.addresses;
      const context = await browser.newContext({ reducedMotion: 'reduce', timezoneId: 'UTC' });
      const { page, faults } = await watchedPage(context, admin);
      await logIn(page, admin, await world.key('admin'), '/console/keys');
      const row = page.getByRole('row', { name: /^api private/ });
      await row.getByText('2 of 1,500').waitFor();

      await page.goto(`${admin}/console/keys/${id}`);
      await page.getByText('3 requests; at most 2 in 5 minutes, at 12:00 PM: 1% of the limit').waitFor();
      const who =
        /^Counted since Jun 1, 2026, 12:00 PM by this process, which began on Jun 1, 2026, 12:30 PM, and 1 other process\. The latest of them wrote at 12:10 PM; if it still runs/;
      const gap = 'No process is known to have counted from 12:11 PM to 12:30 PM: there was none';
      await page.getByText(who).waitFor();
      await page.getByText(gap).waitFor();

      await page.goto(`${admin}/console/health`);
      await settled(page);
      const queries = page.getByRole('row', { name: /^Queries/ });
      await shows(page, async () => (await queries.getByRole('cell').allTextContents()).slice(0, 3), [
        '3',
        '1',
        '0',
      ]);
      await page.getByText(who).waitFor();
      await page.getByText(gap).waitFor();
      const hours = page.getByRole('region', { name: 'Queries: requests per minute, hour by hour' });
      await page.getByText('Hours as a table').first().click();
      await shows(page, () => hours.getByRole('cell').allTextContents(), ['3']);
      assert.deepEqual(await axe(page), []);
      assert.deepEqual(faults, []);
    } finally {
      await browser.close();
      await second.close();
    }
  },
);

test(
  'a browser without a locale, whose language is none for Intl, shows the charts',
  { skip: withoutChromium },
  async () => {
    const world = await startTestService({ after });
    const token = await world.key('api');
    const id = (await world.store.look(hashToken(token))).key?.id;
    await world.get('api', '/Reso/OData/Property', { token });
    const browser = await startBrowser();
    try {
      const context = await browser.newContext();
      await context.addInitScript(
        "Object.defineProperty(Navigator.prototype, 'language', { get: () => 'en-US@posix', configurable: true })",
      );
      const { admin } = world.addresses;
      const { page, faults } = await watchedPage(context, admin);
      await logIn(page, admin, await world.key('admin'), '/console/health');
      for (const path of ['health', `keys/${id}`]) {
        await page.goto(`${admin}/console/${path}`);
        await page.locator('canvas').first().waitFor({ state: 'attached' });
      }
      assert.deepEqual(faults, []);
    } finally {
      await browser.close();
    }
  },
);
