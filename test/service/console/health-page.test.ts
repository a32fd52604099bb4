/** The Health page in a real browser: readiness, requests of the last day, content of the store. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { pino } from 'pino';
import { SERVICE_DEFAULTS } from '../../../src/service/options.ts';
import { startService } from '../../../src/service/service.ts';
import { listing } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import { axe, logIn, settled, shows, startBrowser, watchedPage, withoutChromium } from './browser.ts';

test(
  'the Health page shows readiness as it changes, the requests of the last day, and the store',
  {
    skip: withoutChromium,
  },
  async () => {
    const world = await startTestService(
      { after },
      {
        fill: async ({ write }) => {
          await write('Property', listing('L1', { ListAgentKey: 'nobody' }), listing('L2'));
        },
      },
    );
    const { store, clock } = world;
    let problem: string | undefined = 'the replica is <b>3 h</b> behind';
    const service = await startService(
      { ...SERVICE_DEFAULTS, store, clock, log: pino({ level: 'silent' }) },
      {
        host: '127.0.0.1',
        adminHost: '127.0.0.1',
        ports: { api: 0, replication: 0, floorplans: 0, admin: 0 },
      },
      [{ name: 'freshness', check: async () => problem }],
    );
    const { admin, api } = service.addresses;
    const browser = await startBrowser();
    try {
      const token = await world.key('api');
      const ask = async (query: string) =>
        (await world.get('api', `${api}/Reso/OData/Property${query}`, { token })).status;
      const filter = '?$filter=ListPrice%20gt%201';
      assert.deepEqual([await ask(filter), await ask(filter), await ask('?$none=1')], [200, 200, 400]);

      const context = await browser.newContext({ reducedMotion: 'reduce' });
      const { page, faults } = await watchedPage(context, admin);
      await logIn(page, admin, await world.key('admin'), '/console/health');
      const present = page.getByRole('region', { name: 'The present' });
      await present.getByText('Not ready').waitFor();
      await present.getByText('freshness: the replica is <b>3 h</b> behind').waitFor();
      await settled(page);
      assert.deepEqual(await axe(page), []);

      const queries = page.getByRole('row', { name: /^Queries/ });
      await shows(page, async () => (await queries.getByRole('cell').allTextContents()).slice(0, 3), [
        '3',
        '1',
        '0',
      ]);
      await page.getByText('3 requests, at most 3 in a minute').waitFor();
      await shows(page, () => page.locator('canvas').count(), 3);
      assert.ok((await page.locator('.chart-box').first().boundingBox())?.width ?? 0 > 200);
      await page.getByRole('rowheader').getByRole('link', { name: 'Replication' }).click();
      await page.getByText('Replication: errors per minute').waitFor();
      assert.match(page.url(), /\?surface=replication$/);

      const listings = page.getByRole('row', { name: /^Property / });
      await shows(page, async () => (await listings.getByRole('cell').allTextContents()).slice(0, 2), [
        '2',
        '0',
      ]);
      await page.getByText('1 value of ListAgentKey in 1 listing names no record that is stored.').waitFor();
      await page.getByRole('row', { name: /^prepared statements/ }).waitFor();
      await page.getByText('50% of 2').waitFor();

      problem = undefined;
      await present.getByText('Ready', { exact: true }).waitFor();
      assert.deepEqual(faults, []);
    } finally {
      await browser.close();
      await service.close();
    }
  },
);
