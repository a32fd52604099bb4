/**
 * What holds for every page of the console, in light and dark, on a desk and on a phone: nothing hinders a person who hears or
 * enlarges it, the policy is kept, and it is never scrolled sideways. What each page does, a file of its own tests.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { startTestService } from '../../support/service.ts';
import { demoMarket } from '../reso/demo-market.ts';
import {
  axe,
  logIn,
  overhang,
  registeredPages,
  settled,
  startBrowser,
  watchedPage,
  withoutChromium,
} from './browser.ts';

/** Where pages that need a record are opened; the others have the address of their name. */
const OF_A_RECORD: Readonly<Record<string, (key: string) => string>> = {
  listing: (key) => `listing/${key}`,
};

const isFull = process.env.PLAT_FULL === '1';

const DESK = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
/** A window of 1280 pixels at 400 %. */
const ENLARGED = { width: 320, height: 640 };

const names = registeredPages();

/** What is wrong with the page that is open, at one width and in one theme. */
async function faultsAt(page: Page, look: string, rule?: string): Promise<string[]> {
  const faults = await axe(page, rule);
  const wider = await overhang(page);
  if (wider > 0) faults.push(`it is ${wider} pixels wider than its window`);
  return faults.map((fault) => `${look}: ${fault}`);
}

/** The looks of the page that is open. The suite checks each width and each theme once; the long one all of them. */
async function* looks(page: Page): AsyncGenerator<{ look: string; rule?: string }> {
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(DESK);
  yield { look: 'desk, light' };
  await page.emulateMedia({ colorScheme: 'dark' });
  if (isFull) yield { look: 'desk, dark', rule: 'color-contrast' };
  await page.setViewportSize(PHONE);
  yield { look: 'phone, dark' };
  await page.emulateMedia({ colorScheme: 'light' });
  if (isFull) yield { look: 'phone, light', rule: 'color-contrast' };
  await page.setViewportSize(ENLARGED);
  yield isFull ? { look: 'enlarged, light' } : { look: 'enlarged, light', rule: 'target-size' };
}

test('every page can be seen, heard and used by everybody', { skip: withoutChromium }, async (t) => {
  assert.ok(names.length > 0, 'the registered pages were found');
  const service = await startTestService({ after }, demoMarket(12));
  const { admin } = service.addresses;
  const token = await service.key('admin');
  const path = '/as/role/private/api/Reso/OData/Property?$top=1&$select=ListingKey';
  const [, key = ''] = /"ListingKey":"(\w+)"/.exec((await service.get('admin', path, { token })).text) ?? [];
  assert.notEqual(key, '');
  const browser = await startBrowser();
  try {
    const context = await browser.newContext({ reducedMotion: 'reduce' });
    const { page, faults } = await watchedPage(context, admin);
    const check = async (): Promise<void> => {
      const found: string[] = [];
      for await (const { look, rule } of looks(page)) found.push(...(await faultsAt(page, look, rule)));
      assert.deepEqual([...found, ...faults.splice(0)], []);
    };
    await page.goto(`${admin}/console/`);
    await page.getByLabel('Token of an admin key').waitFor();
    await t.test('the log-in', check);
    await page.setViewportSize(DESK);
    await logIn(page, admin, token);
    for (const name of names) {
      await t.test(name, async () => {
        await page.setViewportSize(DESK);
        await page.goto(`${admin}/console/${OF_A_RECORD[name]?.(key) ?? name}`);
        await settled(page);
        await check();
      });
    }
  } finally {
    await browser.close();
  }
});
