/**
 * What holds for every page of the console, in light and dark, on a desk and on a phone: nothing hinders a person who hears or
 * enlarges it, the policy is kept, and it is never scrolled sideways. What each page does, a file of its own tests.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
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

type TestService = Awaited<ReturnType<typeof startTestService>>;

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

const PAGES = new URL('../../../packages/console/src/', import.meta.url);
/** A request that is written in the page: how it is asked, and its path, up to its query. */
const LITERAL =
  /\b(ask|get|post|useAnswer|EventSource)(?:<[^()]*>)?\(\s*['`](\/(?!as\/)[^'`?]*)[^'`]*['`](.*)/g;

/** The calls of the admin port that the page makes by name, whether a test comes by or not. */
const literalPaths = (): string[] =>
  globSync('**/*.{ts,tsx}', { cwd: PAGES })
    .map((file) => readFileSync(new URL(file, PAGES), 'utf8'))
    .flatMap((text) => [...text.matchAll(LITERAL)])
    .map(([, how, path = '', rest = '']) => {
      const method = /'(DELETE)'/.exec(rest)?.[1] ?? (how === 'post' ? 'POST' : 'GET');
      return `${method} ${path.replaceAll(/\$\{.*?\}/g, 'x')}`;
    });

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
  yield isFull ? { look: 'phone, dark' } : { look: 'phone, dark', rule: 'color-contrast' };
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
    const asked = new Set<string>();
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (!pathname.startsWith('/console/')) asked.add(`${request.method()} ${pathname}`);
    });
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
        await page.setViewportSize(DESK);
        assert.deepEqual(await sameAsFile(page, name), SAME_AS[name] ?? 'no page of this name is known');
        const json = await page.getByRole('link', { name: /JSON/ }).last().getAttribute('href');
        const { status, headers } = await service.get('admin', json ?? '', { token });
        assert.deepEqual([status, /^application\/json/.test(headers['content-type'] ?? '')], [200, true]);
      });
    }
    await t.test(
      'what the pages asked is described, on the admin port and on the surface that it leads to',
      async () => {
        assert.deepEqual(await notDescribed([...asked, ...literalPaths()], service, token), []);
      },
    );
  } finally {
    await browser.close();
  }
});

/** How the file begins that has a page as a table: with its columns, or with nothing where there is nothing. */
const SAME_AS: Readonly<Record<string, string>> = {
  explore: 'ListingKey,',
  listing: 'field,value',
  floorplans: 'MediaKey,',
  dictionary: 'resource,',
  replication: '',
  keys: 'id,',
  health: 'surface,',
  roles: 'resource,',
};

/** The beginning of the CSV of a page, which must say, too, how a program asks for the same. */
async function sameAsFile(page: Page, name: string): Promise<string> {
  if (name !== 'explore') {
    const folded = page.locator('.as-request').first();
    await folded.locator('summary').click();
    const command = (await folded.locator('pre').textContent()) ?? '';
    assert.match(command, /^curl -g -H "Authorization: Bearer \$TOKEN" 'http:[^']+'$/);
  }
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: /^CSV/ }).first().click(),
  ]);
  assert.match(file.suggestedFilename(), /\.csv$/);
  const [first = ''] = (await text(await file.createReadStream())).split('\r\n');
  const expected = SAME_AS[name] ?? '';
  return expected === '' ? first : first.slice(0, expected.length);
}

type Described = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Whether a description has a path, and the method there. What stands in its braces may be any text; a path or file may have slashes. */
const has = (paths: Described, method: string, path: string): boolean =>
  Object.entries(paths).some(([template, operations]) => {
    const pattern = template
      .replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&')
      .replaceAll(/\{(?:path|file)\}/g, '.+')
      .replaceAll(/\{\w+\}/g, '[^/]+');
    return method.toLowerCase() in operations && new RegExp(`^${pattern}$`).test(path);
  });

/** Requests that no description of the service has. @param asked each with its method */
async function notDescribed(
  asked: readonly string[],
  service: TestService,
  token: string,
): Promise<string[]> {
  const pathsAt = async (base: string): Promise<Described> =>
    JSON.parse((await service.get('admin', `${base}/openapi.json`, { token })).text).paths;
  const own = await pathsAt('');
  const missing: string[] = [];
  for (const each of asked) {
    const [method = '', path = ''] = each.split(' ');
    if (!has(own, method, path)) missing.push(each);
    const [, base, rest = ''] = /^(\/as\/[^/]+\/[^/]+\/\w+)(\/(?!facets\/).*)$/.exec(path) ?? [];
    if (base === undefined) continue;
    const leadsTo = rest.length > 1 && rest.endsWith('/') ? [rest, rest.slice(0, -1)] : [rest];
    const paths = await pathsAt(base);
    if (!leadsTo.some((one) => has(paths, method, decodeURIComponent(one))))
      missing.push(`${each} (surface)`);
  }
  return missing;
}
