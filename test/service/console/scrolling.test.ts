/** Scrolling through 100,000 records in a real browser (`PLAT_FULL=1`); `bench/console-scroll.ts` measures the same. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { logIn, startBrowser, watchedPage, withoutChromium } from './browser.ts';
import { costsOf, keyAt, manyListings, rowsAtRest, scrollBy, scrollTo } from './scrolling.ts';

const LISTINGS = 100_000;
const MOST_ROWS = 45;
/** The number of records that the page keeps: those of 200 requests. */
const KEPT = 20_000;
const MB = 1e6;

const isLeftOut = process.env.PLAT_FULL === '1' ? withoutChromium : 'with PLAT_FULL=1';

test('the Explore page scrolls through 100,000 records', { skip: isLeftOut }, async (t) => {
  const service = await manyListings({ after }, LISTINGS);
  const { admin } = service.addresses;
  const browser = await startBrowser();
  after(() => browser.close());
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const { page, faults } = await watchedPage(context, admin);
  await logIn(page, admin, await service.key('admin'));
  await rowsAtRest(page);
  const costs = await costsOf(page);
  let requests = 0;
  page.on('request', () => {
    requests += 1;
  });
  const scrolledFrom = async (share: number, pixels: number, frames: number) => {
    await scrollTo(page, share);
    await rowsAtRest(page);
    requests = 0;
    return scrollBy(page, pixels, frames);
  };

  await t.test('at reading speed no visible row is blank, and few requests load the rows', async () => {
    const { blank, mostRows } = await scrolledFrom(0.2, 18, 300);
    assert.deepEqual([blank, mostRows < MOST_ROWS], [0, true]);
    assert.ok(requests <= 4, `${requests} requests for 150 rows`);
  });

  await t.test('rows that are scrolled past quickly are not requested', async () => {
    const { mostRows } = await scrolledFrom(0.5, 12_000, 300);
    assert.ok(mostRows < MOST_ROWS, String(mostRows));
    assert.ok(requests <= 2, `${requests} requests in 300 frames`);
  });

  await t.test('wherever scrolling stops, each row is the record of its index', async () => {
    for (const share of [0, 1, 0.5, 0.123, 0.999, 0.0004, 0.75]) {
      await scrollTo(page, share);
      const rows = await rowsAtRest(page);
      assert.ok(rows.length > 10 && rows.length < MOST_ROWS, `${rows.length} rows`);
      assert.deepEqual(
        rows.map(({ text }) => text),
        rows.map((_, at) => keyAt((rows[0]?.index ?? 0) + at)),
      );
    }
    await scrollTo(page, 1);
    assert.equal((await rowsAtRest(page)).at(-1)?.text, keyAt(LISTINGS - 1));
  });

  await t.test(
    'the page keeps a limited number of the most recently shown records in limited memory',
    async () => {
      const before = await costs.heap();
      // Each of the 250 places needs different pages.
      for (let at = 0; at < 250; at++) {
        await scrollTo(page, ((at * 89) % 250) / 250);
        await rowsAtRest(page);
      }
      const [, kept = ''] =
        /CSV of the ([\d,]+) records/.exec(
          (await page.getByRole('button', { name: /^CSV of/ }).textContent()) ?? '',
        ) ?? [];
      assert.equal(Number(kept.replaceAll(',', '')), KEPT);
      const grown = (await costs.heap()) - before;
      assert.ok(grown < 40 * MB, `${Math.round(grown / MB)} MB more`);
    },
  );

  assert.deepEqual(faults, []);
});
