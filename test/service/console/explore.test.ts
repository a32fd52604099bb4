/** The page Explore in a real browser: filters typed and built, marked errors, scrolling, CSV, and the view of a role. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { listing } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import { axe, logIn, shows, startBrowser, watchedPage, withoutChromium } from './browser.ts';
import { scrollBy } from './scrolling.ts';

const HOSTILE = '<img src=x onerror="document.title=1">';

const listings = Array.from({ length: 700 }, (_, at) =>
  listing(`L${String(at).padStart(5, '0')}`, {
    City: at % 2 === 0 ? 'Rome' : HOSTILE,
    ListPrice: 100_000 + at * 1000,
    PrivateRemarks: `=cmd ${at}`,
    StandardStatus: at % 10 === 0 ? 'Closed' : 'Active',
  }),
);

/** The number of rows in the document, and the number that the table declares. */
const inDocument = async (page: Page) => ({
  rows: await page.locator('tbody tr[aria-rowindex]').count(),
  all: await page.getByRole('table').getAttribute('aria-rowcount'),
});

test('Explore', { skip: withoutChromium }, async (t) => {
  const service = await startTestService(
    { after },
    { fill: async ({ write }) => void (await write('Property', ...listings)) },
  );
  const { admin } = service.addresses;
  const browser = await startBrowser();
  after(() => browser.close());
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const { page, faults } = await watchedPage(context, admin);
  const counted = (text: string) =>
    page.locator('output.count', { hasText: new RegExp(`^${text}$`) }).waitFor();

  await t.test('shows the listings of a role, and only the visible rows are in the document', async () => {
    await logIn(page, admin, await service.key('admin'));
    await counted('700 listings');
    const { rows, all } = await inDocument(page);
    assert.equal(all, '701');
    assert.ok(rows > 10 && rows < 60, `${rows} rows are in the document`);
    assert.equal(
      await page.getByRole('link', { name: 'L00000' }).getAttribute('href'),
      '/console/listing/L00000?as=role%2Fprivate',
    );
    assert.equal(await page.getByText(HOSTILE).first().textContent(), HOSTILE);
    // Ten records fit on the first screen, below the controls.
    const tenth = await page.locator('tbody tr[aria-rowindex="11"]').boundingBox();
    assert.ok(tenth !== null && tenth.y + tenth.height < 800, JSON.stringify(tenth));
  });

  await t.test('requests rows before they are scrolled into view', async () => {
    const { blank } = await scrollBy(page, 36, 90);
    assert.equal(blank, 0);
    const table = page.getByRole('region', { name: 'Records' });
    await table.focus();
    await page.keyboard.press('End');
    await page.getByRole('link', { name: 'L00699' }).waitFor();
    const { rows } = await inDocument(page);
    assert.ok(rows < 60, `${rows} rows are in the document`);
    await page.keyboard.press('Home');
    await page.getByRole('link', { name: 'L00000' }).waitFor();
  });

  await t.test('builds a condition from a field and the values of its lookup', async () => {
    await page.getByLabel('Field', { exact: true }).selectOption('StandardStatus');
    await page.getByLabel('Value', { exact: true }).selectOption('Closed');
    await page.getByRole('button', { name: 'Add' }).click();
    await counted('70 listings');
    assert.equal(new URL(page.url()).searchParams.get('filter'), "StandardStatus eq 'Closed'");
    await page.getByLabel('Field', { exact: true }).selectOption('ListPrice');
    await page.getByLabel('Value', { exact: true }).fill('500000');
    await page.getByRole('button', { name: 'Add' }).click();
    await counted('30 listings');
    await page.getByRole('button', { name: 'Remove: Standard Status is Closed' }).click();
    await counted('300 listings');
  });

  await t.test('completes a typed filter, and marks the position of an error', async () => {
    await page.getByRole('button', { name: 'Type the filter' }).click();
    const editor = page.getByLabel('Filter text');
    await editor.fill('');
    await editor.pressSequentially('ListPr');
    await page
      .getByRole('option', { name: /^ListPrice/ })
      .first()
      .waitFor();
    await page.keyboard.press('ArrowDown');
    assert.deepEqual(await axe(page), []);
    await page.keyboard.press('Enter');
    await editor.pressSequentially('lt 102000 and Cty eq 5');
    await page.keyboard.press('Enter');
    assert.equal(
      await page.locator('#filter-fault').textContent(),
      '$filter: Property has no field Cty at position 25. Did you mean City? Go there',
    );
    await shows(page, () => page.locator('.editor mark').textContent(), 'Cty');
    await page.getByRole('button', { name: 'Go there' }).click();
    await page.keyboard.type('City');
    await page.keyboard.press('End');
    await page.keyboard.press('Backspace');
    await page.keyboard.type("'Rome'");
    await page.keyboard.press('Escape');
    await page.keyboard.press('Enter');
    await counted('1 listing');
  });

  await t.test('orders by a column, keeps its state when it is reloaded, and shows the request', async () => {
    await page.getByRole('button', { name: 'Type the filter' }).click();
    await page.getByRole('button', { name: /^Remove: City/ }).click();
    await counted('2 listings');
    await page.getByRole('button', { name: 'List Price', exact: true }).click();
    await page
      .getByRole('columnheader', { name: 'List Price' })
      .and(page.locator('[aria-sort=ascending]'))
      .waitFor();
    await page.getByRole('button', { name: 'List Price', exact: true }).click();
    await page.locator('[aria-sort=descending]').waitFor();
    await page.reload();
    await counted('2 listings');
    const first = page.locator('tbody tr[aria-rowindex="2"]');
    assert.match((await first.textContent()) ?? '', /^L00001/);
    const url = await page.locator('.addresses code').first().textContent();
    const answer = await fetch(url ?? '', {
      headers: { authorization: `Bearer ${await service.key('api', { role: 'private' })}` },
    });
    const body: unknown = await answer.json();
    assert.deepEqual(
      JSON.parse(JSON.stringify(body)).value.map(({ ListingKey }: { ListingKey: string }) => ListingKey),
      ['L00001', 'L00000'],
    );
    assert.match((await page.locator('.addresses code').nth(1).textContent()) ?? '', /Bearer \$TOKEN" 'http/);
  });

  await t.test('downloads CSV in which no text is a formula', async () => {
    await page.getByText(/^Columns \(/).click();
    await page.getByLabel('Find a field').fill('private remarks');
    await page.getByLabel('Private Remarks', { exact: true }).check();
    await page.getByRole('columnheader', { name: 'Private Remarks' }).waitFor();
    await page.getByText('=cmd 1').first().waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: /^CSV/ }).click(),
    ]);
    const text = readFileSync(await download.path(), 'utf8');
    assert.match(text, /^ListingKey,.*PrivateRemarks\r\nL00001,.*,'=cmd 1\r\n/);
  });

  await t.test('hides records and fields that the chosen role may not see', async () => {
    await page.getByLabel('Seen as').selectOption('role/idx');
    // The role does not see a closed listing without a CloseDate.
    await counted('1 listing');
    await shows(page, () => page.getByText('=cmd').count(), 0);
    await shows(
      page,
      () => page.locator('#condition-field option', { hasText: 'Private Remarks' }).count(),
      0,
    );
  });

  await t.test('shows the first page as JSON', async () => {
    await page.getByRole('button', { name: 'JSON', exact: true }).click();
    const json = page.getByRole('region', { name: 'The first page as JSON' });
    assert.match((await json.textContent()) ?? '', /"@odata.count": 1,/);
    assert.deepEqual(await axe(page), []);
  });

  await t.test('shows the native interface', async () => {
    await page.getByLabel('Interface').selectOption('native');
    await counted('630 listings');
    await page.getByRole('region', { name: 'Records' }).focus();
    await page.keyboard.press('End');
    await page.getByRole('link', { name: 'L00699' }).waitFor();
  });

  assert.deepEqual(faults, []);
});
