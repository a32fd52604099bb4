/**
 * What holds for every page of the console, in light and dark, on a desktop and on a phone: it is accessible, it keeps the
 * content security policy, and it never scrolls horizontally. The function of each page is tested in a file of its own.
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

/** The paths of pages that need a record; the path of any other page is its name. */
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
/** A request in the source of a page: the function that sends it, and its path without the query. */
const LITERAL =
  /\b(ask|get|post|useAnswer|EventSource)(?:<[^()]*>)?\(\s*['`](\/(?!as\/)[^'`?]*)[^'`]*['`](.*)/g;

/** The requests in the sources of the pages, whether a test triggers them or not. */
const literalPaths = (): string[] =>
  globSync('**/*.{ts,tsx}', { cwd: PAGES })
    .map((file) => readFileSync(new URL(file, PAGES), 'utf8'))
    .flatMap((text) => [...text.matchAll(LITERAL)])
    .map(([, how, path = '', rest = '']) => {
      const method = /'(DELETE)'/.exec(rest)?.[1] ?? (how === 'post' ? 'POST' : 'GET');
      return `${method} ${path.replaceAll(/\$\{.*?\}/g, 'x')}`;
    });

/** The faults of the open page at one width and in one theme. */
async function faultsAt(page: Page, look: string, rule?: string): Promise<string[]> {
  const faults = await axe(page, rule);
  const wider = await overhang(page);
  if (wider > 0) faults.push(`the page is ${wider} pixels wider than its window`);
  const buttons = await page
    .locator('.top button:visible')
    .evaluateAll((all) =>
      all
        .filter((one) => one.scrollWidth > one.clientWidth || one.clientHeight > 48)
        .map((one) => `the button "${one.textContent}" does not fit its text in one line`),
    );
  faults.push(...buttons);
  return faults.map((fault) => `${look}: ${fault}`);
}

/** Shows the open page at each width and in each theme once; in the full test run, in all combinations. */
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

test(
  'every page is accessible, fits its window, keeps the policy, and offers its data as CSV, JSON and curl',
  { skip: withoutChromium },
  async (t) => {
    assert.ok(names.length > 0, 'no registered pages were found');
    const service = await startTestService({ after }, demoMarket(12));
    const { admin } = service.addresses;
    const token = await service.key('admin');
    const path = '/as/role/private/api/Reso/OData/Property?$top=1&$select=ListingKey';
    const [, key = ''] =
      /"ListingKey":"(\w+)"/.exec((await service.get('admin', path, { token })).text) ?? [];
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
      await t.test('the login', check);
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
        'every request of the pages is in the OpenAPI description of the admin port, or of the surface that it reads',
        async () => {
          assert.deepEqual(await notDescribed([...asked, ...literalPaths()], service, token), []);
        },
      );
    } finally {
      await browser.close();
    }
  },
);

/** The beginning of each page's CSV: its first columns, or nothing if the page has no rows in this market. */
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

/** The beginning of the CSV of a page, which must also show the curl command for the same data. */
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

/** Whether a description has a path with a method. A parameter in braces matches a segment, `{path}` and `{file}` also slashes. */
const has = (paths: Described, method: string, path: string): boolean =>
  Object.entries(paths).some(([template, operations]) => {
    const pattern = template
      .replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&')
      .replaceAll(/\{(?:path|file)\}/g, '.+')
      .replaceAll(/\{\w+\}/g, '[^/]+');
    return method.toLowerCase() in operations && new RegExp(`^${pattern}$`).test(path);
  });

/** Those of the requests that no description of the service contains. @param asked method and path of each */
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
