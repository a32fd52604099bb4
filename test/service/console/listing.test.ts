/** A listing and its floor plans in a real browser: photos, drawings, the record as roles see it, and hostile content. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { FileSource } from '../../../src/service/options.ts';
import { floorPlan, listing, member, photo, room } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import {
  axe,
  logIn,
  type OwnBrowser,
  overhang,
  settled,
  startBrowser,
  type WatchedPage,
  watchedPage,
  withoutChromium,
} from './browser.ts';

const SCRIPT = `<script>window.hacked = 1; alert(1)</script>`;
const HANDLER = `"><img src=x onerror="window.hacked = 1; alert(1)">`;
const HOSTILE = SCRIPT + HANDLER;

const isFull = process.env.PLAT_FULL === '1';

/** A drawing that tries everything that an SVG could do. */
const HOSTILE_SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="400" height="200" onload="window.hacked = 1; alert(1)">
  ${SCRIPT}<image href="https://images.example/spy.png" width="9" height="9"/>
  <foreignObject width="400" height="200"><iframe xmlns="http://www.w3.org/1999/xhtml" src="https://images.example/"/></foreignObject>
  <a href="javascript:alert(1)"><rect width="400" height="200" fill="#cde"/></a></svg>`;

const files: FileSource = {
  open: async (path) => (path.includes('missing') ? undefined : { type: 'image/svg+xml', body: HOSTILE_SVG }),
};

const hostileName = `plans/${HOSTILE.replaceAll('/', '|')}.svg`;

const startService = () =>
  startTestService(
    { after },
    {
      service: { files: [files] },
      fill: async ({ write }) => {
        await write(
          'Member',
          member('M1', { MemberFullName: 'Ann Adams', MemberPreferredPhone: '231-555-0101' }),
        );
        await write(
          'Property',
          listing('plain', {
            UnparsedAddress: '1 Main Street',
            ListPrice: 450000,
            BedroomsTotal: 3,
            OriginatingSystemID: 'M1',
            PrivateRemarks: 'the key is under the mat',
            ListAgentKey: 'M1',
            Media: [
              photo('P1', { MediaURL: 'photos/1.svg', ShortDescription: 'Front', Order: 1 }),
              photo('P2', { MediaURL: 'photos/missing.svg', ShortDescription: 'Gone', Order: 2 }),
              photo('P3', { ShortDescription: 'Elsewhere', Order: 3 }),
              photo('P9', { MediaURL: 'photos/9.svg', ShortDescription: 'Back', Order: 4 }),
              floorPlan('F1', { ShortDescription: 'Ground floor' }),
            ],
            Rooms: [
              room('R1', {
                RoomType: 'Kitchen',
                RoomLevel: 'Main',
                RoomLength: 10,
                RoomWidth: 8.5,
                RoomLengthWidthUnits: 'Feet',
              }),
            ],
          }),
          listing('withdrawn', {
            UnparsedAddress: '9 Hidden Lane',
            StandardStatus: 'Withdrawn',
            Latitude: 44.7,
            Longitude: -85.6,
            Media: [floorPlan('F9', { ShortDescription: 'Attic of 9 Hidden Lane' })],
          }),
          listing('hostile', {
            UnparsedAddress: HOSTILE,
            PublicRemarks: HOSTILE,
            City: HANDLER.slice(0, 50),
            OriginatingSystemID: SCRIPT.slice(0, 20),
            ListAgentFullName: HOSTILE,
            Media: [
              photo('P4', { MediaURL: hostileName, ShortDescription: SCRIPT.slice(0, 50) }),
              photo('P5', { MediaURL: `https://images.example/${encodeURIComponent(HOSTILE)}.svg` }),
              floorPlan('F2', { MediaURL: hostileName, LongDescription: HOSTILE }),
              floorPlan(HOSTILE, { MediaURL: `data:text/html,${HOSTILE}` }),
            ],
            Rooms: [room('R2', { RoomType: HOSTILE, RoomDescription: HOSTILE })],
            OpenHouses: [
              {
                OpenHouseKey: 'O1',
                LivestreamOpenHouseURL: 'javascript:alert(1)',
                OpenHouseRemarks: HOSTILE,
              },
            ],
          }),
        );
      },
    },
  );

type TestService = Awaited<ReturnType<typeof startService>>;

