/** Changed bytes of a text in the file: a response that detects them is a 503, and the store is no longer ready. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { listing } from '../../support/builders.ts';
import type { Scope } from '../../support/engine.ts';
import { startTestService } from '../../support/service.ts';
import { sqliteEngine } from '../../support/sqlite-engine.ts';

const remarks = (index: number): string => `granite-${String(index).padStart(2, '0')} ${'x'.repeat(500)}`;
const keys = Array.from({ length: 60 }, (_, index) => `K${String(index).padStart(2, '0')}`);

/** Serves 60 listings; the text of K07 has been changed. @param by an SQL expression of the text */
async function serveDamaged(
  scope: Scope,
  readers: Parameters<typeof sqliteEngine>[0],
  given: string,
  by: string,
) {
  const lines: string[] = [];
  const service = await startTestService(scope, {
    engine: sqliteEngine(readers),
    service: { log: pino({ level: 'info' }, { write: (line: string) => void lines.push(line) }) },
    fill: async ({ write, damage }) => {
      const records = keys.map((key, index) => listing(key, { PublicRemarks: remarks(index) }));
      await write('Property', ...records);
      await damage(
        `UPDATE property_texts SET idx_values = replace(idx_values, '${given}', ${by}) WHERE _key = 'K07'`,
      );
    },
  });
  const token = await service.key('replication');
  return {
    ...service,
    ask: (query: string) => service.get('replication', `/Reso/OData/${query}`, { token }),
    askNative: (query: string) => service.get('replication', `/v1/${query}`, { token }),
    warnings: () =>
      lines.filter((line) => JSON.parse(line).level === 40).map((line) => JSON.parse(line).err.message),
    ready: () => service.get('admin', '/ready'),
  };
}

const THREADS = { pageReaders: 1, searchReaders: 1 };

for (const [where, readers] of [
  ['on the calling thread', {}],
  ['on a reader thread', THREADS],
] as const) {
  test(`a page with a byte that is not valid UTF-8 is not sent, ${where}`, async (t) => {
    for (const by of ["CAST(x'67ff' AS TEXT)", "CAST(x'6700' AS TEXT)"]) {
      const { ask, ready } = await serveDamaged(t, readers, 'gr', by);
      assert.equal((await ready()).status, 200);
      assert.equal((await ask('Property?$skiptoken=K07')).status, 200);
      const { status, text } = await ask('Property');
      assert.equal(status, 503, text.slice(0, 200));
      assert.doesNotMatch(text, /granite|\.db|at \w+ \(/);
      assert.equal((await ready()).status, 503);
      assert.equal((await ask("Property?$filter=contains(PublicRemarks,'xxx')")).status, 503);
    }
  });

  test(`a record that is no longer valid JSON is not sent, ${where}`, async (t) => {
    const { ask, ready, warnings } = await serveDamaged(t, readers, 'x"', "'xq'");
    const { status, json } = await ask("Property('K07')");
    assert.deepEqual([status, Object.keys(json)], [503, ['error']]);
    assert.equal((await ask('Property?$top=3&$skiptoken=K05')).status, 503);
    assert.equal((await ask("Property('K08')")).status, 200);
    assert.equal((await ready()).status, 503);
    assert.equal(warnings().length, 1, 'every request fails, and the log has one line');
    assert.match(
      warnings()[0] ?? '',
      /is damaged: one of its texts is not valid JSON, in or after the record whose ListingKey is K07;?/,
    );
  });

  test(`a large page that is not valid JSON is not sent over either interface, ${where}`, async (t) => {
    const { ask, askNative, ready } = await serveDamaged(t, readers, 'x"', "'xq'");
    for (const large of [await ask('Property'), await askNative('listings?_limit=1000')]) {
      assert.equal(large.status, 503, large.text.slice(0, 200));
    }
    assert.equal((await ask("Property?$filter=ListingKey ne 'none'&$expand=Media")).status, 503);
    assert.equal((await ask('Property?$orderby=City')).status, 503);
    assert.equal((await ask('Property?$skiptoken=K07')).status, 200);
    assert.equal((await ready()).status, 503);
  });

  test(`a large page that was sent before is not sent once it is damaged, ${where}`, async (t) => {
    const { ask, damage } = await serveDamaged(t, readers, 'gr', "'gr'");
    // The same page under another URL each time: a response from a cache would not read the file.
    let limit = 500;
    const page = () => ask(`Property?$top=${++limit}`);
    const before = await page();
    assert.deepEqual([before.status, before.bytes.length > 16_384], [200, true]);
    assert.equal((await page()).text, before.text);
    // Of the same length: a quote is replaced by another character.
    await damage(`UPDATE property_texts SET idx_values = replace(idx_values, 'x"', 'xq') WHERE _key = 'K31'`);
    assert.equal((await page()).status, 503);
    await damage(`UPDATE property_texts SET idx_values = replace(idx_values, 'xq', 'x"') WHERE _key = 'K31'`);
    assert.equal((await page()).text, before.text);
  });
}
