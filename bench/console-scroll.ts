/**
 * How smoothly the results of Explore scroll in a real Chromium: frame times of a slow, a fast and a very fast scroll through
 * 100,000 listings, the work of the page per frame, and the time until a page of rows is displayed after a jump. `node
 * bench/console-scroll.ts [--listings 100000]`; Chromium is Debian's, or the one that `PLAT_CHROMIUM` names.
 */
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { logIn, startBrowser } from '../test/service/console/browser.ts';
import {
  type Costs,
  costsOf,
  manyListings,
  rowsAtRest,
  scrollBy,
  scrollTo,
} from '../test/service/console/scrolling.ts';

const { values } = parseArgs({ options: { listings: { type: 'string', default: '100000' } } });
const FRAMES = 600;

/** Scrolling speeds in pixels per frame; a row has 36. */
const SPEEDS = [
  ['reading, half a row a frame', 18],
  ['the wheel turned fast, three rows a frame', 120],
  ['flung, fifty rows a frame', 1800],
  ['the scroll bar dragged, 330 rows a frame', 12_000],
] as const;

const sorted = (numbers: readonly number[]): readonly number[] =>
  numbers.toSorted((one, other) => one - other);
const share = (numbers: readonly number[], part: number): string =>
  (sorted(numbers)[Math.floor((numbers.length - 1) * part)] ?? Number.NaN).toFixed(1);

async function scrolls(page: Page, costs: Costs): Promise<void> {
  let requests = 0;
  page.on('request', () => {
    requests += 1;
  });
  for (const [name, pixels] of SPEEDS) {
    await scrollTo(page, 0.3);
    await rowsAtRest(page);
    requests = 0;
    const before = await costs.busy();
    const { frames, mostRows, blank } = await scrollBy(page, pixels, FRAMES);
    const after = await costs.busy();
    const late = frames.filter((each) => each > 25).length;
    console.log(
      [
        `${name}:`,
        `frames p50 ${share(frames, 0.5)} p95 ${share(frames, 0.95)} p99 ${share(frames, 0.99)} ms,`,
        `${late} of ${FRAMES} late,`,
        `${((after - before) / FRAMES).toFixed(1)} ms of work a frame,`,
        `${mostRows} rows in the document, ${requests} requests, ${blank} frames with a row to come`,
      ].join(' '),
    );
  }
}

/** Jumps to positions that have not been visited, and waits for their rows. */
async function rests(page: Page): Promise<void> {
  const took: number[] = [];
  for (let at = 0; at < 40; at++) {
    const began = performance.now();
    await scrollTo(page, ((at * 17 + 5) % 40) / 40);
    await rowsAtRest(page);
    took.push(performance.now() - began);
  }
  console.log(`a jump to its rows: p50 ${share(took, 0.5)} p95 ${share(took, 0.95)} ms`);
}

const ends: (() => Promise<void> | void)[] = [];
const scope = { after: (work: () => Promise<void> | void) => void ends.push(work) };
try {
  const service = await manyListings(scope, Number(values.listings));
  const browser = await startBrowser();
  scope.after(() => browser.close());
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await logIn(page, service.addresses.admin, await service.key('admin'));
  await rowsAtRest(page);
  const costs = await costsOf(page);
  await scrolls(page, costs);
  await rests(page);
  console.log(`memory of the page: ${((await costs.heap()) / 1e6).toFixed(1)} MB`);
} finally {
  for (const end of ends.toReversed()) await end();
}
