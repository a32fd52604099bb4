/** Scrolls a table of many records in a real browser frame by frame, and measures what is visible meanwhile. */
import type { Page } from 'playwright-core';
import { listing } from '../../support/builders.ts';
import type { Scope } from '../../support/engine.ts';
import { startTestService, type TestService } from '../../support/service.ts';

const CHUNK = 2000;

export const keyAt = (index: number): string => `L${String(index).padStart(6, '0')}`;

/** A service with `count` small listings, whose keys contain their index in key order. */
export const manyListings = (scope: Scope, count: number): Promise<TestService> =>
  startTestService(scope, {
    fill: async ({ write }) => {
      for (let from = 0; from < count; from += CHUNK) {
        const indexes = Array.from({ length: Math.min(CHUNK, count - from) }, (_, at) => from + at);
        const records = indexes.map((at) =>
          listing(keyAt(at), {
            City: at % 3 === 0 ? 'Rome' : 'Ely',
            ListPrice: 100_000 + at,
            BedroomsTotal: at % 7,
          }),
        );
        await write('Property', ...records);
      }
    },
  });

export interface Scrolled {
  /** Milliseconds from each frame to the next one. */
  readonly frames: readonly number[];
  /** The maximum number of rows in the document. */
  readonly mostRows: number;
  /** Frames in which a visible row was empty. */
  readonly blank: number;
}

/** Scrolls the table by `pixels` before each of `count` frames, and reverses the direction at its ends. */
export const scrollBy = (page: Page, pixels: number, count: number): Promise<Scrolled> =>
  page.evaluate<Scrolled>(`new Promise((resolve) => {
    const box = document.querySelector('.data-table');
    const rows = box.getElementsByTagName('tr');
    const coming = box.getElementsByClassName('coming');
    const { top, bottom } = box.getBoundingClientRect();
    const isInView = (cell) => {
      const place = cell.getBoundingClientRect();
      return place.bottom > top + 37 && place.top < bottom;
    };
    const frames = [];
    let mostRows = 0, blank = 0, step = ${pixels}, before;
    const frame = (now) => {
      if (before !== undefined) frames.push(now - before);
      before = now;
      mostRows = Math.max(mostRows, rows.length);
      if ([...coming].some(isInView)) blank++;
      if (frames.length === ${count}) {
        resolve({ frames, mostRows, blank });
        return;
      }
      const next = box.scrollTop + step;
      if (next < 0 || next > box.scrollHeight - box.clientHeight) step = -step;
      box.scrollTop += step;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  })`);

/** Jumps to a position in the table and waits until it is drawn. @param share of the table's height, 0 to 1 */
export const scrollTo = (page: Page, share: number): Promise<void> =>
  page.evaluate(`new Promise((resolve) => {
    const box = document.querySelector('.data-table');
    box.scrollTop = (box.scrollHeight - box.clientHeight) * ${share};
    requestAnimationFrame(() => requestAnimationFrame(resolve));
  })`);

interface Row {
  readonly index: number;
  /** The first cell. */
  readonly text: string;
}

/** The rows in the document, once none of them is empty. */
export const rowsAtRest = (page: Page): Promise<readonly Row[]> =>
  page.evaluate<readonly Row[]>(`new Promise((resolve) => {
    const look = () => {
      const rows = [...document.querySelectorAll('.data-table tbody tr[aria-rowindex]')];
      if (rows.length === 0 || document.querySelector('.data-table .coming') !== null) {
        requestAnimationFrame(look);
        return;
      }
      resolve(rows.map((row) => ({
        index: Number(row.getAttribute('aria-rowindex')) - 2,
        text: row.cells[0].textContent,
      })));
    };
    look();
  })`);

export interface Costs {
  /** Bytes of live objects in the page, after garbage collection. */
  heap(): Promise<number>;
  /** Milliseconds of work on the page's main thread so far: script, style and layout. */
  busy(): Promise<number>;
}

export async function costsOf(page: Page): Promise<Costs> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  return {
    heap: async () => {
      await session.send('HeapProfiler.collectGarbage');
      return (await session.send('Runtime.getHeapUsage')).usedSize;
    },
    busy: async () => {
      const { metrics } = await session.send('Performance.getMetrics');
      return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1000;
    },
  };
}
