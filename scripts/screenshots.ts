/**
 * Takes a screenshot of every page of the console, on a desktop and on a phone, and writes them to docs/images/. Their content is
 * always the same: a market with a fixed seed, a fixed clock, and the requests of a simulated day. Fonts are those of the machine;
 * the images in the repository were made with Debian's fonts-dejavu-core.
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { BrowserContext, Page } from 'playwright-core';
import { hashToken, type KeyKind, makeKeyId, makeToken } from '../src/access/index.ts';
import { timestampFrom } from '../src/dictionary/index.ts';
import {
  logIn,
  registeredPages,
  settled,
  startBrowser,
  stopBrowser,
} from '../test/service/console/browser.ts';
import { demoMarket } from '../test/service/reso/demo-market.ts';
import { startTestService, type TestService } from '../test/support/service.ts';

const FOLDER = fileURLToPath(new URL('../docs/images/', import.meta.url));
const LISTINGS = 500;

const SIZES = { desk: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

/** Steps of the day that Health and Keys show; the keys send requests in each of them. */
const STEP = 15 * 60_000;
const STEPS = 92;

/** The number of requests of one step; there are more by day than by night. */
const wave = (step: number): number =>
  Math.round(2.5 - 2 * Math.cos((step / STEPS) * 2 * Math.PI) + (step % 3));

/** A key with its token, created some days ago. */
async function keyOf({ store, clock }: TestService, name: string, kind: KeyKind, days: number, role = 'idx') {
  const token = makeToken();
  const createdAt = timestampFrom(clock.now() - days * 86_400_000);
  const key = { id: makeKeyId(), name, kind, role, systems: [], expiresAt: null, revokedAt: null };
  await store.keys.add({ ...key, createdAt }, hashToken(token));
  return token;
}

/** Simulates the requests of vendors and websites during a day. */
async function liveThroughADay(service: TestService): Promise<void> {
  const { clock, get } = service;
  const site = await keyOf(service, 'Harbor Realty, website', 'api', 210);
  const vendor = await keyOf(service, 'Northlight Analytics', 'replication', 95);
  await keyOf(service, 'Portal of the region', 'replication', 12, 'portal');
  let walk = '/Reso/OData/Property?$top=20';
  for (let step = 0; step < STEPS; step++) {
    clock.advance(STEP);
    for (let at = 0; at < wave(step); at++) {
      const filter = `ListPrice gt ${(at * 50 + step) * 1000}`;
      await get('api', `/Reso/OData/Property?$top=10&$filter=${filter}`, { token: site });
      await get('api', '/v1/listings?_limit=5', { token: site });
    }
    if (step % 20 === 7) await get('api', '/Reso/OData/Property?$filter=Nonsense', { token: site });
    const { json } = await get('replication', walk, { token: vendor });
    walk = String(json['@odata.nextLink'] ?? walk);
  }
}

/** The first listing with a floor plan, by the name that the console uses. */
async function planned({ get }: TestService, token: string): Promise<string> {
  const path = "/Reso/OData/Media?$filter=MediaCategory eq 'Floor Plan'&$top=1&$select=ResourceRecordKey";
  const { text } = await get('admin', `/as/role/private/api${path}`, { token });
  const [, listing] = /"ResourceRecordKey":"([^"]+)"/.exec(text) ?? [];
  if (listing === undefined) throw new Error(`the market has no floor plan: ${text}`);
  return listing;
}

async function open(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await settled(page);
}

async function take(page: Page, file: string): Promise<void> {
  await page.waitForLoadState('networkidle');
  await page.evaluate('document.fonts.ready');
  // The screenshot should not show the focus of the last click.
  await page.evaluate('document.activeElement.blur()');
  await page.screenshot({ path: `${FOLDER}${file}`, animations: 'disabled' });
}

/** A browser with the same settings on every machine, whose clock stands at the time of the service. */
async function contextOf(
  { clock }: TestService,
  viewport: { width: number; height: number },
): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport,
    colorScheme: 'light',
    reducedMotion: 'reduce',
    timezoneId: 'UTC',
    locale: 'en-US',
  });
  await context.clock.setFixedTime(clock.now());
  // The name of the store's file differs in each run.
  await context.route('**/about', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), store: 'market.db' } });
  });
  return context;
}

const ends: (() => Promise<void> | void)[] = [];
const service = await startTestService({ after: (end) => void ends.push(end) }, demoMarket(LISTINGS));
const browser = await startBrowser();
try {
  const token = await keyOf(service, 'Operator', 'admin', 400, 'private');
  const listing = await planned(service, token);
  await liveThroughADay(service);
  mkdirSync(FOLDER, { recursive: true });
  for (const name of readdirSync(FOLDER)) if (name.startsWith('console-')) rmSync(`${FOLDER}${name}`);
  const { admin } = service.addresses;
  for (const [size, viewport] of Object.entries(SIZES)) {
    const context = await contextOf(service, viewport);
    const page = await context.newPage();
    await logIn(page, admin, token);
    for (const name of registeredPages()) {
      const path = name === 'listing' ? `listing/${listing}` : name;
      await open(page, `${admin}/console/${path}`);
      await take(page, `console-${name}-${size}.png`);
    }
    await open(page, `${admin}/console/listing/${listing}`);
    await page.getByRole('button', { name: /^See the .*floor plan/ }).click();
    const heading = page.getByRole('heading', { name: /^Floor plan/ });
    await heading.evaluate((found) => found.scrollIntoView({ block: 'start' }));
    await page.evaluate('scrollBy(0, 56)');
    await take(page, `console-plan-${size}.png`);
    await context.close();
  }
} finally {
  await browser.close();
  await stopBrowser();
  for (const end of ends.toReversed()) await end();
}