/** A watched page of the console, in which a dialog is a fault, too. */
async function openedPage(browser: OwnBrowser, { addresses, key }: TestService): Promise<WatchedPage> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    reducedMotion: 'reduce',
  });
  const watched = await watchedPage(context, addresses.admin);
  watched.page.on('dialog', (dialog) => {
    watched.faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await logIn(watched.page, addresses.admin, await key('admin'));
  return watched;
}

/** Pages with a text that the operator sees and the role idx does not. Only the full test run opens more than three. */
const SEEN_BY_THE_OPERATOR = [
  ['listing/plain?view=record&', 'the key is under the mat'],
  ['floorplans?', 'Attic of 9 Hidden Lane'],
  ['dictionary?q=private&', 'PrivateRemarks'],
  ['listing/plain?', 'the key is under the mat'],
  ['listing/withdrawn?', '9 Hidden Lane'],
  ['explore?', '9 Hidden Lane'],
  ['explore?select=PrivateRemarks&view=json&', 'the key is under the mat'],
  ['explore?view=map&', '9 Hidden Lane'],
  ['explore?facets=PrivateRemarks,StandardStatus&', 'Withdrawn'],
  ['explore?interface=native&', '9 Hidden Lane'],
] as const;

/** Runs in the page: adds to `shown` each change or frame in which the text is visible while the URL names the role idx. */
const watchFor = (secret: string): string => `
  var shown = [], frames = 0, seen = () => undefined;
  var fewFrames = new Promise((resolve) => { seen = resolve; });
  const look = (when) => {
    if (!location.search.includes('idx')) return;
    if (document.getElementById('main').textContent.includes(${JSON.stringify(secret)})) shown.push(when);
    if (when === 'frame' && ++frames === 4) seen();
  };
  new MutationObserver(() => look('change')).observe(document, {
    subtree: true, childList: true, characterData: true, attributes: true,
  });
  const frame = () => requestAnimationFrame(() => setTimeout(() => { look('frame'); frame(); }));
  frame();`;

/** The parts of an image element that the tests use. */
interface Picture {
  readonly naturalWidth: number;
  decode(): Promise<void>;
}

/** The width of a picture once it has loaded. */
async function widthOf(picture: Picture): Promise<number> {
  await picture.decode();
  return picture.naturalWidth;
}

/** Runs in the page: presses two keys within one frame. */
const TWO_KEYS = `(async () => {
  for (const key of ['ArrowRight', 'ArrowRight']) {
    document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    await new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = resolve;
      port2.postMessage('');
    });
  }
})()`;

/** Waits until each picture has loaded or failed to. */
async function allLoaded(pictures: readonly Picture[]): Promise<void> {
  await Promise.allSettled(pictures.map((picture) => picture.decode()));
}

/** Width and offset of the drawing in its box. */
const placed = (page: Page): Promise<readonly number[]> =>
  page.evaluate<readonly number[]>(`(() => {
    const area = document.querySelector('.drawing-area').getBoundingClientRect();
    const { width, x, y } = document.querySelector('.drawing-area img').getBoundingClientRect();
    return [width, x - area.x, y - area.y].map(Math.round);
  })()`);

test('a listing, its drawing and its record', { skip: withoutChromium }, async (t) => {
  const service = await startService();
  const { admin } = service.addresses;
  const browser = await startBrowser();
  try {
    const { page, faults } = await openedPage(browser, service);
    const show = async (path: string): Promise<void> => {
      await page.goto(`${admin}/console/${path}`);
      await settled(page);
    };

    await t.test('the listing page shows photos, facts, rooms and people', async () => {
      await show('listing/plain');
      await page.getByRole('heading', { level: 1, name: '1 Main Street' }).waitFor();
      await page.getByText('$450,000').first().waitFor();
      await page.getByRole('cell', { name: '10 × 8.5 ft' }).waitFor();
      await page.getByText('231-555-0101').first().waitFor();
      const elsewhere = page.getByRole('link', { name: 'Elsewhere' });
      assert.equal(await elsewhere.getAttribute('href'), 'https://images.example/P3.jpg');
      await page.getByRole('button', { name: 'Photo 1: Front' }).focus();
      await page.keyboard.press('ArrowRight');
      await page.getByText('This photo cannot be shown.').waitFor();
      assert.match(page.url(), /photo=2/);
      await page.keyboard.press('Home');
      await page.evaluate(TWO_KEYS);
      await page.getByText('3 of 3: Back').waitFor();
      await page.getByLabel('Find a fact').fill('under the mat');
      await page.getByText('1 fact', { exact: true }).waitFor();
    });

    await t.test('a drawing can be zoomed and moved by buttons, keys, wheel, mouse and touch', async () => {
      await show('listing/plain');
      await page.getByRole('button', { name: 'See the floor plan' }).click();
      const area = page.getByRole('application');
      const scale = page.getByLabel('Zoom', { exact: true });
      const [whole = 0] = await placed(page);
      await page.getByRole('button', { name: 'Zoom in' }).click();
      assert.deepEqual(
        [await scale.textContent(), (await placed(page))[0]],
        ['150 %', Math.round(whole * 1.5)],
      );
      const [, x = 0] = await placed(page);
      await page.getByRole('button', { name: 'Move right' }).click();
      assert.equal((await placed(page))[1], x - 80);
      await area.focus();
      await page.keyboard.press('ArrowLeft');
      assert.equal((await placed(page))[1], x);
      await page.keyboard.press('0');
      assert.equal(await scale.textContent(), '100 %');
      await page.keyboard.press('+');
      const box = await area.boundingBox();
      assert.ok(box !== null);
      await page.mouse.move(box.x + 200, box.y + 150);
      await page.mouse.down();
      await page.mouse.move(box.x + 230, box.y + 150);
      await page.mouse.up();
      assert.equal((await placed(page))[1], x + 30);
      await page.mouse.wheel(0, -400);
      await page.locator('.drawing-scale', { hasText: /^\s*(?:[3-9]\d\d|\d{4,}) %/ }).waitFor();
      await page.getByRole('button', { name: 'Whole' }).click();
      const touch = await page.context().newCDPSession(page);
      const fingers = (type: string, ...points: readonly number[]) =>
        touch.send('Input.dispatchTouchEvent', {
          type: type === 'down' ? 'touchStart' : type === 'move' ? 'touchMove' : 'touchEnd',
          touchPoints: points.map((at, id) => ({ x: box.x + at, y: box.y + 150, id })),
        });
      await fingers('down', 150, 250);
      await fingers('move', 100, 300);
      await fingers('up');
      await page.locator('.drawing-scale', { hasText: /^\s*200 %\s*$/ }).waitFor();
    });

    await t.test(
      'the record view hides what a role does not see, and can show the operator’s values next to it',
      async () => {
        await show('listing/plain?view=record&as=role/idx&fields=hidden');
        const row = page.getByRole('row', { name: /PrivateRemarks/ });
        assert.deepEqual(await row.getByRole('cell').allTextContents(), ['hidden', '********']);
        assert.equal(await page.getByText('under the mat').count(), 0);
        await page.getByLabel('Compare with the operator').check();
        await row.getByRole('cell', { name: 'the key is under the mat' }).waitFor();
        assert.deepEqual(await axe(page), []);
        await page.getByLabel('See as').selectOption('role/private');
        await page.getByText('The operator sees every field.').waitFor();
        await show('listing/none?as=role/idx');
        await page.getByText('The role idx does not see this listing').waitFor();
        assert.deepEqual(await axe(page), []);
      },
    );

    await t.test('floor plans by system and listing open in the viewer', async () => {
      await page.getByRole('link', { name: 'Floor plans' }).click();
      await page.getByLabel('System').selectOption('M1');
      await page.getByRole('link', { name: '1 Main Street' }).click();
      await page.getByRole('application').waitFor();
      await page.getByRole('cell', { name: '10 × 8.5 ft' }).waitFor();
      assert.deepEqual(await axe(page), []);
      assert.equal(await overhang(page), 0);
      await page.getByRole('link', { name: 'See the listing' }).click();
      await page.getByRole('heading', { level: 1, name: '1 Main Street' }).waitFor();
      await show('floorplans?listing=none');
      await page.getByText('There are no floor plans here').waitFor();
    });

    await t.test(
      'after a change of role, no frame shows a value that only the previous role sees',
      async () => {
        for (const [path, secret] of SEEN_BY_THE_OPERATOR.slice(0, isFull ? undefined : 3)) {
          await show(`${path}as=role/private`);
          await page.getByText(secret).first().waitFor();
          let release = (): void => undefined;
          const held = new Promise<void>((resolve) => {
            release = resolve;
          });
          await page.route('**/as/role/idx/**', async (route) => held.then(() => route.continue()));
          await page.evaluate(watchFor(secret));
          await page.getByLabel(/^Seen? as/).selectOption('role/idx');
          // The responses are held back, so that frames are drawn before they arrive.
          await page.evaluate('fewFrames');
          release();
          await settled(page);
          assert.deepEqual([path, await page.evaluate('shown')], [path, []]);
          await page.unroute('**/as/role/idx/**');
        }
      },
    );

    await t.test('hostile texts are shown as text, and hostile drawings run no script', async () => {
      await show('listing/hostile?plan=F2');
      assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), HOSTILE);
      assert.equal(await page.locator('.remarks').textContent(), HOSTILE);
      await page.getByRole('application').waitFor();
      assert.equal(await page.locator('.drawing-area img').evaluate(widthOf), 400);
      assert.equal(
        await page.locator('a[href^="javascript:"], a[href^="data:"], iframe, main script').count(),
        0,
      );
      const file = await page.getByRole('link', { name: /^Open the file/ }).getAttribute('href');
      await show('listing/hostile?view=record&fields=all&beside=operator&as=role/idx');
      await page
        .getByRole('row', { name: /PublicRemarks/ })
        .getByText(SCRIPT)
        .first()
        .waitFor();
      await show('floorplans?listing=hostile&plan=F2&as=role/../../status');
      await page.getByRole('application').waitFor();
      await page.locator('img').evaluateAll(allLoaded);
      assert.deepEqual([faults.splice(0), await page.evaluate('window.hacked')], [[], undefined]);
      // Opened on its own, the drawing has an opaque origin and runs no script.
      const alone = await page.context().newPage();
      alone.on('dialog', (dialog) => faults.push(`dialog: ${dialog.message()}`));
      const answer = await alone.goto(`${admin}${file}`);
      assert.equal(answer?.status(), 200);
      assert.deepEqual(await alone.evaluate('[window.hacked, self.origin]'), [undefined, 'null']);
      assert.deepEqual(faults, []);
    });
  } finally {
    await browser.close();
  }
});
