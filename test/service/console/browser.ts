/**
 * A real Chromium for tests of the console: Debian's, or the one that `PLAT_CHROMIUM` names. The tests of a process share it,
 * but each has contexts of its own, which share no cookies, storage or cache.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

const PLACES = [process.env.PLAT_CHROMIUM ?? '', '/usr/bin/chromium', '/usr/bin/chromium-browser'];

/** The path of the browser; undefined if none is installed. */
export const chromiumPath: string | undefined = PLACES.find((path) => path !== '' && existsSync(path));

/** The reason to skip tests that need a browser; false if they can run. */
export const withoutChromium: string | false =
  chromiumPath === undefined ? 'there is no Chromium: install it, or name it in PLAT_CHROMIUM' : false;

let running: Promise<Browser> | undefined;

/** Closes the browser, which would keep the process alive. Tests do this in an `after` hook. */
export async function stopBrowser(): Promise<void> {
  await (await running)?.close();
}
after(stopBrowser);

/** The part of the shared browser that a test uses. */
export interface OwnBrowser extends Pick<Browser, 'newContext'> {
  /** Closes the contexts that were made here, with their pages. */
  close(): Promise<void>;
}

/**
 * Chromium would start a renderer for the next page in advance with every page, which takes as long as a short test. The flag replaces
 * Playwright's list of features, from which it keeps what a test could see.
 */
const FLAGS = [
  '--disable-features=SpareRendererForSitePerProcess,PaintHolding,HttpsUpgrades,DestroyProfileOnBrowserClose',
];

export async function startBrowser(): Promise<OwnBrowser> {
  running ??= chromium.launch({
    args: FLAGS,
    ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }),
  });
  const browser = await running;
  const contexts: BrowserContext[] = [];
  return {
    async newContext(options) {
      const context = await browser.newContext(options);
      contexts.push(context);
      return context;
    },
    close: async () => void (await Promise.all(contexts.map((context) => context.close()))),
  };
}

/** A page, and the faults that occur in it: violations of the content security policy, script errors, requests to other hosts. */
export interface WatchedPage {
  readonly page: Page;
  readonly faults: string[];
}

/** Runs in the page: logs policy violations, since a test can observe only the log. */
const REPORT = `addEventListener('securitypolicyviolation', (event) =>
  console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))`;

export async function watchedPage(context: BrowserContext, origin: string): Promise<WatchedPage> {
  const page = await context.newPage();
  const faults: string[] = [];
  await page.addInitScript({ content: REPORT });
  if (DELAY > 0) await page.addInitScript({ content: SLOW });
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('console', (message) => {
    const text = message.text();
    if (text.startsWith('policy: ') || /Content Security Policy/i.test(text)) faults.push(text);
  });
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !/^(?:data|blob):/.test(url)) faults.push(`elsewhere: ${url}`);
  });
  return { page, faults };
}

/**
 * Milliseconds by which all deferred work of a page (effects, frames, timers) is delayed, to find tests that depend on how fast
 * a page draws.
 */
const DELAY = Number(process.env.PLAT_SLOW_PAGES ?? 0);

/** Runs in the page before its scripts. */
const SLOW = `{
  const [later, frame] = [setTimeout, requestAnimationFrame];
  window.setTimeout = (work, delay = 0, ...given) => later(work, delay + ${DELAY}, ...given);
  window.requestAnimationFrame = (work) => later(() => frame(work), ${DELAY});
  window.cancelAnimationFrame = clearTimeout;
}`;

/** Milliseconds that a page may take to show something, as in Playwright's own waits. */
const PATIENCE = 30_000;

/**
 * Reads a page, frame by frame, until it shows what is expected. A read that does not wait (a count, all texts, whether something
 * is visible) would otherwise find what the page showed before it drew its last change.
 * @throws AssertionError with what the page showed last
 */
export async function shows<T>(page: Page, read: () => Promise<T>, expected: T): Promise<void> {
  const end = performance.now() + PATIENCE;
  for (;;) {
    const shown = await read();
    if (isDeepStrictEqual(shown, expected)) return;
    if (performance.now() > end) assert.deepEqual(shown, expected);
    await page.evaluate('new Promise(requestAnimationFrame)');
  }
}

/** Logs in on the login page of the console. */
export async function logIn(page: Page, base: string, token: string, path = '/console/'): Promise<void> {
  await page.goto(`${base}${path}`);
  await page.getByLabel('Token of an admin key').fill(token);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
}

/** Waits until a page of the console has finished loading: it has its heading and no loading indicator. */
export const settled = (page: Page): Promise<void> =>
  page.locator('main:has(h1):not(:has(output.state:not(.empty)))').waitFor();

/** The rules of WCAG up to 2.2, AA, and axe-core's best practices. */
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** The source of axe-core. It is evaluated, since the policy of the page blocks a script that is added to it. */
let axeSource: string | undefined;

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/**
 * The accessibility violations in the current state of a page.
 * @param rule checks this rule only, such as `color-contrast` for another theme; absent: all rules
 */
export async function axe(page: Page, rule?: string): Promise<string[]> {
  axeSource ??= readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axeSource);
  const runOnly = rule === undefined ? { type: 'tag', values: RULES } : { type: 'rule', values: [rule] };
  const options = JSON.stringify({ runOnly, resultTypes: ['violations'] });
  const found = await page.evaluate<readonly Violation[]>(
    `axe.run(document, ${options}).then(({ violations }) => violations)`,
  );
  return found.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id}: ${help}: ${html.slice(0, 200)} ${failureSummary}`),
  );
}

/** The number of pixels by which a page is wider than its window; it must never scroll horizontally. */
export const overhang = (page: Page): Promise<number> =>
  page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');

const REGISTERED = new URL('../../../packages/console/src/app/pages.ts', import.meta.url);

/** The names of all pages of the console, in its navigation or not. */
export const registeredPages = (): string[] =>
  [...readFileSync(REGISTERED, 'utf8').matchAll(/^ {4}name: '([\w-]+)',$/gm)].map(([, name = '']) => name);
