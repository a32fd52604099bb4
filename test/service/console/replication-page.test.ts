/** The Replication page during live replications: of a replica that `plat replicate --watch` fills, and of its source. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openStore } from '../../../src/open-store.ts';
import { place } from '../../cli/run.ts';
import { from, lineOf, makeMarket, openDoor, type Passage, serve } from '../../replica/support/real-feed.ts';
import { bareDatabase } from '../../support/postgres-engine.ts';
import { makeKey } from '../../support/service.ts';
import { axe, logIn, overhang, settled, startBrowser, watchedPage, withoutChromium } from './browser.ts';

const HOSTILE = '<img src=x onerror=alert(1)>';

const isFull = process.env.PLAT_FULL === '1';

/** Replicas on SQLite and, in the full test run, on PostgreSQL: name, reason to skip, and address for `--store`. */
const REPLICAS: readonly (readonly [string, string | false, (t: TestContext) => Promise<string>])[] = [
  ['SQLite', withoutChromium, async () => 'replica.db'],
  [
    'PostgreSQL',
    isFull ? withoutChromium : 'with PLAT_FULL=1',
    async (t) => {
      const { address, drop } = await bareDatabase();
      t.after(drop);
      return address;
    },
  ],
];

for (const [where, skip, makeReplica] of REPLICAS) {
  test(
    `${where}: the Replication page shows a replication live, its log, and retries records in quarantine`,
    { skip },
    async (t) => {
      const address = await makeReplica(t);
      const at = place(t);
      const market = await makeMarket(t, at.path('market.db'), 30);
      const feed = await serve(at, 'market.db');
      const door = await openDoor(t);
      door.target = feed.addresses.replication ?? '';
      const options = from(door.origin, 'reso', market.token, address);
      await at.done(['replicate', ...options, '--once']);
      const replica = await openStore(address.includes(':') ? address : at.path(address));
      const [removed = '', kept = ''] = await market.keys();
      await replica.checkpoints.commit('feed', {
        quarantine: [
          {
            resource: 'Property',
            key: kept,
            reason: `${HOSTILE} is no number`,
            payload: JSON.stringify({ ListingKey: kept, PublicRemarks: '<script>alert(1)</script>' }),
          },
        ],
      });
      const token = await makeKey(replica, 'admin');
      await replica.close();
      const served = await serve(at, address);
      const admin = served.addresses.admin ?? '';
      const browser = await startBrowser();
      try {
        const context = await browser.newContext({ reducedMotion: 'reduce' });
        const { page, faults } = await watchedPage(context, admin);
        let asked = 0;
        page.on('request', (request) => {
          if (new URL(request.url()).pathname === '/replication') asked++;
        });
        await logIn(page, admin, token, '/console/replication');
        await settled(page);
        const row = page
          .getByRole('table')
          .first()
          .getByRole('row', { name: /^Property/ });
        assert.match((await row.textContent()) ?? '', /idle30/);
        assert.equal(await row.locator('[aria-current=step]').textContent(), 'Current');
        await page.getByText(/No process is replicating it now/).waitFor();

        const entry = page.getByRole('listitem').filter({ hasText: HOSTILE });
        await entry.getByText('Received data').click();
        await entry.getByText('"PublicRemarks": "<script>alert(1)</script>"').waitFor();
        assert.deepEqual(await axe(page), []);

        // The watch is held back at its beginning, so that the page can show it.
        await market.store.remove('Property', [removed]);
        let release = (): void => undefined;
        const free = new Promise<void>((resolve) => {
          release = resolve;
        });
        let answered = 0;
        door.before = async () => {
          if (++answered === 2) return 'refuse';
          if (answered > 3) await free;
          return 'pass';
        };
        const watching = at.start([
          ...['replicate', ...options, '--watch', '--purge-every', '1s', '--purge-share', '100'],
          ...['--update-every', '1s', '--admin-port', '0'],
        ]);
        const purged = lineOf(
          watching,
          ({ kind, keys }) => kind === 'deleted' && String(keys).includes(removed),
        );
        await page.getByText(/Replicated now by/).waitFor();
        await entry.getByRole('button', { name: `Try again: Property ${kept}` }).click();
        await page.getByText('1 record will be requested with the next update.').waitFor();
        release();
        await purged;
        const purges = page.getByRole('region', { name: 'Purges of feed' });
        await purges.getByText(`Property ${removed}`).first().waitFor();
        // The purge reports what it removed at its end.
        await purges
          .getByText(/removed 1 record/)
          .first()
          .waitFor();
        const troubles = page.getByRole('region', { name: 'Errors and retries' });
        await troubles.getByText('Request failed and was retried').first().waitFor();
        await page
          .getByText(/^The same as a table: \d+ entries$/)
          .first()
          .click();
        const table = page.getByRole('region', { name: 'Windows, purges and trouble of feed, as a table' });
        await table.getByText('Property purges').first().waitFor();

        // The watch requests the record and stores it.
        await page.getByText('All received records could be stored.').waitFor();
        await page.setViewportSize({ width: 320, height: 640 });
        assert.equal(await overhang(page), 0);
        assert.deepEqual(faults, []);

        watching.child.kill('SIGTERM');
        await watching.ended;
        await page.getByText(/No process is replicating it now/).waitFor();
        // The updates came through the stream; the page sends requests only at first and after a retry.
        assert.ok(asked <= 3, `the page sent ${asked} requests`);

        // The source shows the walks of the watch's key.
        const authority = await makeKey(market.store, 'admin');
        const own = await watchedPage(
          await browser.newContext({ reducedMotion: 'reduce' }),
          feed.addresses.admin ?? '',
        );
        await logIn(own.page, feed.addresses.admin ?? '', authority, '/console/replication');
        await settled(own.page);
        await own.page.getByText(/^The same as a table: \d+ entries$/).click();
        const walks = own.page.getByRole('region', { name: /^Windows and walks of each key/ });
        for (const what of ['all of Property', 'the keys of Property'])
          await walks.getByText(what, { exact: true }).first().waitFor();
        await walks
          .getByText(/^changes of Property from /)
          .first()
          .waitFor();
        assert.deepEqual([...(await axe(own.page)), ...own.faults], []);
      } finally {
        await browser.close();
      }
    },
  );

  test(
    `${where}: the Replication page shows the progress of a slow download and its remaining time`,
    { skip: isFull ? skip : 'with PLAT_FULL=1' },
    async (t) => {
      const address = await makeReplica(t);
      const at = place(t);
      const market = await makeMarket(t, at.path('market.db'), 120);
      const feed = await serve(at, 'market.db');
      const door = await openDoor(t);
      door.target = feed.addresses.replication ?? '';
      const options = from(door.origin, 'reso', market.token, address);
      // After the first page, each page passes only when the test lets it, as from a slow source.
      const { promise: held, resolve: isHeld } = Promise.withResolvers<void>();
      let pass = (): void => undefined;
      door.before = async (_count, path) => {
        if (!/Property\?.*expand.*skiptoken/.test(path)) return 'pass';
        const { promise, resolve } = Promise.withResolvers<Passage>();
        pass = () => resolve('pass');
        isHeld();
        return promise;
      };
      const running = at.start(['replicate', ...options, '--once', '--page-size', '10']);
      await held;
      const replica = await openStore(address.includes(':') ? address : at.path(address));
      const token = await makeKey(replica, 'admin');
      await replica.close();
      const served = await serve(at, address);
      const admin = served.addresses.admin ?? '';
      const browser = await startBrowser();
      try {
        const context = await browser.newContext({ reducedMotion: 'reduce' });
        const { page, faults } = await watchedPage(context, admin);
        await logIn(page, admin, token, '/console/replication');
        await settled(page);
        const row = page
          .getByRole('table')
          .first()
          .getByRole('row', { name: /^Property/ });
        assert.equal(await row.locator('[aria-current=step]').textContent(), 'Downloading');
        const progress = row.locator('.progress');
        const bar = row.getByRole('progressbar');
        const done = async () => Number(await bar.getAttribute('value'));
        assert.equal(await bar.getAttribute('max'), '120');
        const before = await done();
        assert.ok(before > 0 && before < 120, String(before));
        pass();
        await progress.getByText(/^\d+ of 120, [\d.,]+ a second, .+ left$/).waitFor();
        await row.locator(`progress:not([value="${before}"])`).waitFor();
        assert.ok((await done()) > before);
        assert.deepEqual([...(await axe(page)), ...faults], []);
        door.before = () => 'pass';
        pass();
        const { code, err } = await running.ended;
        assert.equal(code, 0, err);
        await row.getByText('idle').waitFor();
        assert.equal(await row.locator('[aria-current=step]').textContent(), 'Current');
      } finally {
        await browser.close();
      }
    },
  );
}
