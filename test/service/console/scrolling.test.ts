/** 100,000 records on Explore, in a real browser (`PLAT_FULL=1`; explore.test.ts has a short scroll): `bench/console-scroll.ts` measures the same. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { logIn, startBrowser, watchedPage, withoutChromium } from './browser.ts';
import { costsOf, keyAt, manyListings, rowsAtRest, scrollBy, scrollTo } from './scrolling.ts';

const LISTINGS = 100_000;
const MOST_ROWS = 45;
/** Records that the page keeps: those of 200 requests. */
const KEPT = 20_000;
const MB = 1e6;

const isLeftOut = process.env.PLAT_FULL === '1' ? withoutChromium : 'with PLAT_FULL=1';

test('a person scrolls through 100,000 records', { skip: isLeftOut }, async (t) => {
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

  await t.test('reading on, there is always a row to read, and few requests bring them', async () => {
    const { blank, mostRows } = await scrolledFrom(0.2, 18, 300);
    assert.deepEqual([blank, mostRows < MOST_ROWS], [0, true]);
    assert.ok(requests <= 4, `${requests} requests for 150 rows`);
  });

  await t.test('what flies by is not asked for, whatever the frame', async () => {
    const { mostRows } = await scrolledFrom(0.5, 12_000, 300);
    assert.ok(mostRows < MOST_ROWS, String(mostRows));
    assert.ok(requests <= 2, `${requests} requests in 300 frames`);
  });

  await t.test('wherever it comes to rest, every row is the one of its place', async () => {
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

  await t.test('the page keeps the records that were looked at last, and its memory is bounded', async () => {
    const before = await costs.heap();
    // Each place has pages of its own.
    for (let at = 0; at < 250; at++) {
      await scrollTo(page, ((at * 89) % 250) / 250);
      await rowsAtRest(page);
    }
    const [, held = ''] =
      /CSV of the ([\d,]+) records/.exec(
        (await page.getByRole('button', { name: /^CSV of/ }).textContent()) ?? '',
      ) ?? [];
    assert.equal(Number(held.replaceAll(',', '')), KEPT);
    const grown = (await costs.heap()) - before;
    assert.ok(grown < 40 * MB, `${Math.round(grown / MB)} MB more`);
  });

  assert.deepEqual(faults, []);
});
