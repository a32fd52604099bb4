/** A real Chromium for tests of the console: Debian's, or the one that `PLAT_CHROMIUM` names. */
import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

const PLACES = [process.env.PLAT_CHROMIUM ?? '', '/usr/bin/chromium', '/usr/bin/chromium-browser'];

/** The browser's program; undefined: there is none on this machine. */
export const chromiumPath: string | undefined = PLACES.find((path) => path !== '' && existsSync(path));

/** Why a test of the console is skipped; false: it runs. */
export const withoutChromium: string | false =
  chromiumPath === undefined ? 'there is no Chromium: install it, or name it in PLAT_CHROMIUM' : false;

export async function startBrowser(): Promise<Browser> {
  return chromium.launch({ ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }) });
}

/** A page that keeps what must not happen: violations of the policy, errors of scripts, and requests to other hosts. */
export interface WatchedPage {
  readonly page: Page;
  readonly faults: string[];
}

/** Runs in the page, which tells tests of violations by its log alone. */
const REPORT = `addEventListener('securitypolicyviolation', (event) =>
  console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))`;

export async function watchedPage(context: BrowserContext, origin: string): Promise<WatchedPage> {
  const page = await context.newPage();
  const faults: string[] = [];
  await page.addInitScript({ content: REPORT });
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

/** Logs in at the log-in of the console. */
export async function logIn(page: Page, base: string, token: string, path = '/console/'): Promise<void> {
  await page.goto(`${base}${path}`);
  await page.getByLabel('Token of an admin key').fill(token);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
}
